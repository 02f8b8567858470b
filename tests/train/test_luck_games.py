"""Games that are branched after a draw: what differs between branches is one card, and what it brings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from millebornes_env.arena.batch import Batch
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, loops_of, settings_of
from millebornes_env.arena.luck.aivat import num_inputs
from millebornes_env.arena.luck.full_view import list_positions, place_held, write_values
from millebornes_env.arena.luck.value_network import ValueNetwork, value_network
from millebornes_env.arena.match import MatchConfig
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.state import StateArray
from tests.arena.test_aivat import random_layers
from tests.each import each
from train.tools import luck_games
from train.tools.luck_games import MOVED, Branches, Plan, branch, collect, widest
from train.tools.luck_value import LuckValue

TABLES = [("parker", 2, None), ("parker", 4, 2), ("dujardin", 3, None)]


def games_after_a_draw(config: MatchConfig, deals: int = 16) -> tuple[StateArray, npt.NDArray[np.int8]]:
    """Games some turns after their beginning, in which a card has just been drawn, and the cards."""
    batch, rules = dealt_batch(config, 0, deals), compiled_rules(config)
    loops, settings = loops_of(config), settings_of(config)
    loops.begin_games(batch, rules)
    states, cards = [], []
    for turn in range(60):
        before = batch.states.copy()
        loops.apply_actions(batch, rules, settings, first_legal(batch, rules, config))
        gone = before["deck"] != batch.states["deck"]
        for game in np.flatnonzero(
            batch.live & (gone.sum(axis=1) == 1) & (np.arange(len(gone)) % 7 == turn % 7)
        ):
            states.append(batch.states[game : game + 1].copy())
            cards.append(before["deck"][game][gone[game]][0])
    return for_kernels(np.concatenate(states).view(np.recarray)), np.array(cards, np.int8)


def first_legal(batch: Batch, rules: Any, config: MatchConfig) -> npt.NDArray[np.int64]:
    """An action of each game."""
    rulebook: Any = config.game.module()
    mask = np.zeros(config.table().num_actions, np.int8)
    actions = np.zeros(len(batch.states), np.int64)
    for game in np.flatnonzero(batch.live):
        rulebook.write_mask(batch.states[game], rules, mask)
        actions[game] = np.flatnonzero(mask)[game % int(mask.sum())]
    return actions


def branched(
    config: MatchConfig, chances: npt.NDArray[np.float64]
) -> tuple[StateArray, npt.NDArray[np.int8], StateArray, Branches]:
    """Games after a draw, the drawn cards, their branches, and what a network is shown of those."""
    states, cards = games_after_a_draw(config)
    rules, count = compiled_rules(config), chances.shape[1]
    copies = for_kernels(np.zeros(len(states) * count, states.dtype).view(np.recarray))
    ones = np.zeros((len(states), widest(config.rules)), np.int16)
    moves = np.zeros((len(states), count, MOVED), np.int16)
    branch(states, cards, chances[: len(states)], rules, copies, ones, moves)
    lead = np.zeros((len(states), count), np.float32)
    return states, cards, copies.reshape(len(states), count), Branches(ones, moves, lead)


@pytest.mark.parametrize("table", TABLES)
def test_in_a_branch_the_drawn_card_and_one_of_the_pile_have_changed_places(table: Any) -> None:
    config = MatchConfig(*table, episode="round", seed=3)
    chances = np.random.default_rng(1).random((2000, 5))
    states, cards, copies, _ = branched(config, chances)
    assert len(states) > 50
    moved = 0
    for state, card, others in zip(states, cards, copies, strict=True):
        seat = int(state["seat"])
        for other in others:
            places = np.flatnonzero(state["deck"] != other["deck"])
            assert len(places) <= 1
            new = card if len(places) == 0 else state["deck"][places[0]]
            hand = state["hand"].copy()
            hand[seat, card] -= 1
            hand[seat, new] += 1
            assert (other["hand"] == hand).all()
            assert (hand >= 0).all()
            assert len(places) == 0 or other["deck"][places[0]] == card
            same = other.copy()
            same["hand"], same["deck"] = state["hand"], state["deck"]
            assert same.tobytes() == state.tobytes()
            moved += len(places)
    assert moved > 100


@pytest.mark.parametrize("table", TABLES)
def test_a_network_is_shown_each_branch_as_it_is(table: Any) -> None:
    """The places before the draw and those that the card moves add up to all that `list_positions` lists."""
    config = MatchConfig(*table, episode="round", seed=5)
    _, _, copies, result = branched(config, np.random.default_rng(3).random((2000, 4)))
    rules, size = config.rules, num_inputs(config.rules.players, config.rules.teams)
    listed = np.zeros((copies.size, widest(rules)), np.int16)
    list_positions(for_kernels(copies.reshape(-1).view(np.recarray)), compiled_rules(config), listed)
    for number, ones in enumerate(listed):
        draw, own = divmod(number, copies.shape[1])
        counted = np.bincount(result.ones[draw], minlength=size)
        np.add.at(counted, result.moves[draw, own], [-1, 1, -1, 1])
        expected = np.bincount(ones, minlength=size)
        assert (counted[1:] == expected[1:]).all()


def test_the_model_values_branches_as_the_arena_values_games() -> None:
    config = MatchConfig("parker", 2, episode="round", seed=6)
    _, _, copies, result = branched(config, np.random.default_rng(4).random((2000, 4)))
    layers = random_layers(2, 2)
    network, model = value_network(layers), LuckValue(num_inputs(2, 2), 8, 4)
    model.load(layers)
    values = np.zeros(copies.size, np.float32)
    write_values(for_kernels(copies.reshape(-1).view(np.recarray)), compiled_rules(config), network, values)
    ones, moves = (torch.from_numpy(part.astype(np.int32)) for part in result[:2])
    with torch.no_grad():
        np.testing.assert_allclose(model(ones, moves).numpy().reshape(-1), values, rtol=1e-3, atol=1e-4)


class Kept(np.random.Generator):
    """Chance by which all draws are branched, and the first branch keeps its card."""

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        return np.zeros(size)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (("parker", 2, None), ("champion:mode=sample", "greedy")),
        (("parker", 4, 2), ("strategist", "greedy")),
        (("parker", 3, None), ("holder", "arnold", "greedy")),
    ],
)
def test_a_branch_that_keeps_its_card_comes_to_what_its_game_comes_to(
    table: Any, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the sign, the memory and the random numbers of that game, for the team of the seat that drew."""
    monkeypatch.setattr(np.random, "default_rng", lambda seed: Kept(np.random.PCG64(seed)))
    seen: list[tuple[Batch, npt.NDArray[np.int64], npt.NDArray[np.int8]]] = []
    two_at_once = 0
    really = luck_games._Games._branched

    def branched(self: Any, batch: Batch, games: npt.NDArray[np.int64], decks: npt.NDArray[np.int8]) -> Any:
        nonlocal two_at_once
        teams = batch.role_of.shape[1]
        seats = batch.states["seat"][games].astype(np.int64)
        seen.append((batch, games, batch.role_of[games, seats % teams]))
        result = really(self, batch, games, decks)
        for number, game in enumerate(games):
            gone = decks[number][decks[number] != batch.states["deck"][game]]
            hand = batch.states["hand"][game, seats[number]]
            places = [place_held(teams, 0, int(card), int(hand[card])) for card in gone]
            assert result[2][number, 0, 1] in places, "a card that was drawn"
            two_at_once += len(gone) == 2
        return result

    monkeypatch.setattr(luck_games._Games, "_branched", branched)
    config = MatchConfig(*table, episode="round", seed=7)
    parts = luck_games._Games(config, names, None, Plan(1, 0.5, 0)).play(24)
    leads = 1000 * np.concatenate([part.lead[:, 0] for part in parts])
    points = np.concatenate([batch.points[games] for batch, games, _ in seen])
    roles = np.concatenate([role for *_, role in seen])
    own = points[np.arange(len(roles)), roles]
    expected = own - (points.sum(axis=1) - own) / (points.shape[1] - 1)
    assert len(leads) > 1000
    np.testing.assert_allclose(leads, expected, atol=1e-2)
    assert two_at_once > 0, "a coup fourré draws two cards"
    assert (leads > 0).any()
    assert (leads < 0).any()


def constant_network(value: float) -> ValueNetwork:
    """Every position is worth the same to the seat that decides, in thousands of points."""
    *others, (weight, _) = random_layers(2, 2)
    return value_network([*others, (np.zeros_like(weight), np.array([value], np.float32))])


@each(("horizon", "share"), [(2, 0.9), (3, 0.1)])
def test_after_some_draws_the_network_says_what_a_branch_comes_to(horizon: int, share: float) -> None:
    """Mostly it is the other seat that draws the third card, and the value is taken from the own side."""
    config = MatchConfig("parker", 2, episode="round", seed=8)
    result = collect(config, ("strategist", "arnold"), constant_network(0.125), 2000, Plan(3, 0.3, horizon))
    assert result.lead.shape == (2000, 3)
    assert result.moves.shape == (2000, 3, MOVED)
    is_valued = np.abs(result.lead) == 0.125
    assert is_valued.mean() > 0.9
    own = result.lead[is_valued] > 0
    assert own.mean() == pytest.approx(share, abs=0.1)
    ended = 1000 * result.lead[~is_valued]
    np.testing.assert_allclose(ended, 5 * np.round(ended / 5), atol=1e-3)
    assert ended.std() > 100


def test_without_a_horizon_branches_are_played_to_the_end() -> None:
    config = MatchConfig("parker", 4, 2, episode="round", seed=9)
    result = collect(config, ("greedy", "holder"), None, 500, Plan(2, 0.3, 8))
    again = collect(config, ("greedy", "holder"), None, 500, Plan(2, 0.3, 8))
    assert all((one == other).all() for one, other in zip(result, again, strict=True))
    assert (np.abs(result.lead) > 0.125).mean() > 0.5


def test_branches_of_a_draw_are_far_more_alike_than_games_are() -> None:
    config = MatchConfig("parker", 2, episode="round", seed=10)
    result = collect(config, ("strategist", "arnold"), None, 4000, Plan(4, 0.2, 0))
    assert result.lead.var(axis=1, ddof=1).mean() < 0.25 * result.lead.var()
