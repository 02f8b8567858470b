"""Two-player games that are small enough to be solved exactly: the mini decks.

A node of the walk is (public history, hand of seat 0, hand of seat 1); chance nodes range over the types of
the unseen cards. The order of a seat's own draws is dropped: the deck is exchangeable, so the hand and the
public history say as much about the other hand and the cards to come. `walk` applies the rulebook to a record
of the public state, both for legal actions and for transitions.

    report.py     `exploitability`: any policy evaluated in one call; minis.py: on 1,000 sheets
    deck.py       tables that can be solved, and their deck data
    walk.py       the compiled walk: decisions, draws and ends, as flat arrays (nodes.py: its data)
    tree.py       trees built from those arrays: the whole tree, or a trunk and its branches
    values.py     expected values, best responses, NashConv (passes.py: the compiled passes over a tree)
    recall.py     the same for policies with memory
    cfr.py        CFR+: the value of the game and a policy; cfr_in_parts.py: for a trunk and branches;
                  mccfr.py: from sampled rounds; pruning.py: without choices hardly taken;
                  checkpoints.py: resumable runs
    policies.py   policies as tables, functions and files; as_policy.py: those of users
    equilibrium/  computed equilibria of the mini decks, and the agent that plays them
    extensive/    a round as a tree for other solvers; openspiel.py: as an OpenSpiel game
"""

from __future__ import annotations

from typing import Any

__all__ = ["ExploitabilityCurve", "exploitability"]


def __getattr__(name: str) -> Any:
    """Import the entry points when they are first used: the rooms below need only parts of this one."""
    if name in __all__:
        from millebornes_env.solving import report  # noqa: PLC0415

        return getattr(report, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
