"""A match is fair, the same however it is computed, and true to the games; what agents do wrong is told."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.arena import dealing
from millebornes_env.arena.cluster.match import Player, play_share
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, role_of_teams
from millebornes_env.arena.kernels import ArenaKernels, arena_kernels_of
from millebornes_env.arena.match import MatchConfig, agent_seed, by_deal, play, play_batch
from millebornes_env.arena.millebornes.counters import ACTION_COUNTS, ROUND_COUNTS, index_of
from millebornes_env.arena.outcome import Outcome
from millebornes_env.errors import AgentFaultError, ArenaError, OptionError
from millebornes_env.games.registry import Game
from tests.arena.players import RememberingAgent
from tests.arena.simulated import outcome_of, same
from tests.each import each

TABLES = {2: 2, 3: 3, 4: 2, 6: 3}
"""Teams by players (parker)."""
SPECS = ("first", "first:last", "lot", "slow", "slow:last", "wrong", "raising", "remembering")
FIRST, LAST, LOT, SLOW, SLOW_LAST, WRONG, RAISING, REMEMBERING = range(len(SPECS))


def played(lineup: tuple[int, ...], deals: int = 20, first: int = 0, **config: object) -> Outcome:
    table = MatchConfig(**config)  # type: ignore[arg-type]
    return play(SPECS, table, deals, first_deal=first, lineup=lineup)


# Rotations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("teams", [2, 3, 4])
def test_every_role_sits_in_every_team_once_in_each_deal(teams: int) -> None:
    roles = role_of_teams(teams, 5).reshape(teams, 5, teams)
    for deal in range(5):
        for team in range(teams):
            assert sorted(roles[:, deal, team]) == list(range(teams))
        for rotation in range(teams):
            for role in range(teams):
                assert roles[rotation, deal, (role + rotation) % teams] == role


# Fair: the same cards in every seat -----------------------------------------------------------------------


@each("episode", ["round", "match"])
@each("players", TABLES)
def test_an_agent_is_exactly_even_with_itself(players: int, episode: str) -> None:
    for agent in (FIRST, LOT):
        outcome = played((agent,) * TABLES[players], players=players, episode=episode)
        totals = outcome.points.sum(axis=1)
        assert (totals == totals[:, :1]).all()
        assert outcome.wins.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("players", TABLES)
def test_every_deal_has_the_same_cards_in_every_rotation(players: int) -> None:
    config = MatchConfig(players=players)
    batch = dealt_batch(config, 0, 5)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    states = batch.states.reshape(TABLES[players], 5)
    assert all(np.array_equal(states[0], others) for others in states[1:])
    assert len({states[0, number]["deck"].tobytes() for number in range(5)}) == 5


def test_plain_deals_have_different_cards_in_every_rotation() -> None:
    config = MatchConfig(plain=True)
    batch = dealt_batch(config, 3, 5)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    assert len({state["deck"].tobytes() for state in batch.states}) == 10
    other = dealt_batch(config, 4, 1)
    assert np.array_equal(other.states["key"], batch.states.reshape(2, 5)[:, 1]["key"])


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("lineup", [(FIRST, LOT), (SLOW, LOT)])
def test_a_deal_depends_on_its_number_only(lineup: tuple[int, int], plain: bool) -> None:
    many, few = played(lineup, 6, plain=plain), played(lineup, 2, 4, plain=plain)
    assert np.array_equal(many.points[4:], few.points)
    assert np.array_equal(many.rounds[4:], few.rounds)


# Who plays ------------------------------------------------------------------------------------------------


def test_what_cannot_be_played_is_refused() -> None:
    config = MatchConfig(players=3)
    with pytest.raises(ArenaError, match="deals is 0; it must be 1 or more"):
        play(["first"], config, 0)
    with pytest.raises(ArenaError, match=r"deals is 2\.5; it must be a whole number"):
        play(["first"], config, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ArenaError, match=r"agents is 'first'; give a list: \['first'\]"):
        play("first", config, 1)
    with pytest.raises(ArenaError, match=r"config is 'parker'; give a MatchConfig, such as MatchConfig\("):
        play(["first"], "parker", 1)  # type: ignore[arg-type]
    with pytest.raises(ArenaError, match="there are no agents"):
        play([], config, 1)
    with pytest.raises(ArenaError, match=r"the lineup \(0, 1\) of 2 agents does not fit .* each of 3 teams"):
        play(["first", "lot"], config, 1, lineup=(0, 1))
    with pytest.raises(ArenaError, match=r"the lineup \(0, 1, 2, 3\) of 4 agents does not fit"):
        play(["first"] * 4, config, 1)
    with pytest.raises(ArenaError, match=r"lineup \(0, 1, 2\) of 2 agents"):
        play(["first", "lot"], config, 1, lineup=(0, 1, 2))
    with pytest.raises(ArenaError, match=r"batch_size is 2; it must be 3 \(the teams\) or more"):
        play(["first"], config, 1, batch_size=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episode": "matches"}, "episode is 'matches'; it must be 'match' or 'round'"),
        ({"seed": -1}, "seed is -1; it must be from 0 to"),
        ({"seed": 2**64}, "seed is 18446744073709551616"),
        ({"seed": "a"}, "seed is 'a'; it must be a whole number"),
        ({"threads": 0}, "threads is 0; it must be 1 or more"),
        ({"threads": 1.5}, "threads is 1.5; it must be a whole number"),
        ({"plain": "no"}, "plain is 'no'; it must be True or False"),
        ({"aivat": 1}, "aivat is 1; it must be True or False"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises((ArenaError, OptionError), match=message):
        MatchConfig(**options)  # type: ignore[arg-type]


def test_an_outcome_tells_the_lead_of_role_0() -> None:
    outcome = outcome_of((0, 1), [[[700, 100], [500, 300]], [[200, 300], [0, 0]]], [[2, 2], [1, 1]])
    assert outcome.lead.tolist() == [[600, 200], [-100, 0]]
    assert outcome.win_rate().mean == (1 + 1 + 0 + 0.5) / 4
    assert outcome.points_per_episode().mean == 700 / 4
    assert outcome.points_per_round().mean == pytest.approx(700 / 6)
    assert outcome.num_deals == 2


# The same however it is computed --------------------------------------------------------------------------


@pytest.mark.parametrize("players", TABLES)
def test_threads_change_nothing(players: int) -> None:
    lineup = (FIRST, LOT, LAST)[: TABLES[players]]
    one, three = (played(lineup, 100, players=players, threads=threads) for threads in (1, 3))
    assert same(one, three)


@each("episode", ["round", "match"])
@each("players", TABLES)
def test_compiled_agents_and_others_play_the_same_games(players: int, episode: str) -> None:
    compiled = (FIRST, LAST, LOT)[: TABLES[players]]
    mixed = (SLOW, LAST, LOT)[: TABLES[players]]
    others = (SLOW, SLOW_LAST, LOT)[: TABLES[players]]
    expected = played(compiled, players=players, episode=episode)
    assert same(played(mixed, players=players, episode=episode), expected)
    assert same(played(others, players=players, episode=episode), expected)


@pytest.mark.parametrize("players", TABLES)
def test_the_results_are_those_of_games_played_one_by_one(players: int) -> None:
    config = MatchConfig(players=players, episode="round")
    teams = TABLES[players]
    batch = dealt_batch(config, 0, 2)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    originals = batch.states.reshape(teams, 2).copy()
    lineup = (SLOW, SLOW_LAST, SLOW_LAST)[:teams]
    outcome = play(SPECS, config, 2, lineup=lineup)
    env = vector_env(1, players=players, autoreset_mode="disabled")
    for rotation in range(teams):
        for deal in range(2):
            roles = [agents.load(SPECS[agent], env) for agent in lineup]
            state = originals[rotation, deal : deal + 1]
            observations, over = env.set_states(state), False
            starter = (int(state["dealer"][0]) + 1) % teams
            assert outcome.first[deal, rotation] == (starter - rotation) % teams
            while not over:
                role = (int(env.agent_selection[0]) - rotation) % teams
                action = roles[role].act(observations["observation"], observations["action_mask"])
                observations, _, ended, _, infos = env.step(action)
                over = bool(ended[0])
            for role in range(teams):
                team = (role + rotation) % teams
                assert outcome.points[deal, rotation, role] == infos["final_score"][0][team]
                assert outcome.wins[deal, rotation, role] == env.games.win_shares()[0, team]


def test_the_cards_of_later_rounds_are_the_same_too_whatever_is_played() -> None:
    config = MatchConfig()
    batch = dealt_batch(config, 0, 4)
    arena_kernels_of(config.game).begin_games(batch, compiled_rules(config))
    env = vector_env(8, episode="match", autoreset_mode="disabled")
    env.set_states(batch.states)
    decks: dict[tuple[int, int], set[tuple[bytes, int]]] = {}
    begun: set[tuple[int, int]] = set()
    while (env.get_states()["round_number"] < 2).any():
        env.step(env.sample_actions())
        for game, state in enumerate(env.get_states()):
            round_ = int(state["round_number"])
            if round_ > 0 and (game, round_) not in begun:  # cards that were drawn are no longer in the deck
                begun.add((game, round_))
                result = decks.setdefault((game % 4, round_), set())
                result.add((state["deck"].tobytes(), int(state["dealer"])))
    assert all(len(decks[number, round_]) == 1 for number in range(4) for round_ in range(1, 3))


# What is counted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", TABLES)
def test_tallies_add_up(players: int) -> None:
    teams = TABLES[players]
    outcome = played((FIRST, LOT, LAST)[:teams], 30, players=players)
    count = {name: outcome.counters[:, index_of(name)] for name in ROUND_COUNTS}
    rounds = int(outcome.rounds.sum())
    assert (count["rounds"] == rounds).all()
    assert count["started"].sum() == rounds
    assert count["points"].tolist() == outcome.points.sum(axis=(0, 1)).tolist()
    assert (count["episodes"] == 30 * teams).all()
    assert count["episodes_started"].tolist() == [int((outcome.first == role).sum()) for role in range(teams)]
    assert count["episode_wins"].tolist() == [
        int((outcome.wins[..., role] == 1).sum()) for role in range(teams)
    ]
    assert count["trips_completed"].sum() <= rounds
    assert (count["trips_completed_starting"] <= count["trips_completed"]).all()
    assert (count["extensions_won"] <= count["extensions_called"]).all()
    assert count["extensions_called"].tolist() == outcome.counters[:, 40].tolist()
    assert count["coups_fourres"].tolist() == outcome.counters[:, 38].tolist()
    laid = outcome.counters[:, 15:19].sum(axis=1) + outcome.counters[:, 38]
    assert count["safeties"].tolist() == laid.tolist()
    assert count["two_hundreds"].tolist() == outcome.counters[:, 4].tolist()
    km = outcome.counters[:, :5] @ [25, 50, 75, 100, 200]
    assert count["km"].tolist() == km.tolist()
    assert (outcome.counters[:, :ACTION_COUNTS].sum(axis=1) > 10 * rounds).all()


@each(("players", "teams"), [(2, 2), (3, 3), (4, 4), (6, 3)])
@each("episode", ["round", "match"])
def test_those_equally_near_share_a_win_without_points(players: int, teams: int, episode: str) -> None:
    """Teams with equal km have equal shares; the others have lost (E53)."""
    config = MatchConfig("dujardin_2014", players, teams, episode)
    specs = ("first", "lot", "lot", "first:last")[:teams]
    roles = [agents.make(spec, config.table(), role) for role, spec in enumerate(specs)]
    deals = 300
    batches = play_batch(roles, config, 0, deals, lambda episodes: None)
    shared = set()
    for batch in batches:
        for state, roles_of_teams, shares in zip(batch.states, batch.role_of, batch.shares, strict=True):
            km = state["km"][:teams].tolist()
            winners = [team for team in range(teams) if km[team] == max(km)]
            if int(state["winner"]) >= 0:
                winners = [int(state["winner"])]
            expected = [(team in winners) / len(winners) for team in range(teams)]
            assert shares[roles_of_teams].tolist() == pytest.approx(expected)
            shared.add(len(winners))
    assert shared >= {1, 2}
    outcome = play(SPECS, config, deals, lineup=(FIRST, LOT, LOT, LAST)[:teams])
    assert np.array_equal(outcome.wins, by_deal(batches, "shares", teams))
    count = {name: outcome.counters[:, index_of(name)] for name in ROUND_COUNTS}
    alone = (outcome.wins == 1).sum(axis=(0, 1)).tolist()
    assert count["round_wins"].tolist() == count["episode_wins"].tolist() == alone
    part = ((outcome.wins > 0) & (outcome.wins < 1)).sum(axis=(0, 1))
    assert count["round_ties"].tolist() == part.tolist()
    assert part.sum() > 0


# What agents do wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [FIRST, SLOW])
def test_an_illegal_action_is_told_with_its_place_and_what_was_legal(other: int) -> None:
    with pytest.raises(AgentFaultError) as error:
        played((WRONG, other), 30)
    message = str(error.value)
    assert "wrong chose discard" in message
    assert "which is illegal, in deal" in message
    assert "rotation" in message
    assert "play" in message
    assert "legal were: " in message


def test_an_agent_that_raises_is_told_with_the_game() -> None:
    with pytest.raises(AgentFaultError) as error:
        played((FIRST, RAISING), 30, first=500)
    message = str(error.value)
    assert message.startswith("raising raised RuntimeError: cannot bear the safety (in deal 5")
    assert "round " in message


def test_slot_ids_tell_seats_apart() -> None:
    RememberingAgent.seen.clear()
    played((REMEMBERING, FIRST), 10)
    assert RememberingAgent.seen == {2 * game + game // 10 for game in range(20)}


def test_a_split_is_played_sheet_by_sheet() -> None:
    """Each deal has a sheet, as if the sheet were the edition; parts of a match can be joined."""
    name = "variants-v1:test/inside"
    whole = play(["greedy", "random"], MatchConfig(name, episode="round", seed=4), 6)
    for deal in range(6):
        config = MatchConfig(f"{name}/{deal}", episode="round", seed=4)
        alone = play(["greedy", "random"], config, 1, first_deal=deal)
        assert (whole.points[deal] == alone.points[0]).all()
    later = play(["greedy", "random"], MatchConfig(name, episode="round", seed=4), 2, first_deal=4)
    assert (later.points == whole.points[4:]).all()


def test_a_share_of_a_cluster_is_played_at_a_split_as_without_one() -> None:
    config = MatchConfig("variants-v1:train", threads=1, episode="round")
    specs = ("greedy", "holder")
    roles = [Player(spec, agent_seed(config.seed, role, 0)) for role, spec in enumerate(specs)]
    share = play_share(config, roles, 0, 3)
    assert isinstance(share, Outcome)
    assert same(share, play(specs, config, 3))


def test_threads_find_the_kernels_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads would make them twice, and Python before 3.11.5 cannot parse on two threads at once."""
    made_by: list[threading.Thread] = []
    make = dealing.arena_kernels_of

    def noted(game: Game, *, aivat: bool) -> ArenaKernels:
        made_by.append(threading.current_thread())
        return make(game, aivat=aivat)

    monkeypatch.setattr(dealing, "arena_kernels_of", noted)
    play(["random"], MatchConfig(episode="round", threads=2), 64)
    assert made_by[0] is threading.main_thread()
    assert len(set(made_by)) > 1
