"""Luck that is valued after the next decision: what a copy of the game comes to is what the game comes to."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.agents import make
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.arena import dealing, roles
from millebornes_env.arena.batch import Batch
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, deciders_of, loops_of, settings_of
from millebornes_env.arena.estimates import AIVAT_COEFFICIENTS, control_variate_reduction
from millebornes_env.arena.full_view import write_values
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import own_less_others
from millebornes_env.arena.roles import stand_in
from millebornes_env.arena.tournament import TournamentConfig
from millebornes_env.arena.value_ahead import value_of_decisions
from millebornes_env.arena.value_files import save_network
from millebornes_env.commands import compare as compare_command
from millebornes_env.errors import ArenaError
from tests.arena.players import SlowFirstAgent
from tests.arena.test_aivat import ABOUT, random_network

CONFIG = MatchConfig(episode="round", aivat=True, aivat_lookahead=True, threads=1)
_BOTH = 2


class Game:
    """One game of two agents, played one decision at a time."""

    def __init__(self, specs: list[Any], deal: int, config: MatchConfig = CONFIG) -> None:
        self.rules: Any = compiled_rules(config)
        self._loops, self._settings = loops_of(config), settings_of(config)
        roles = [make(spec, config.table(), 1) for spec in specs]
        self.deciders = deciders_of(roles, config)
        self.batch = dealt_batch(config, deal, 1, deciders=self.deciders)
        self._loops.begin_games(self.batch, self.rules)
        self.batch.live[1] = False  # the other rotation

    def decide(self, batch: Batch) -> list[int]:
        """Carry out one decision in the first game; the cards that were drawn, in the order of the draws."""
        deck, actions = batch.states["deck"][0].copy(), np.zeros(_BOTH, np.int64)
        for role, agent in enumerate(self.deciders):
            assert agent is not None
            self._loops.choose_for_role(batch, self.rules, agent.address, agent.options, role, actions)
        self._loops.carry_out_all(batch, self.rules, self._settings, actions)
        if not batch.live[0]:
            return []
        return [int(deck[place]) for place in np.flatnonzero(deck != batch.states["deck"][0])]

    def comes_to(self, drawn: int, card: int) -> tuple[str, float]:
        """How the game really goes on with another card, and what that is worth to the seat that drew."""
        batch = deepcopy(self.batch)
        seat, rounds, points = int(batch.states["seat"][0]), int(batch.rounds[0]), batch.points[0].copy()
        exchange(batch.states[:1], seat, drawn, card)
        while True:
            came = self.decide(batch)
            if batch.rounds[0] > rounds:
                own, won = batch.role_of[0, seat % _BOTH], batch.points[0] - points
                return "the end of the round", (int(won[own]) - int(won[1 - own])) / 1000
            if came:
                value = self.mean_value(batch.states[:1], came)
                is_own = int(batch.states["seat"][0]) % _BOTH == seat % _BOTH
                return f"{len(came)} drawn", value if is_own else -value

    def mean_value(self, after: Any, came: list[int]) -> float:
        """The mean value over all hands that could have been drawn instead: each is dealt."""
        seat = int(after["seat"][0])
        others = came + [int(card) for card in after["deck"][0] if card >= 0]
        kinds = Counter(permutations(others, len(came)))
        states = np.repeat(after, len(kinds))
        for state, cards in zip(np.split(states, len(kinds)), kinds, strict=True):
            for old, new in zip(came, cards, strict=True):
                state["hand"][0, seat, old] -= 1
                state["hand"][0, seat, new] += 1
        values = np.zeros(len(kinds), np.float32)
        write_values(states, self.rules, self.batch.network, values)
        return float(np.average(values, weights=list(kinds.values())))


def exchange(states: Any, seat: int, drawn: int, card: int) -> None:
    """Let a seat have drawn another card: the two change places."""
    if card != drawn:
        deck = states["deck"][0]
        deck[np.flatnonzero(deck == card)[-1]] = drawn
        states["hand"][0, seat, drawn] -= 1
        states["hand"][0, seat, card] += 1


# Values -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def partners(tmp_path_factory: pytest.TempPathFactory) -> MatchConfig:
    """Four players in two teams, and values that mean nothing."""
    folder = tmp_path_factory.mktemp("partners")
    save_network(folder, random_network(4, 2), {**ABOUT, "players": 4})
    return replace(CONFIG, players=4, luck_value=str(folder))


@pytest.mark.parametrize(
    ("specs", "deals"),
    [(["arnold", "strategist"], 6), (["lot", "attacker"], 6), (["champion", "lot"], 4)],
)
def test_what_is_tried_is_what_would_really_happen(specs: list[Any], deals: int) -> None:
    """With every card that could have come; the agents' memories and random numbers included."""
    seen = sum((compared(Game(specs, deal), deal) for deal in range(deals)), Counter[str]())
    assert seen["1 drawn"] > 150
    assert seen["the end of the round"] > 0
    assert seen["2 drawn"] > 0 or "lot" in specs, "a coup fourré that somebody claims"


@pytest.mark.parametrize("specs", [["arnold", "lot"], ["lot", "strategist"]])
def test_so_it_is_in_the_later_rounds_of_a_match(specs: list[Any]) -> None:
    """Another round has other random numbers, and what was seen in the match is remembered."""
    game = Game(specs, 2, replace(CONFIG, episode="match"))
    while game.batch.live[0] and game.batch.rounds[0] < 2:
        game.decide(game.batch)
    assert compared(game, 1, last_round=3)["1 drawn"] > 20


def test_partners_gain_what_their_team_gains(partners: MatchConfig) -> None:
    seen = compared(Game(["arnold", "strategist"], 1, partners), 1) + compared(
        Game(["arnold", "lot"], 2, partners), 2
    )
    assert seen["1 drawn"] > 100


def compared(game: Game, seed: int, last_round: int = 99) -> Counter[str]:
    """Play a game, and try what it comes to after some of its draws; how often it came to what."""
    random, seen = np.random.default_rng(seed), Counter[str]()
    batch = game.batch
    while batch.live[0] and batch.rounds[0] < last_round:
        came = game.decide(batch)
        pile = int(batch.states["draw_pile"][0])
        if not batch.live[0] or len(came) != 1 or (pile > 8 and random.random() > 0.15):
            continue
        before = batch.states.copy(), batch.memories.copy()
        for card in {came[0], *(int(card) for card in batch.states["deck"][0] if card >= 0)}:
            is_known, value = value_of_decisions(batch, game.rules, 0, came[0], card)
            how, expected = game.comes_to(came[0], card)
            assert is_known
            assert value == pytest.approx(expected, abs=2e-4)
            seen[how] += 1
        assert np.array_equal(before[0], batch.states)
        assert np.array_equal(before[1], batch.memories)
    return seen


@pytest.mark.parametrize("decisions", [12, 31, 32])
def test_the_luck_of_a_draw_is_0_over_all_cards_that_could_have_come(decisions: int) -> None:
    """Each card of the pile is drawn in turn, and the cards behind it come in another order each time."""
    game, found, pile = Game(["arnold", "greedy"], 3), list[float](), 0
    for _ in range(decisions):
        game.decide(game.batch)
    deck = game.batch.states["deck"][0]
    left = np.flatnonzero(deck >= 0)
    for place in left:
        batch = deepcopy(game.batch)
        again = batch.states["deck"][0]
        again[left] = np.roll(again[left], -int(np.flatnonzero(left == place)[0]))
        batch.variates[:] = 0
        drawn = game.decide(batch)
        assert len(drawn) == 1
        found.append(float(batch.variates[0, 0, 0]))
        pile = len(left)
    assert len(found) == pile > 30
    assert np.ptp(found) > 50
    assert np.mean(found) == pytest.approx(0.0, abs=0.02)


def test_a_role_that_nobody_knows_is_valued_by_the_network_alone() -> None:
    game = Game(["arnold", "greedy"], 1)
    drawn = game.decide(game.batch)
    seat = int(game.batch.states["seat"][0])
    game.batch.ahead.is_known[game.batch.role_of[0, seat]] = False
    assert value_of_decisions(game.batch, game.rules, 0, drawn[0], drawn[0]) == (False, 0.0)


def test_an_illegal_action_is_not_tried() -> None:
    """It is reported when it is played."""
    game, drawn = Game(["holder", "greedy"], 1), list[int]()
    while len(drawn) != 1 or int(game.batch.states["draw_pile"][0]) > 55:
        drawn = game.decide(game.batch)
        assert game.batch.live[0], "choose another deal"
    wrong = make("wrong", CONFIG.table())
    assert is_compiled(wrong)
    assert value_of_decisions(game.batch, game.rules, 0, drawn[0], drawn[0])[0]
    game.batch.ahead.roles.choose[:] = wrong.address
    assert value_of_decisions(game.batch, game.rules, 0, drawn[0], drawn[0]) == (False, 0.0)


# In the arena -----------------------------------------------------------------------------------------------


def test_play_is_the_same_and_more_deals_are_saved() -> None:
    pair = ["strategist", "arnold"]
    deep, flat = (play(pair, replace(CONFIG, aivat_lookahead=ahead), 100) for ahead in (True, False))
    assert np.array_equal(deep.points, flat.points), "it is only watched"
    assert deep.variates is not None
    luck = own_less_others(deep.variates[:, :, 0]).mean(axis=1)
    assert abs(luck.mean()) < 4.5 * luck.std() / np.sqrt(len(luck))
    saved, before = (control_variate_reduction(one, AIVAT_COEFFICIENTS).ratio for one in (deep, flat))
    assert saved is not None
    assert before is not None
    assert saved > 1.05 * before


def test_threads_and_batches_do_not_change_luck() -> None:
    pair = ["strategist", "greedy"]
    first = play(pair, CONFIG, 40)
    for other in (play(pair, replace(CONFIG, threads=2), 40), play(pair, CONFIG, 40, batch_size=32)):
        assert np.array_equal(first.variates, other.variates)  # type: ignore[arg-type]


def test_who_says_what_an_agent_would_do() -> None:
    table = CONFIG.table()
    arnold = make("arnold", table)
    assert stand_in(arnold, table) is arnold
    searching = stand_in(make("greedy+search:rollouts=2", table), table)
    assert searching is not None
    assert searching.name == "greedy", "the agent that its search plays rounds out with"
    champion = stand_in(make("slow", table), table)
    assert champion is not None
    assert champion.name == make("champion", table).name
    nowhere = MatchConfig("arc_en_ciel", 5).table()
    assert stand_in(SlowFirstAgent(nowhere), nowhere) is None, "the race has a champion for four alone"


def test_where_nobody_can_be_asked_luck_is_valued_by_the_network_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(roles, "champion_of", lambda table: None)
    pair = ["slow", "lot"]
    deep, flat = (play(pair, replace(CONFIG, aivat_lookahead=ahead), 20) for ahead in (True, False))
    assert deep.variates is not None
    assert not np.array_equal(deep.variates, flat.variates)  # type: ignore[arg-type]
    monkeypatch.setattr(dealing, "stand_in", lambda agent, table: None)
    nobody = play(pair, CONFIG, 20)
    assert np.array_equal(nobody.variates, flat.variates)  # type: ignore[arg-type]


def test_agents_that_are_not_compiled_are_taken_for_the_champion() -> None:
    slow, champion = ([agent, "greedy"] for agent in ("slow", "champion"))
    found = play(slow, CONFIG, 20)
    flat = play(slow, replace(CONFIG, aivat_lookahead=False), 20)
    assert np.array_equal(found.points, flat.points)
    assert not np.array_equal(found.variates, flat.variates)  # type: ignore[arg-type]
    assert np.isfinite(found.variates).all()  # type: ignore[arg-type]
    assert not np.array_equal(play(champion, CONFIG, 20).points, found.points)


def test_a_command_looks_ahead_if_it_is_asked_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--aivat", "--aivat-lookahead", "--episode", "round", "--deals", "40", "--threads", "1"]
    out = tmp_path / "found.json"
    assert compare_command.main(["greedy", "arnold", *options, "--out", str(out)]) == 0
    assert "Luck was taken off the points" in capsys.readouterr().out
    assert json.loads(out.read_text())["config"]["aivat_lookahead"] is True


def test_tournaments_without_it_are_described_as_before() -> None:
    described = TournamentConfig(MatchConfig(aivat=True)).as_json()["match"]
    assert "aivat_lookahead" not in described
    assert TournamentConfig(CONFIG).as_json()["match"] == {
        **TournamentConfig(replace(CONFIG, aivat_lookahead=False)).as_json()["match"],
        "aivat_lookahead": True,
        "stand_in": fingerprint(make("champion", CONFIG.table()), "champion"),
    }


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ArenaError, match="aivat_lookahead says how aivat values luck: choose that too"):
        MatchConfig(aivat_lookahead=True)
    with pytest.raises(ArenaError, match="give dealt_batch their deciders_of"):
        dealt_batch(CONFIG, 0, 1)
    with pytest.raises(ArenaError, match="is for two teams: with 3, use aivat without it"):
        MatchConfig(players=3, aivat=True, aivat_lookahead=True).network()
