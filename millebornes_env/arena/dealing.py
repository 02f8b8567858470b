"""Games of a configuration, dealt and ready to begin, and what plays them: rules, settings and loops."""

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
    """What the engine is told."""
    game, rulebook = config.game, config.game.module()
    spec = game.observation_spec()
    return Settings(rulebook.EPISODES.index(config.episode), 0, DISABLED, spec, 0)


def loops_of(config: MatchConfig) -> ArenaKernels:
    """The loops over games; those that value luck are others, which nobody compiles who does not."""
    return arena_kernels_of(config.game, aivat=config.aivat)


def compiled_rules(config: MatchConfig) -> TableRules:
    """The record of the table's rules, as kernels take it."""
    record: TableRules = for_kernels(config.game.module().rules_array(config.rules))[0]
    return record


def dealt_batch(
    config: MatchConfig, first_deal: int, num_deals: int, network: ValueNetwork | None = None
) -> Batch:
    """The games of some deals, ready to begin: game r * B + b is rotation r of deal b.

    Args:
        config: the table.
        first_deal: number of the first deal.
        num_deals: B.
        network: what luck is valued by; None: that of the configuration.

    Raises:
        ArenaError: there is no network.
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
    """The role that plays each team, for every rotation of every deal.

    In rotation r, role i sits in team (i + r) % teams.

    Args:
        teams: T, and as many rotations.
        deals: B.

    Returns:
        int8[T * B, T]; game r * B + b is rotation r of deal b.
    """
    rotation = np.repeat(np.arange(teams), deals)[:, np.newaxis]
    return ((np.arange(teams)[np.newaxis] - rotation) % teams).astype(np.int8)
