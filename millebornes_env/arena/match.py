"""One lineup at one table: deals played in all rotations, by compiled agents or by any others."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env import Rules, agents, vector_env
from millebornes_env.agents import Spec
from millebornes_env.agents.compiled.agent import MAX_OPTIONS, is_compiled
from millebornes_env.agents.protocol import Agent, Table
from millebornes_env.arena.faults import asked, illegal_action, raised, rows_of
from millebornes_env.arena.kernels import (
    MOST_ROLES,
    NO_ROLE,
    Batch,
    Roles,
    Rows,
    begin_games,
    carry_out_all,
    choose_for_role,
    new_batch,
    play_games,
    write_rows,
)
from millebornes_env.arena.lineups import role_of_teams
from millebornes_env.arena.luck import LUCK_FEATURES
from millebornes_env.arena.outcomes import Outcome
from millebornes_env.compile import for_kernels
from millebornes_env.engine.kernels import DISABLED, Settings, kernels_of, key_of_seed
from millebornes_env.millebornes import rulebook
from millebornes_env.millebornes.rules import compiled_rules
from millebornes_env.millebornes.sections import DEFAULT_SPEC
from millebornes_env.millebornes.state import StateArray, new_states

SECONDS_BETWEEN_REPORTS: Final = 0.1
FEWEST_DEALS_OF_A_THREAD: Final = 16

OnProgress = Callable[[float], None]
"""Is told how many episodes have been played, with parts of those going on."""


@dataclass(frozen=True)
class MatchConfig:
    """What is played.

    Attributes:
        edition: name of the rule sheet, overrides included ("parker+max_200=4").
        players: seats at the table.
        teams: teams at the table; None: as usual for the sheet.
        episode: "match" or "round".
        seed: of the deals and of the agents; 0 to 2**64 - 1.
        plain: True: every rotation of a deal has cards of its own; False: the same cards in the same seats.
        luck: whether the luck of the draw is counted (a third slower).
        threads: of compiled play; they change no result.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = "match"
    seed: int = 1
    plain: bool = False
    luck: bool = False
    threads: int = 2

    @property
    def rules(self) -> Rules:
        """Of the table."""
        return self.table().rules

    def table(self) -> Table:
        """What agents are told of the table.

        Raises:
            ValueError: there is no such table; the message says what there is.
        """
        return _table(self.edition, self.players, self.teams)


@functools.cache
def _table(name: str, players: int, teams: int | None) -> Table:
    return Table.of(vector_env(1, name, players=players, teams=teams))


def load_role(spec: Spec, config: MatchConfig, role: int, first_deal: int = 0) -> Agent:
    """An agent for one role; its own random numbers are a function of seed, role and first deal."""
    return agents.make(spec, config.table(), agent_seed(config.seed, role, first_deal))


def agent_seed(*words: int) -> int:
    """A seed for an agent's own random numbers: another one for other words, such as seed and role."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


def play_deals(
    specs: Sequence[Spec],
    lineup: tuple[int, ...],
    config: MatchConfig,
    first_deal: int,
    num_deals: int,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Play some deals in all rotations.

    Args:
        specs: of the tournament's agents, as for `agents.load`.
        lineup: numbers of those that play, one for each team.
        config: the table.
        first_deal: number of the first deal; its cards are a function of the seed and of this number.
        num_deals: B.
        on_progress: called about ten times a second where the play is slow.

    Returns:
        What happened, the same for the same arguments whatever the number of threads.

    Raises:
        AgentFaultError: an agent raised, or chose what is illegal; the message says when.
    """
    roles = [load_role(specs[agent], config, role, first_deal) for role, agent in enumerate(lineup)]
    batches = play_roles(roles, config, first_deal, num_deals, on_progress)
    return _outcome(lineup, batches, config.rules.teams)


def play_roles(
    roles: Sequence[Agent],
    config: MatchConfig,
    first_deal: int,
    num_deals: int,
    on_progress: OnProgress | None = None,
) -> list[Batch]:
    """Play some deals in all rotations, with agents that are loaded.

    Args:
        roles: T agents; one may have several roles.
        config: the table.
        first_deal: number of the first deal.
        num_deals: how many.
        on_progress: as in `play_deals`.

    Returns:
        The games in batches of consecutive deals, each laid out as in `dealt_batch`.

    Raises:
        AgentFaultError: as in `play_deals`.
    """
    shares = [(first_deal, num_deals)]
    if all(is_compiled(agent) for agent in roles):
        for agent in filter(is_compiled, roles):
            _ = agent.address  # compiled here: threads would do it twice
        shares = _shares(first_deal, num_deals, config.threads)
        with ThreadPoolExecutor(len(shares)) as pool:
            batches = list(pool.map(lambda share: _play_compiled(roles, config, *share), shares))
    else:
        batches = [_play_any(roles, config, first_deal, num_deals, on_progress)]
    for batch, (first, _) in zip(batches, shares, strict=True):
        _refuse_faults(batch, roles, config, first)
    return batches


def _shares(first_deal: int, num_deals: int, threads: int) -> list[tuple[int, int]]:
    """First deal and number of deals of each thread."""
    threads = max(1, min(threads, num_deals // FEWEST_DEALS_OF_A_THREAD))
    ends = [first_deal + thread * num_deals // threads for thread in range(threads + 1)]
    return [(first, last - first) for first, last in pairwise(ends)]


def settings_of(config: MatchConfig) -> Settings:
    """What the engine is told."""
    return Settings(rulebook.EPISODES.index(config.episode), rulebook.POINTS, DISABLED, DEFAULT_SPEC, 0)


def dealt_batch(config: MatchConfig, first_deal: int, num_deals: int) -> Batch:
    """The games of some deals, ready to begin: game r * B + b is rotation r of deal b."""
    rules = config.rules
    teams = rules.teams
    states = for_kernels(new_states(num_deals * teams))
    seed, seed_games = key_of_seed(config.seed), kernels_of(rulebook).seed_games
    if config.plain:
        numbered = for_kernels(new_states(num_deals * teams))
        seed_games(numbered, first_deal * teams, *seed)
        states[:] = numbered.reshape(num_deals, teams).T.reshape(-1)
    else:
        seed_games(states[:num_deals], first_deal, *seed)
        states[:] = np.tile(states[:num_deals], teams)
    batch = new_batch(rules, states, for_kernels(new_states(1)), LUCK_FEATURES if config.luck else 0)
    batch.role_of[:] = role_of_teams(teams, num_deals)
    return batch


def _play_compiled(roles: Sequence[Agent], config: MatchConfig, first_deal: int, num_deals: int) -> Batch:
    """Play with compiled agents only, at full speed."""
    players = [agent for agent in roles if is_compiled(agent)]
    padded = [players[min(role, len(players) - 1)] for role in range(MOST_ROLES)]
    options = np.zeros((MOST_ROLES, MAX_OPTIONS), np.int64)
    for role, agent in enumerate(padded):
        options[role] = agent.options
    first, second, third, fourth = (agent.address for agent in padded)
    batch = dealt_batch(config, first_deal, num_deals)
    table = compiled_rules(config.rules)
    play_games(batch, table, settings_of(config), Roles((first, second, third, fourth), options))
    return batch


def _play_any(
    roles: Sequence[Agent],
    config: MatchConfig,
    first_deal: int,
    num_deals: int,
    on_progress: OnProgress | None,
) -> Batch:
    """Play with any agents, one decision of all games at a time."""
    batch = dealt_batch(config, first_deal, num_deals)
    table, settings = compiled_rules(config.rules), settings_of(config)
    begin_games(batch, table)
    for agent in roles:
        if hasattr(agent, "forget"):
            agent.forget()
    rows = _new_rows(len(batch.states), config.table())
    actions = np.zeros(len(batch.states), np.int64)
    left, next_report = len(batch.states), 0.0
    while left:
        for role, agent in enumerate(roles):
            if is_compiled(agent):
                choose_for_role(batch, table, agent.address, agent.options, role, actions)
                continue
            count = write_rows(batch, table, settings, role, rows)
            if count:
                shown = rows_of(rows, slice(count))
                actions[shown.games] = _asked(agent, batch.states, shown, config, first_deal)
        left = carry_out_all(batch, table, settings, actions)
        if on_progress is not None and time.perf_counter() > next_report:
            on_progress(_episodes_played(batch, config))
            next_report = time.perf_counter() + SECONDS_BETWEEN_REPORTS
    return batch


def _new_rows(games: int, table: Table) -> Rows:
    return Rows(
        np.zeros((games, table.sections[-1].stop), np.int8),
        np.zeros((games, table.num_actions), np.int8),
        np.zeros(games, np.int64),
        np.zeros(games, np.int64),
    )


def _asked(
    agent: Agent, states: StateArray, rows: Rows, config: MatchConfig, first_deal: int
) -> npt.NDArray[np.int64]:
    """What an agent chooses; what it raises is told with the game and the play.

    Raises:
        AgentFaultError: it raised, or returned something that is no action for each row.
    """
    try:
        return asked(agent, states, rows, config.players)
    except Exception as error:
        raise raised(agent, error, states, rows, config.rules, first_deal) from error


def _episodes_played(batch: Batch, config: MatchConfig) -> float:
    """Episodes that have ended, and of a match that goes on the part of the goal that its leader has."""
    episodes = float((~batch.live).sum())
    if config.episode == "match" and batch.live.any():
        leaders = batch.points[batch.live].max(axis=1)
        episodes += float(np.clip(leaders / config.rules.goal, 0.0, 0.99).sum())
    return episodes


def _refuse_faults(batch: Batch, roles: Sequence[Agent], config: MatchConfig, first_deal: int) -> None:
    """Report the fault in the first deal that has one, whatever thread played it."""
    faulty = np.flatnonzero(batch.faults[:, 0] != NO_ROLE)
    if len(faulty):
        deals = len(batch.states) // config.rules.teams
        first = min(faulty.tolist(), key=lambda game: (game % deals, game))
        raise illegal_action(roles, batch, first, config.rules, first_deal)


def by_deal(batches: Sequence[Batch], name: str, teams: int) -> npt.NDArray[Any]:
    """One array of all batches, deal by deal.

    Args:
        batches: from `play_roles`.
        name: of a field of `Batch` with G rows.
        teams: T, the rotations of a deal.

    Returns:
        [B, R, ...], from the field's [G, ...].
    """
    parts = [getattr(batch, name) for batch in batches]
    parts = [part.reshape(teams, len(part) // teams, *part.shape[1:]) for part in parts]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).swapaxes(0, 1))


def _outcome(lineup: tuple[int, ...], batches: Sequence[Batch], teams: int) -> Outcome:
    """All batches together."""
    luck = by_deal(batches, "luck", teams)
    return Outcome(
        lineup=lineup,
        points=by_deal(batches, "points", teams),
        wins=by_deal(batches, "shares", teams),
        rounds=by_deal(batches, "rounds", teams),
        first=by_deal(batches, "first", teams),
        tallies=np.sum([batch.tallies for batch in batches], axis=0),
        luck=np.ascontiguousarray(luck.swapaxes(2, 3)) if luck.shape[-1] else None,
        faults=(),
    )
