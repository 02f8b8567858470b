"""Freshly dealt games of a `MatchConfig`, and the rules, settings and kernels to play them.

Each deal is played once per rotation of the agents over the seats.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.batch import Batch
from millebornes_env.arena.kernels import ArenaKernels, arena_kernels_of, new_batch
from millebornes_env.arena.luck.value_network import ValueNetwork
from millebornes_env.arena.match_config import MatchConfig
from millebornes_env.engine.kernels import DISABLED, Settings, kernels_of, key_of_seed
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules


def settings_of(config: MatchConfig) -> Settings:
    """Return the engine's settings."""
    game, rulebook = config.game, config.game.module()
    spec = game.observation_spec()
    return Settings(rulebook.EPISODES.index(config.episode), 0, DISABLED, spec, 0)


def loops_of(config: MatchConfig) -> ArenaKernels:
    """Return the arena's kernels; those that measure luck are compiled only if needed."""
    return arena_kernels_of(config.game, aivat=config.aivat)


def compiled_rules(config: MatchConfig) -> TableRules:
    """Return the rules as a record for kernels."""
    record: TableRules = for_kernels(config.game.module().rules_array(config.rules))[0]
    return record


def dealt_batch(
    config: MatchConfig, first_deal: int, num_deals: int, network: ValueNetwork | None = None
) -> Batch:
    """Return the games of some deals, ready to begin: game r * B + b is rotation r of deal b.

    Args:
        config: the table.
        first_deal: number of the first deal.
        num_deals: number of deals, B.
        network: value network for AIVAT; None: the configured one, if any.

    Raises:
        ArenaError: the configured network does not exist.
    """
    network = config.network() if network is None else network
    rules, game = config.rules, config.game
    rulebook, teams = game.module(), rules.teams
    states = _new_states(rulebook, num_deals * teams)
    seed, seed_games = key_of_seed(config.seed), kernels_of(rulebook).seed_games
    if config.plain:
        numbered = _new_states(rulebook, num_deals * teams)
        seed_games(numbered, first_deal * teams, *seed)
        states[:] = numbered.reshape(num_deals, teams).T.reshape(-1)
    else:
        seed_games(states[:num_deals], first_deal, *seed)
        states[:] = np.tile(states[:num_deals], teams)
    batch = new_batch(game, rules, states, _new_states(rulebook, 1), network)
    batch.role_of[:] = role_of_teams(teams, num_deals)
    return batch


def _new_states(rulebook: Rulebook, count: int) -> StateArray:
    return for_kernels(np.zeros(count, rulebook.STATE).view(np.recarray))


def role_of_teams(teams: int, deals: int) -> npt.NDArray[np.int8]:
    """Return the role of each team as int8[T * B, T]: in rotation r, role i sits in team (i + r) % T."""
    rotation = np.repeat(np.arange(teams), deals)[:, np.newaxis]
    return ((np.arange(teams)[np.newaxis] - rotation) % teams).astype(np.int8)
