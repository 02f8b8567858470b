"""The card game Mille Bornes and a cycling race as fast, vectorised environments for machine learning.

* `vector_env` creates N games that are stepped together.
* `millebornes_v0.env` is one game as a PettingZoo AEC environment, after this import also
  `pettingzoo.make("aec", "millebornes/millebornes-v0")`.
* `gymnasium.make("millebornes_env:millebornes/MilleBornes-v0", opponent="greedy")` is one learner against
  agents.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a checkout has no pip that would say so
    raise ImportError(f"millebornes_env needs Python 3.11 or newer, and this is {sys.version.split()[0]}")

try:
    import numba  # noqa: F401
except ImportError as _error:
    raise ImportError(
        f"millebornes_env needs Numba, which cannot be imported ({_error}): pip install numba. If there is "
        "none for your platform or version of Python, another version of Python may have one: "
        "https://numba.readthedocs.io/en/stable/user/installing.html"
    ) from _error

import gymnasium
import pettingzoo

from millebornes_env import millebornes_v0, wielerspel_v0
from millebornes_env._util.plugins import AGENT_MODULES
from millebornes_env._util.versions import __version__
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.games.millebornes.actions import action_name
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.registry import edition, editions, mini_decks, register_game
from millebornes_env.games.variants import Split, split

# Modules of higher layers that `millebornes_env.agents` imports to register their agents.
AGENT_MODULES.extend(["millebornes_env.solving.equilibrium.agent", "millebornes_env.play.terminal.cards"])

for _id, _module in (("millebornes-v0", "millebornes_v0"), ("wielerspel-v0", "wielerspel_v0")):
    if f"millebornes/{_id}" not in pettingzoo.aec_registry:  # reloading this module would warn
        pettingzoo.register("aec", f"millebornes/{_id}", entry_point=f"millebornes_env.{_module}:env")

_options: dict[str, object]
for _id, _options in (("MilleBornes-v0", {}), ("Wielerspel-v0", {"edition": "arc_en_ciel", "players": 4})):
    if f"millebornes/{_id}" not in gymnasium.registry:
        gymnasium.register(
            f"millebornes/{_id}",
            entry_point="millebornes_env.envs.single_agent.env:SingleAgentEnv",
            vector_entry_point="millebornes_env.envs.single_agent.vector:SingleAgentVectorEnv",
            kwargs=_options,
        )

__all__ = [
    "Card",
    "Edition",
    "Rules",
    "Split",
    "VectorEnv",
    "__version__",
    "action_name",
    "edition",
    "editions",
    "millebornes_v0",
    "mini_decks",
    "register_game",
    "split",
    "vector_env",
    "wielerspel_v0",
]
