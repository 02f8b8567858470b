"""Hooks of Mille Bornes in `games` (`games.registry.HOOKS`)."""

from millebornes_env.games.millebornes import chance_nodes, history
from millebornes_env.games.millebornes.audit import first_violation as audit
from millebornes_env.games.millebornes.replay import play_until_refused
from millebornes_env.games.millebornes.variants import SPLITS as variants  # noqa: N811 - the name of the hook

__all__ = ["audit", "chance_nodes", "history", "play_until_refused", "variants"]
