"""The rulebook of the card game Mille Bornes.

Scalar functions over one record of state, without batches, dictionaries and terms of reinforcement learning
(except in `observation.py` and `rulebook.py`, for the engine). A chapter of the rules is a module; `can_x`
returns whether the rules allow x, `play_x` does it. `turn.py` is the table of contents.
"""
