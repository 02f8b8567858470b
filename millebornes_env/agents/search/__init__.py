"""`search`, and `+search` behind another agent: what each play brings, found out by playing on.

    agent.py         the agent; over.py: `X+search`, with the options that suit X; kernels.py: the playouts
    hidden_cards.py  what the seat does not see: redeals
    beliefs.py       hands that the others may hold, as often as they are probable; hand_network.py: by a
                     network (hand_inputs.py, hand_files.py)
    history.py       the others' plays, from a seat's observations; seen_plays.py: from a game's record

docs/agents/agents.md describes the options.
"""
