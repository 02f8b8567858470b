"""Two-player games that are small enough to be solved exactly: the mini decks.

A game is walked over (public history, hand of seat 0, hand of seat 1), with chance over the types of the
unseen cards. Own earlier draws are forgotten: the deck is exchangeable, so the hand and the public history
say as much about the other hand and the cards to come. Rules are the rulebook's: `walk` asks it what is legal
and lets it carry out each play, on a record that holds what is public.

    deck.py      a table that can be solved, and its numbers
    walk.py      the compiled walk: decisions, draws and ends, as flat arrays
    tree.py      those arrays: the whole tree, or a trunk and the branches on it
    values.py    expected values, best responses, NashConv
    cfr.py       CFR+: the value of the game and a policy for it; cfr_in_parts.py: of a game kept as a trunk
                 and branches; checkpoints.py: runs that go on
    policies.py  policies as tables, and as files
"""
