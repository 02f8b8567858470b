"""`play`: some agents at one table, every deal in all rotations, by compiled agents or by any others.

All that plays agents against each other comes through here: evaluations, tournaments, the gauntlet of a run.
"""

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

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents import Spec, make
from millebornes_env.agents.protocol import Agent, Table, forget, is_compiled
from millebornes_env.arena.batch import NO_ROLE, Batch
from millebornes_env.arena.faults import ask_about, illegal_action, rows_of
from millebornes_env.arena.kernels import ArenaKernels, Rows, arena_kernels_of, counts_of_game, new_batch
from millebornes_env.arena.outcome import Lineup, Outcome
from millebornes_env.arena.roles import Deciders, lookahead_of, roles_of, stand_in
from millebornes_env.arena.value_files import network_for
from millebornes_env.arena.value_network import ValueNetwork
from millebornes_env.compile import for_kernels
from millebornes_env.engine.kernels import DISABLED, Settings, kernels_of, key_of_seed
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.envs.options import USUAL, observation_spec
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games import Game, find_sheet
from millebornes_env.games import game as find_game

SECONDS_BETWEEN_REPORTS: Final = 0.1
FEWEST_DEALS_OF_A_THREAD: Final = 16

_TWO_TEAMS: Final = 2  # what one leads by, the other is behind

_TABLES: dict[tuple[str, int, int | None], tuple[Game, Table]] = {}
"""Those that were asked for, with the game that each is of."""

OnProgress = Callable[[float], None]
"""Is told how many episodes have been played, with parts of those going on."""


@dataclass(frozen=True)
class MatchConfig:
    """What is played: the table, the cards, and by how many threads.

    Attributes:
        edition: name of the rule sheet, overrides included ("parker+max_200=4").
        players: seats at the table.
        teams: teams at the table; None: as usual for the sheet.
        episode: one of the game's kinds of episodes, in Mille Bornes "match" or "round"; "usual": its
            longest.
        seed: of the deals and of the agents; 0 to 2**64 - 1.
        plain: True: every rotation of a deal has cards of its own; False: the same cards in the same seats.
        control_variate: whether the luck of the draw is counted, to take it off the points (a third slower).
        aivat: whether luck is valued by a network that sees all hands, to take it off the points
            (`arena.aivat`).
        luck_value: folder of that network; "": the one that comes with the project.
        aivat_lookahead: whether it also values what comes of the next decision, with every card that could
            have been drawn: far slower, but fewer deals are needed (two teams only).
        threads: of compiled play; they change no result.

    Raises:
        ArenaError: a value that cannot be. Whether there is such a table, `table` says.
        GamePartError: luck is to be counted or valued in a game that does not say how.
        UnknownEditionError: there is no such rule sheet.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = USUAL
    seed: int = 1
    plain: bool = False
    control_variate: bool = False
    threads: int = 2
    aivat: bool = False
    luck_value: str = ""
    aivat_lookahead: bool = False

    def __post_init__(self) -> None:
        longest_first = list(reversed(self.game.module().EPISODES))
        if self.episode == USUAL:
            object.__setattr__(self, "episode", longest_first[0])  # saved results name it
        if self.episode not in longest_first:
            listed = " or ".join(map(repr, longest_first))
            raise ArenaError(f"episode is {shown(self.episode)}; it must be {listed}")
        if self.control_variate:
            self.game.part("luck", "control_variate")
        if self.aivat:
            self.game.part("aivat", "aivat")
        if self.control_variate and self.aivat:
            raise ArenaError("control_variate and aivat both take luck off the points: choose one")
        if self.luck_value and not self.aivat:
            raise ArenaError(
                f"luck_value is {shown(self.luck_value)}, which only aivat asks: choose that too"
            )
        if self.aivat_lookahead and not self.aivat:
            raise ArenaError("aivat_lookahead says how aivat values luck: choose that too")
        if not 0 <= self.seed < 2**64:
            raise ArenaError(f"seed is {shown(self.seed)}; it must be from 0 to 2**64 - 1")
        if self.threads < 1:
            raise ArenaError(f"threads is {shown(self.threads)}; it must be 1 or more")

    @property
    def game(self) -> Game:
        """The game that the rule sheet is of, in the table of games."""
        return find_game(self._game_name)

    @functools.cached_property
    def _game_name(self) -> str:
        return find_sheet(self.edition).game

    @property
    def rules(self) -> Any:
        """Of the table, as the game's rulebook has them."""
        return self.table().rules

    @property
    def episodes(self) -> str:
        """What the episodes are called, in the plural."""
        return plural(self.episode)

    @property
    def has_points(self) -> bool:
        """Whether the game counts points at this table, which tell more than who has won."""
        return self.game.module().is_won_by_score(self.rules)

    @property
    def luck(self) -> str | None:
        """The part of the game that counts luck; None: it is not counted."""
        return "aivat" if self.aivat else "luck" if self.control_variate else None

    def network(self) -> ValueNetwork | None:
        """What luck is valued by, if it is.

        Raises:
            ArenaError: there is no such network, or none for this table; or the decision that follows a
                draw is to be valued where there are more than two teams.
            ValueError: there is no such table.
        """
        if self.aivat_lookahead and self.rules.teams > _TWO_TEAMS:
            raise ArenaError(
                f"aivat_lookahead is for two teams: with {self.rules.teams}, use aivat without it"
            )
        return network_for(self.game, self.rules, self.luck_value) if self.aivat else None

    def refuse_luck_without_points(self) -> None:
        """Refuse to take luck off points that the edition does not count.

        Raises:
            ArenaError: that was asked for.
        """
        if self.luck is not None and not self.has_points:
            raise ArenaError(f"luck is taken off the points, and {self.edition} counts none")

    def table(self) -> Table:
        """What agents are told of the table.

        Raises:
            ValueError: there is no such table; the message says what there is.
        """
        key = (self.edition, self.players, self.teams)
        game, table = _TABLES.get(key, (None, None))
        if table is None or game is not self.game:  # a game of the user's can be registered anew
            table = Table.of(vector_env(1, self.edition, players=self.players, teams=self.teams))
            _TABLES[key] = (self.game, table)
        return table

    def env(self) -> VectorEnv:
        """One game at the table, which stops after an episode.

        Raises:
            ValueError: as in `table`.
        """
        return vector_env(
            1,
            self.edition,
            players=self.players,
            teams=self.teams,
            episode=self.episode,
            autoreset_mode="disabled",
        )


def plural(episode: str) -> str:
    """A kind of episode in the plural, such as "matches" or "races"."""
    return f"{episode}{'es' if episode.endswith(('ch', 'sh', 's', 'x')) else 's'}"


def agent_seed(*words: int) -> int:
    """A seed for an agent's own random numbers: another one for other words, such as seed and role."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


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
        agents: who plays: agents, or what `agents.make` makes one of. One that is made gets random numbers of
            its own for its role and the first deal.
        config: the table.
        deals: B, how many.
        first_deal: number of the first; its cards are a function of the seed and of this number.
        lineup: which of the agents has which role; None: each has one in turn, and the last one has the roles
            that are left at a table of more teams.
        batch_size: episodes that are played at the same time, at most; None: all. It changes no deal.
        on_progress: called about ten times a second where the play is slow, and after every batch.

    Returns:
        What happened, the same for the same arguments whatever the number of threads.

    Raises:
        ArenaError: no deals, or a lineup that does not fit the table.
        AgentFaultError: an agent raised, or chose what is illegal; the message says when.
        ValueError: there is no such table or agent; the message says which.
    """
    teams = config.rules.teams
    if lineup is None:
        lineup = tuple(min(role, len(agents) - 1) for role in range(max(teams, len(agents))))
    _check(agents, lineup, teams, deals, batch_size)
    roles = [
        make(agents[agent], config.table(), agent_seed(config.seed, role, first_deal))
        for role, agent in enumerate(lineup)
    ]
    at_once = deals if batch_size is None else batch_size // teams
    batches: list[Batch] = []
    for done in range(0, deals, at_once):

        def report(episodes: float, before: int = done * teams) -> None:
            if on_progress is not None:
                on_progress(before + episodes)

        count = min(at_once, deals - done)
        batches += play_batch(roles, config, first_deal + done, count, report)
        report(count * float(teams))
    return _outcome(lineup, batches, teams, config.game.name)


def _check(agents: Sequence[Spec], lineup: Lineup, teams: int, deals: int, batch_size: int | None) -> None:
    """Refuse what cannot be played."""
    if deals < 1:
        raise ArenaError(f"deals is {deals}; it must be 1 or more")
    if not agents:
        raise ArenaError("there is nobody to play: give one agent or more")
    if len(lineup) != teams or not all(0 <= agent < len(agents) for agent in lineup):
        raise ArenaError(
            f"the lineup {lineup} of {len(agents)} agents does not fit the table: it must hold the number "
            f"of an agent for each of {teams} teams"
        )
    if batch_size is not None and batch_size < teams:
        raise ArenaError(f"batch_size is {batch_size}; it must be {teams} (the teams) or more")


def play_batch(
    roles: Sequence[Agent], config: MatchConfig, first_deal: int, num_deals: int, on_progress: OnProgress
) -> list[Batch]:
    """Play some deals in all rotations at the same time.

    Args:
        roles: T agents; one may have several roles.
        config: the table.
        first_deal: number of the first deal.
        num_deals: how many.
        on_progress: as in `play`.

    Returns:
        The games in batches of consecutive deals, each laid out as in `dealt_batch`.

    Raises:
        AgentFaultError: as in `play`.
    """
    shares, deciders = [(first_deal, num_deals)], deciders_of(roles, config)
    if all(is_compiled(agent) for agent in roles):
        for agent in filter(is_compiled, roles):
            _ = agent.address  # compiled here: threads would do it twice
        _ = kernels_of(config.game.module()), loops_of(config)  # made here for the same reason
        shares = _shares(first_deal, num_deals, config.threads)
        with ThreadPoolExecutor(len(shares)) as pool:
            batches = list(pool.map(lambda share: _play_compiled(roles, config, deciders, *share), shares))
    else:
        batches = [_play_any(roles, config, deciders, first_deal, num_deals, on_progress)]
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
    game, rulebook = config.game, config.game.module()
    spec = observation_spec(game, observe_unseen=True, observe_rules=False, padded=False)
    return Settings(rulebook.EPISODES.index(config.episode), 0, DISABLED, spec, 0)


def loops_of(config: MatchConfig) -> ArenaKernels:
    """The loops over games; those that value luck are others, which nobody compiles who does not."""
    return arena_kernels_of(config.game, "aivat") if config.aivat else arena_kernels_of(config.game)


def compiled_rules(config: MatchConfig) -> TableRules:
    """The record of the table's rules, as kernels take it."""
    record: TableRules = for_kernels(config.game.module().rules_array(config.rules))[0]
    return record


def deciders_of(roles: Sequence[Agent], config: MatchConfig) -> Deciders:
    """Who says what the roles would do, if that is asked: each of them compiled; () if not.

    Raises:
        ArenaError: it is asked at a table where it cannot be.
    """
    if not config.aivat_lookahead:
        return ()
    config.network()  # refuses a table where it cannot be
    found = [stand_in(agent, config.table()) for agent in roles]
    for agent in filter(None, found):
        _ = agent.address  # compiled here: threads would do it twice
    return found


def dealt_batch(
    config: MatchConfig,
    first_deal: int,
    num_deals: int,
    network: ValueNetwork | None = None,
    deciders: Deciders = (),
) -> Batch:
    """The games of some deals, ready to begin: game r * B + b is rotation r of deal b.

    Args:
        config: the table.
        first_deal: number of the first deal.
        num_deals: B.
        network: what luck is valued by; None: that of the configuration.
        deciders: by `deciders_of`; with `aivat_lookahead` they must be given.

    Raises:
        ArenaError: they are not, or there is no network.
    """
    if config.aivat_lookahead and not deciders:
        raise ArenaError("aivat_lookahead asks what the agents would do: give dealt_batch their deciders_of")
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
    ahead = lookahead_of(deciders, rules.players, _new_states(rulebook, 2)) if deciders else None
    batch = new_batch(game, rules, states, _new_states(rulebook, 1), config.luck, network, ahead)
    batch.role_of[:] = role_of_teams(teams, num_deals)
    return batch


def _new_states(rulebook: Rulebook, count: int) -> StateArray:
    return for_kernels(np.zeros(count, rulebook.STATE).view(np.recarray))


def _play_compiled(
    roles: Sequence[Agent], config: MatchConfig, deciders: Deciders, first_deal: int, num_deals: int
) -> Batch:
    """Play with compiled agents only, at full speed."""
    who = roles_of([agent for agent in roles if is_compiled(agent)])
    batch = dealt_batch(config, first_deal, num_deals, deciders=deciders)
    loops_of(config).play_games(batch, compiled_rules(config), settings_of(config), who)
    return batch


def _play_any(
    roles: Sequence[Agent],
    config: MatchConfig,
    deciders: Deciders,
    first_deal: int,
    num_deals: int,
    on_progress: OnProgress,
) -> Batch:
    """Play with any agents, one decision of all games at a time."""
    batch = dealt_batch(config, first_deal, num_deals, deciders=deciders)
    table, settings, kernels = compiled_rules(config), settings_of(config), loops_of(config)
    kernels.begin_games(batch, table)
    for agent in roles:
        forget(agent)
    rows = _new_rows(len(batch.states), config.table())
    actions = np.zeros(len(batch.states), np.int64)
    left, next_report = len(batch.states), 0.0
    while left:
        for role, agent in enumerate(roles):
            if is_compiled(agent):
                kernels.choose_for_role(batch, table, agent.address, agent.options, role, actions)
                continue
            count = kernels.write_rows(batch, table, settings, role, rows)
            if count:
                shown = rows_of(rows, slice(count))
                actions[shown.games] = ask_about(agent, batch, shown, config.rules, first_deal)
        left = kernels.carry_out_all(batch, table, settings, actions)
        if time.perf_counter() > next_report:
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


def _episodes_played(batch: Batch, config: MatchConfig) -> float:
    """Episodes that have ended, and the parts of those that go on."""
    going_on = counts_of_game(config.game).part_played(batch.points[batch.live], config.rules)
    return float((~batch.live).sum() + going_on.sum())


def _refuse_faults(batch: Batch, roles: Sequence[Agent], config: MatchConfig, first_deal: int) -> None:
    """Report the fault in the first deal that has one, whatever thread played it."""
    faulty = np.flatnonzero(batch.faults[:, 0] != NO_ROLE)
    if len(faulty):
        deals = len(batch.states) // config.rules.teams
        first = min(faulty.tolist(), key=lambda game: (game % deals, game))
        raise illegal_action(roles, batch, first, config.table(), first_deal)


def by_deal(batches: Sequence[Batch], name: str, teams: int) -> npt.NDArray[Any]:
    """One array of all batches, deal by deal.

    Args:
        batches: from `play_batch`.
        name: of a field of `Batch` with G rows.
        teams: T, the rotations of a deal.

    Returns:
        [B, R, ...], from the field's [G, ...].
    """
    parts = [getattr(batch, name) for batch in batches]
    parts = [part.reshape(teams, len(part) // teams, *part.shape[1:]) for part in parts]
    return np.ascontiguousarray(np.concatenate(parts, axis=1).swapaxes(0, 1))


def _outcome(lineup: Lineup, batches: Sequence[Batch], teams: int, game: str) -> Outcome:
    """All batches together."""
    variates = by_deal(batches, "variates", teams)
    return Outcome(
        lineup=lineup,
        points=by_deal(batches, "points", teams),
        wins=by_deal(batches, "shares", teams),
        rounds=by_deal(batches, "rounds", teams),
        decisions=by_deal(batches, "steps", teams).astype(np.int32),
        first=by_deal(batches, "first", teams),
        counters=np.sum([batch.counters for batch in batches], axis=0),
        variates=np.ascontiguousarray(variates.swapaxes(2, 3)) if variates.shape[-1] else None,
        faults=(),
        game=game,
    )


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
