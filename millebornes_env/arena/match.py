"""`play`: a match between agents of any kind at one table, with every deal in all rotations.

Evaluations, tournaments and the evaluations of training runs all use it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import MOST_STEPS, at_least_one
from millebornes_env.agents import Spec, make
from millebornes_env.agents.protocol import Agent, is_compiled
from millebornes_env.arena.batch import NO_ROLE, Batch, roles_of
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, loops_of, settings_of
from millebornes_env.arena.faults import illegal_action
from millebornes_env.arena.kernels import counts_of_game
from millebornes_env.arena.match_config import MatchConfig
from millebornes_env.arena.outcome import Lineup, Outcome
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.engine.kernels import kernels_of
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games.variants import Split

__all__ = ["MatchConfig", "OnProgress", "agent_seed", "by_deal", "made_for", "play", "play_batch"]

SECONDS_BETWEEN_REPORTS: Final = 0.1
FEWEST_DEALS_OF_A_THREAD: Final = 16

OnProgress = Callable[[float], None]
"""Callback with the number of episodes played, including fractions of running ones."""


def agent_seed(*words: int) -> int:
    """Return a seed for an agent's own random numbers, a hash of the words (such as seed and role)."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


def made_for(specs: Sequence[Spec], config: MatchConfig) -> list[Spec]:
    """Make agents to play several times at a table, each with random numbers for its role.

    Returns:
        The agents; for a split the specifications, whose agents `play` makes for each sheet.

    Raises:
        ValueError: there is no such table or agent; the message says which.
    """
    table = config.table()
    made: list[Spec] = [make(spec, table, agent_seed(config.seed, role)) for role, spec in enumerate(specs)]
    return list(specs) if table.varies else made


def play(
    agents: Sequence[Spec],
    config: MatchConfig,
    deals: int,
    *,
    first_deal: int = 0,
    lineup: Lineup | None = None,
    batch_size: int | None = None,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Play deals, each once from every team's place with the same cards.

    Args:
        agents: agents, or specifications for `agents.make`; an agent made here gets random numbers for its
            role and the first deal.
        config: the table.
        deals: number of deals, B.
        first_deal: number of the first deal; its cards are a function of the seed and of this number.
        lineup: number of the agent in each role; None: one role for each agent, and the last one has the
            remaining roles at a table of more teams.
        batch_size: most episodes played at the same time; None: all. Deals do not depend on it; the
            play of agents with random numbers of their own, and of search, may. A split ignores it.
        on_progress: called after every batch, and about ten times a second if play is slow.

    Returns:
        The outcome; it does not depend on the number of threads.

    Raises:
        ArenaError: no deals, or a lineup that does not fit the table.
        AgentFaultError: an agent raised, or chose an illegal action; the message says when.
        ValueError: there is no such table or agent; the message says which.
    """
    lineup = _checked_lineup(agents, config, deals, lineup, batch_size)
    teams = config.rules.teams
    if isinstance(config.sheets, Split):
        return _play_sheets(agents, config, config.sheets, (first_deal, deals), lineup, on_progress)
    roles = [
        make(agents[agent], config.table(), agent_seed(config.seed, role, first_deal))
        for role, agent in enumerate(lineup)
    ]
    deals_of_a_batch = deals if batch_size is None else batch_size // teams
    batches: list[Batch] = []
    for done in range(0, deals, deals_of_a_batch):

        def report(episodes: float, before: int = done * teams) -> None:
            if on_progress is not None:
                on_progress(before + episodes)

        count = min(deals_of_a_batch, deals - done)
        batches += play_batch(roles, config, first_deal + done, count, report)
        report(count * float(teams))
    return _outcome(lineup, batches, teams, config.game.name)


def _play_sheets(
    agents: Sequence[Spec],
    config: MatchConfig,
    sheets: Split,
    deals: tuple[int, int],
    lineup: Lineup,
    on_progress: OnProgress | None,
) -> Outcome:
    """Play deal d with sheet d of a split: deals are independent only if each has a sheet of its own.

    Args:
        agents: as in `play`.
        config: the table, whose edition is the split.
        sheets: the split; after its last sheet, the first is played again.
        deals: number of the first deal, and number of deals.
        lineup: as in `play`.
        on_progress: as in `play`.
    """
    outcomes: list[Outcome] = []
    for deal in range(deals[0], sum(deals)):
        one = replace(config, edition=sheets.sheet(deal % sheets.size).label)
        outcomes.append(play(agents, one, 1, first_deal=deal, lineup=lineup))
        if on_progress is not None:
            on_progress(float(len(outcomes) * config.rules.teams))
    return Outcome.joined(outcomes)


def _checked_lineup(
    agents: Sequence[Spec], config: MatchConfig, deals: int, lineup: Lineup | None, batch_size: int | None
) -> Lineup:
    """Return the lineup, by default all agents in order; raise an ArenaError for arguments that are wrong."""
    if isinstance(agents, str):
        raise ArenaError(f"agents is {shown(agents)}; give a list: [{shown(agents)}]")
    if not isinstance(config, MatchConfig):
        raise ArenaError(f"config is {shown(config)}; give a MatchConfig, such as MatchConfig('parker')")
    at_least_one("deals", deals, MOST_STEPS, ArenaError)
    if not agents:
        raise ArenaError("there are no agents: give one or more")
    teams = config.rules.teams
    if lineup is None:
        lineup = tuple(min(role, len(agents) - 1) for role in range(max(teams, len(agents))))
    if len(lineup) != teams or not all(0 <= agent < len(agents) for agent in lineup):
        raise ArenaError(
            f"the lineup {lineup} of {len(agents)} agents does not fit the table: it must hold the number "
            f"of an agent for each of {teams} teams"
        )
    if batch_size is not None and batch_size < teams:
        raise ArenaError(f"batch_size is {batch_size}; it must be {teams} (the teams) or more")
    return lineup


def play_batch(
    roles: Sequence[Agent], config: MatchConfig, first_deal: int, num_deals: int, on_progress: OnProgress
) -> list[Batch]:
    """Play some deals in all rotations at the same time.

    Args:
        roles: T agents; one may have several roles.
        config: the table.
        first_deal: number of the first deal.
        num_deals: number of deals.
        on_progress: as in `play`.

    Returns:
        The games in batches of consecutive deals, each in the order of `dealt_batch`.

    Raises:
        AgentFaultError: as in `play`.
    """
    shares = [(first_deal, num_deals)]
    if all(is_compiled(agent) for agent in roles):
        for agent in filter(is_compiled, roles):
            _ = agent.address  # compile before the threads start, which would do it twice
        _ = kernels_of(config.game.module()), loops_of(config)  # for the same reason
        shares = _shares(first_deal, num_deals, config.threads)
        with ThreadPoolExecutor(len(shares)) as pool:
            batches = list(pool.map(lambda share: _play_compiled(roles, config, *share), shares))
    else:
        batches = [_play_any(roles, config, first_deal, num_deals, on_progress)]
    for batch, (first, _) in zip(batches, shares, strict=True):
        _refuse_faults(batch, roles, config, first)
    return batches


def _shares(first_deal: int, num_deals: int, threads: int) -> list[tuple[int, int]]:
    """Return the first deal and the number of deals of each thread."""
    threads = max(1, min(threads, num_deals // FEWEST_DEALS_OF_A_THREAD))
    ends = [first_deal + thread * num_deals // threads for thread in range(threads + 1)]
    return [(first, last - first) for first, last in pairwise(ends)]


def _play_compiled(roles: Sequence[Agent], config: MatchConfig, first_deal: int, num_deals: int) -> Batch:
    """Play with compiled agents only, at full speed."""
    compiled = roles_of([agent for agent in roles if is_compiled(agent)])
    batch = dealt_batch(config, first_deal, num_deals)
    loops_of(config).play_games(batch, compiled_rules(config), settings_of(config), compiled)
    return batch


def _play_any(
    roles: Sequence[Agent],
    config: MatchConfig,
    first_deal: int,
    num_deals: int,
    on_progress: OnProgress,
) -> Batch:
    """Play with agents of any kind, one decision of all games at a time."""
    batch = dealt_batch(config, first_deal, num_deals)
    games = SteppedGames(batch, roles, config, first_deal=first_deal)
    games.begin()
    left, next_report = len(batch.states), 0.0
    while left:
        games.choose()
        left = games.apply_actions()
        if time.perf_counter() > next_report:
            running = counts_of_game(config.game).part_played(batch.points[batch.live], config.rules)
            on_progress(float((~batch.live).sum() + running.sum()))
            next_report = time.perf_counter() + SECONDS_BETWEEN_REPORTS
    return batch


def _refuse_faults(batch: Batch, roles: Sequence[Agent], config: MatchConfig, first_deal: int) -> None:
    """Raise the fault of the first deal that has one, so that threads do not matter."""
    faulty = np.flatnonzero(batch.faults[:, 0] != NO_ROLE)
    if len(faulty):
        deals = len(batch.states) // config.rules.teams
        first = min(faulty.tolist(), key=lambda game: (game % deals, game))
        raise illegal_action(roles, batch, first, config.table(), first_deal)


def by_deal(batches: Sequence[Batch], name: str, teams: int) -> npt.NDArray[Any]:
    """Return a field of all batches deal by deal, [B, R, ...] from [G, ...].

    Args:
        batches: batches from `play_batch`.
        name: name of a field of `Batch` with G rows.
        teams: T, the number of rotations of a deal.
    """
    parts = [getattr(batch, name) for batch in batches]
    parts = [part.reshape(teams, len(part) // teams, *part.shape[1:]) for part in parts]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).swapaxes(0, 1))


def _outcome(lineup: Lineup, batches: Sequence[Batch], teams: int, game: str) -> Outcome:
    """Collect the results of all batches."""
    return Outcome(
        lineup=lineup,
        points=by_deal(batches, "points", teams),
        wins=by_deal(batches, "shares", teams),
        rounds=by_deal(batches, "rounds", teams),
        decisions=by_deal(batches, "steps", teams).astype(np.int32),
        first=by_deal(batches, "first", teams),
        counters=np.sum([batch.counters for batch in batches], axis=0),
        luck=by_deal(batches, "luck", teams) if len(batches[0].luck) else None,
        faults=(),
        game=game,
    )
