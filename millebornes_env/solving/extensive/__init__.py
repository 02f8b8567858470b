"""A round as a tree, as solvers want it: decisions, chance, payoffs, information states.

`Tree` is the game in extensive form; `export` writes it as text for other solvers, `resample` draws games
that a seat could as well be in. `millebornes_env.solving.openspiel` is the same tree as OpenSpiel's game.
"""

from __future__ import annotations

from millebornes_env.solving.extensive.resample import resample
from millebornes_env.solving.extensive.tree import Node, Tree

__all__ = ["Node", "Tree", "resample"]
