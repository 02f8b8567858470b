"""Luck of the draw, valued by a network: its mean is 0 for any network, and what is left has less spread."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env._util.network_files import Layers, arrays_of, in_half_precision
from millebornes_env.arena.dealing import dealt_batch
from millebornes_env.arena.estimates import corrected, luck_reduction
from millebornes_env.arena.evaluation import caption, evaluate
from millebornes_env.arena.kernels import new_batch
from millebornes_env.arena.luck.aivat import INPUTS_VERSION, count_draws, num_inputs
from millebornes_env.arena.luck.full_view import NOTHING, list_positions, place_held, place_in_pile
from millebornes_env.arena.luck.value_files import FILES, SHIPPED, layers_for, network_digest, network_for
from millebornes_env.arena.luck.value_network import Float32Array, ValueNetwork, value_network
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import own_less_others
from millebornes_env.cli import arena as arena_command
from millebornes_env.cli import evaluate as evaluate_command
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import ArenaError, OptionError
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.games.millebornes.turn import step
from millebornes_env.games.registry import game
from millebornes_env.notation import Position, read_position
from millebornes_env.notation.millebornes.actions import read_action


def position(*lines: str, players: int = 2) -> Position:
    """A position of our notation."""
    return read_position("\n".join(lines), edition="parker", players=players)


def pile_of(at: Position) -> int:
    """Return the number of cards left to draw."""
    return int(at.state["draw_pile"][0])


ABOUT = {"game": "millebornes", "players": 2, "teams": 2, "inputs_version": INPUTS_VERSION, "editions": []}


def random_layers(players: int, teams: int, width: int = 8, units: int = 4, seed: int = 1) -> Layers:
    """Values that mean nothing, up to some thousand points."""
    random = np.random.default_rng(seed)

    def drawn(*shape: int) -> Float32Array:
        return random.normal(size=shape).astype(np.float32)

    rows = drawn(num_inputs(players, teams), width)
    rows[NOTHING] = 0.0
    return [(rows.T, drawn(width)), (drawn(units, width), drawn(units)), (drawn(1, units), drawn(1))]


def random_network(players: int, teams: int, seed: int = 1) -> ValueNetwork:
    """A network of `random_layers`."""
    return value_network(random_layers(players, teams, seed=seed))


def luck_of_step(before: StateArray, rules: Any, play: str, network: ValueNetwork) -> npt.NDArray[np.float64]:
    """The luck of each team in one step, float64[T]."""
    after, scratch = for_kernels(before.copy()), for_kernels(before.copy())
    table = compiled_rules(rules)
    action = read_action(play, rules, int(before["seat"][0]))
    step(after[0], table, action)
    batch = new_batch(game("millebornes"), rules, after, scratch, network)
    batch.role_of[0] = np.arange(rules.teams)
    count_draws(batch, table, 0, action)
    luck: npt.NDArray[np.float64] = batch.luck[0]
    return luck


def places_left(states: StateArray, players: int) -> list[int]:
    """Return the indices of the draw pile's cards in the deck."""
    state = states[0]
    return [
        place
        for seat in range(players)
        for place in range(int(state["stream_next"][seat]), int(state["stream_end"][seat]))
    ]


# The mean of luck is 0 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_luck_of_a_draw_is_0_over_all_cards_that_could_have_come(players: int) -> None:
    """The next seat's next card is swapped for each card of the pile in turn: all are as likely."""
    at = position("battle 0: roll", "hand 0: 100 ...", "hand 1: 25 75 2x stop ...", players=players)
    network = random_network(players, at.rules.teams)
    first = int(at.state["stream_next"][0, 1])
    result = []
    for place in places_left(at.state, players):
        states = at.state.copy()
        deck = states["deck"][0]
        deck[first], deck[place] = int(deck[place]), int(deck[first])
        result.append(luck_of_step(states, at.rules, "100", network))
    luck = np.array(result)
    assert len(luck) == pile_of(at)
    assert np.abs(luck).max() > 100
    assert luck.mean(axis=0) == pytest.approx(0.0, abs=0.05)
    assert luck.sum(axis=1) == pytest.approx(0.0, abs=0.05), "what one team gains the others lose"
    others = luck[:, [team for team in range(at.rules.teams) if team != 1]]
    assert others == pytest.approx(np.repeat(others[:, :1], others.shape[1], axis=1)), "all in equal parts"


def test_so_is_that_of_the_two_draws_of_a_coup_fourre() -> None:
    lines = (
        "battle 1: roll",
        "pending: accident by seat 0 against team 1",
        "hand 0: stop 25",
        "stream 0: none",
    )
    hand = "hand 1: driving_ace 25 50"
    at = position(*lines, hand, "stream 1: 200 roll stop right_of_way roll 25", "discard pile: ...")
    network = random_network(2, 2, seed=3)
    left = places_left(at.state, 2)
    result = []
    for order in permutations(left, 2):
        states = at.state.copy()
        deck = states["deck"][0]
        cards = [int(deck[place]) for place in order]
        rest = [int(deck[place]) for place in left if place not in order]
        deck[left] = cards + rest
        result.append(luck_of_step(states, at.rules, "claim", network)[1])
    assert len(result) == 30
    assert np.ptp(result) > 100
    assert np.mean(result) == pytest.approx(0.0, abs=0.05)


def test_no_card_no_luck() -> None:
    """A hazard waits for an answer."""
    at = position("battle 1: roll", "hand 0: stop", "hand 1: right_of_way 25")
    assert not luck_of_step(at.state, at.rules, "stop", random_network(2, 2)).any()


def test_a_card_is_worth_what_the_network_says() -> None:
    """Here: 700 points for the Right of Way in the hand of who decides, and nothing else."""
    rows = np.zeros((num_inputs(2, 2), 1), np.float32)
    rows[place_held(2, 0, Card.RIGHT_OF_WAY, 1)] = 0.7
    one, zero = np.ones((1, 1), np.float32), np.zeros(1, np.float32)
    network = value_network([(rows.T, zero), (one, zero), (one, zero)])
    for came in ("right_of_way", "roll"):
        at = position("battle 0: roll", "hand 0: 100 25", "hand 1: 2x25 2x50 2x75", f"stream 1: {came} ...")
        luck = luck_of_step(at.state, at.rules, "100", network)
        expected = 1000 * 0.7 * ((came == "right_of_way") - 1 / pile_of(at))
        assert luck == pytest.approx([-expected / 2, expected / 2], rel=1e-4)


# What the network sees --------------------------------------------------------------------------------------


def ones_of(at: Position) -> set[int]:
    ones = np.zeros((1, 80), np.int16)
    list_positions(for_kernels(at.state), compiled_rules(at.rules), ones)
    return set(ones[0].tolist()) - {NOTHING}


def test_the_network_sees_all_hands_and_counts_the_pile() -> None:
    ones = ones_of(position("hand 0: 100 100 roll", "hand 1: 4x stop 25"))
    assert place_held(2, 0, Card.DISTANCE_100, 2) in ones
    assert place_held(2, 0, Card.DISTANCE_100, 1) not in ones
    assert place_held(2, 1, Card.STOP, 4) in ones
    assert place_in_pile(Card.DISTANCE_100, 10) in ones
    assert not any(place_in_pile(Card.STOP, count) in ones for count in range(1, 5))
    assert len(ones) == len({place for place in ones if 0 < place < num_inputs(2, 2)})


def test_the_network_does_not_see_the_order_of_the_cards_to_come() -> None:
    one, other = (position("hand 0: 100", f"stream 0: {cards} ...") for cards in ("200 25", "25 200"))
    assert ones_of(one) == ones_of(other)


# In the arena -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def config() -> MatchConfig:
    return MatchConfig(episode="round", aivat=True, threads=1)


def test_luck_is_taken_off_without_moving_the_mean(config: MatchConfig) -> None:
    outcome = play(["strategist", "arnold"], config, 800)
    plain = play(["strategist", "arnold"], replace(config, aivat=False), 800)
    assert np.array_equal(outcome.points, plain.points), "it is only watched"
    assert outcome.luck.shape == (800, 2, 2)
    luck = own_less_others(outcome.luck).mean(axis=1)
    assert abs(luck.mean()) < 4.5 * luck.std() / np.sqrt(len(luck))
    saved = luck_reduction(outcome).ratio
    assert saved > 1.05
    single, luck_of_one = outcome.lead[:, 0], own_less_others(outcome.luck[:, 0])
    assert single.var() > 1.4 * (single - luck_of_one).var(), "in a single rotation far more is luck"
    interval, wide = corrected(outcome).points_per_round(), plain.points_per_round()
    assert interval.half_width == pytest.approx(wide.half_width / np.sqrt(saved), rel=0.02)


def test_threads_and_batches_do_not_change_luck(config: MatchConfig) -> None:
    first = play(["arnold", "greedy"], config, 100)
    for other in (
        play(["arnold", "greedy"], replace(config, threads=3), 100),
        play(["arnold", "greedy"], config, 100, batch_size=64),
    ):
        assert np.array_equal(first.luck, other.luck)  # type: ignore[arg-type]


def test_an_evaluation_reports_points_less_luck(config: MatchConfig) -> None:
    (row,) = evaluate("strategist", ["arnold"], config, 200)
    (plain,) = evaluate("strategist", ["arnold"], replace(config, aivat=False), 200)
    assert plain.luck is None
    narrower = plain.points_per_episode.half_width / row.points_per_episode.half_width
    assert narrower**2 == pytest.approx(row.luck.ratio, rel=0.01)
    assert narrower > 1
    assert "Luck was subtracted from the points: " in caption([row])
    assert row.points_per_round.half_width < plain.points_per_round.half_width


def test_commands_take_luck_off_the_points(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, config: MatchConfig
) -> None:
    table = ["--aivat", "--episode", "round", "--deals", "50", "--threads", "1"]
    out = str(tmp_path / "e")
    assert evaluate_command.main(["strategist", "--against", "arnold", "--out", out, *table]) == 0
    assert "Luck was subtracted from the points: " in capsys.readouterr().out
    folder = tmp_path / "a"
    assert arena_command.main(["strategist", "arnold", "--out", str(folder), *table]) == 0
    assert "Luck was subtracted from the points, measured: without AIVAT" in capsys.readouterr().out
    kept = json.loads((folder / "tournament.json").read_text())["config"]["match"]
    network = network_for(game("millebornes"), config.rules)
    assert (kept["aivat"], kept["luck_value"]) == (True, network_digest(network))


# What cannot be ---------------------------------------------------------------------------------------------


def test_who_may_know_the_cards_to_come_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    agents = ["greedy+search:sees=all,rollouts=2", "greedy"]
    options = ["--aivat", "--deals", "2"]
    assert arena_command.main([*agents, "--allow-cheating", *options]) == 2
    assert "luck cannot be measured: leave out --aivat" in capsys.readouterr().err
    assert evaluate_command.main([agents[0], "--against", "greedy", "--out", str(tmp_path), *options]) == 2
    assert "luck cannot be measured: leave out --aivat" in capsys.readouterr().err


def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ArenaError, match="luck_value is 'x' but aivat is off"):
        MatchConfig(luck_value="x")
    with pytest.raises(OptionError, match="'wielerspel' has no value of luck, which aivat needs"):
        MatchConfig("arc_en_ciel", 4, aivat=True)


def test_a_table_without_a_network_is_told_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = r"no value of luck for 6 players in 3 teams .*train\.tools\.luck_value"
    with pytest.raises(ArenaError, match=told):
        dealt_batch(MatchConfig(players=6, aivat=True), 0, 1)
    assert arena_command.main(["arnold", "greedy", "--players", "6", "--aivat", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def save(folder: Path, layers: Layers, **changes: Any) -> None:
    FILES.save(folder, arrays_of(layers), ABOUT | changes)


def test_a_network_is_kept_and_read_back(tmp_path: Path) -> None:
    layers, at = random_layers(2, 2), (game("millebornes"), MatchConfig().rules, str(tmp_path))
    FILES.save(tmp_path, in_half_precision(arrays_of(layers)), ABOUT)
    for layer, other in zip(layers, layers_for(*at), strict=True):
        for one, read in zip(layer, other, strict=True):
            assert read.dtype == np.float32
            assert read == pytest.approx(one, abs=2e-3)
    digest = network_digest(network_for(*at))
    save(tmp_path, random_layers(2, 2, seed=9))
    assert network_digest(network_for(*at)) != digest


@pytest.mark.parametrize(
    ("break_it", "complaint"),
    [
        (lambda folder: (folder / FILES.description_file).unlink(), "holds no value of luck"),
        (lambda folder: (folder / FILES.description_file).write_text('{"format": 7}'), "has format 7"),
        (
            lambda folder: (folder / FILES.weights_file).write_bytes(b"\x09"),
            "value.safetensors' is missing or damaged",
        ),
        (lambda folder: save(folder, random_layers(4, 2)), "a layer of shape"),
        (lambda folder: save(folder, random_layers(2, 2, units=513)), "a layer of 513 units"),
        (lambda folder: save(folder, random_layers(2, 2)[:2]), "no array 'layers.2.weight'"),
        (lambda folder: save(folder, [*random_layers(2, 2)[:2], two_outputs()]), "2 outputs"),
        (lambda folder: save(folder, random_layers(2, 2), players=4), "is for 4 players"),
        (lambda folder: save(folder, with_weight(np.nan)), "weights are not finite"),
        (lambda folder: save(folder, with_weight(1.0)), "the weights of input 0 must be 0"),
    ],
)
def test_a_damaged_network_is_refused(tmp_path: Path, break_it: Any, complaint: str) -> None:
    save(tmp_path, random_layers(2, 2))
    break_it(tmp_path)
    with pytest.raises(ArenaError, match=complaint):
        network_for(game("millebornes"), MatchConfig().rules, str(tmp_path))


def two_outputs() -> tuple[Float32Array, Float32Array]:
    return np.ones((2, 4), np.float32), np.ones(2, np.float32)


def with_weight(weight: float) -> Layers:
    """Layers with a weight for input 0."""
    layers = random_layers(2, 2)
    layers[0][0][0, NOTHING] = weight
    return layers


def test_every_network_that_ships_fits_its_table() -> None:
    folders = sorted(path for path in SHIPPED.iterdir() if path.is_dir())
    assert folders
    for folder in folders:
        about = json.loads((folder / FILES.description_file).read_text())
        config = MatchConfig(about["editions"][0], about["players"], about["teams"], aivat=True)
        assert config.network() is not None
