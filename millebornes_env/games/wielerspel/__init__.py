"""The rulebook of "Maillot Arc-en-ciel", a cycling race for teams: energy, servants, escapes and jerseys.

Scalar functions over one record of state, without batches, dictionaries and terms of reinforcement learning
(except in `observation.py` and `rulebook.py`, for the engine). A chapter of the rules is a module; `can_x`
returns whether the rules allow x, `play_x` does it. `turn.py` is the table of contents. `003:109` is line 109
of the rule text, `W7` a ruling of docs/rules/rulings.md.
"""
