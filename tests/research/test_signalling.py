"""Question 8: what a card tells about the hand, and what partners lose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import agents
from millebornes_env._util.files import new_figure
from millebornes_env.agents.protocol import Actions, BaseAgent, Masks, Observations
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.games.millebornes.cards import DRIVING_ACE
from research.mutual_information import conditional_bits, plug_in
from research.partners import OTHERS, PARTNER, SEEN, Partners
from research.parts import Part, Record
from research.signalling import losses, plot, tables, told_by
from research.told_cards import FEATURES, CardRecorder, bits_of_rows
from research.watching import play_watched

TEAMS = MatchConfig("parker", 4, 2, episode="round", seed=3, threads=1)


def test_bits_of_known_laws() -> None:
    rng = np.random.default_rng(1)
    given, coin = rng.integers(0, 5, 40_000), rng.integers(0, 2, 40_000)
    noise = rng.integers(0, 2, 40_000)
    assert plug_in(coin, coin, given) == pytest.approx(1.0, abs=1e-3)
    told = conditional_bits(coin, np.where(rng.random(40_000) < 0.11, 1 - coin, coin), given, 19, rng)
    assert told.bits == pytest.approx(
        0.5, abs=0.02
    )  # a channel that turns 11 % of the bits round carries half a bit
    assert told.p == pytest.approx(1 / 20)
    assert conditional_bits(coin, noise, given, 19, rng).p > 1 / 20
    assert conditional_bits(coin, (coin + given) % 2, given, 5, rng).bits == pytest.approx(1.0, abs=0.01)


def test_the_bias_is_taken_off_where_strata_are_many() -> None:
    rng = np.random.default_rng(2)
    told, about, given = (rng.integers(0, size, 3_000) for size in (8, 5, 150))
    result = conditional_bits(told, about, given, 30, rng)
    assert result.bias > 0.5
    assert abs(result.bits) < 0.03


def rows_of_play(rounds: int, agent: str = "random") -> dict[str, Any]:
    watcher = CardRecorder()
    play_watched(
        [agent, agent], MatchConfig("parker", 4, 2, "round", 3, plain=True, threads=1), rounds, watcher
    )
    return watcher.sample(np.random.default_rng(6))


def test_a_convention_is_found_and_chance_is_not() -> None:
    rows = rows_of_play(300)
    chosen = rows["discarded"] == 1
    rows = {name: values[chosen] for name, values in rows.items()}
    rng = np.random.default_rng(7)
    by_chance = bits_of_rows({**rows, "told": rng.integers(0, 8, chosen.sum())}, 19, rng)
    holds = np.minimum(rows["hand"][:, DRIVING_ACE:].sum(axis=1), 1)
    agreed = bits_of_rows({**rows, "told": 3 + holds}, 19, rng)
    for name in FEATURES:
        assert abs(by_chance[name]["told"]) < 4 * by_chance[name]["error"] + 0.01
    assert agreed["safeties"]["told"] > 0.3
    assert agreed["safeties"]["p"] == pytest.approx(1 / 20)
    assert agreed["rolls"]["told"] < 0.1


class Recorder(BaseAgent):
    """Plays as another agent does, and keeps the rows that it was shown."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inner = agents.make(name, TEAMS.table(), 1)
        self.rows: list[Observations] = []

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        self.rows.append(observations.copy())
        return self.inner.act(observations, action_masks)


@pytest.mark.parametrize("hides", [PARTNER, OTHERS])
def test_hidden_discards_keep_the_numbers_of_cards(hides: str) -> None:
    table = TEAMS.table()
    blind, seeing = Recorder("greedy"), Recorder("greedy")
    play([Partners(table, (blind, blind), hides), "greedy"], TEAMS, 6)
    play([Partners(table, (seeing, seeing), SEEN), "greedy"], TEAMS, 6)
    changed = 0
    for rows in blind.rows:
        pile, unseen = table.section(rows, "discard_pile"), table.section(rows, "unseen")
        assert (pile >= 0).all()
        assert (unseen >= 0).all()
        held = table.section(rows, "hand_counts")[:, 1:].sum(axis=1) + table.section(rows, "draw_pile")[:, 0]
        np.testing.assert_array_equal(unseen.sum(axis=1), held)
        assert (pile[:, DRIVING_ACE:] == 0).all()
    first = next(
        place for place, rows in enumerate(blind.rows) if not np.array_equal(rows, seeing.rows[place])
    )
    before, after = seeing.rows[first], blind.rows[first]
    differs = (before != after).any(axis=1)
    changed = int(differs.sum())
    assert changed > 0
    piles = [table.section(rows, "discard_pile")[differs].sum(axis=1) for rows in (before, after)]
    np.testing.assert_array_equal(*piles)


def test_strength_is_no_loss_of_partners() -> None:
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(4, 400))
    points = {
        ("a", "a", SEEN): 100 + noise[0],
        ("b", "b", SEEN): noise[1],
        ("a", "b", SEEN): 50 - 20 + noise[2],
        ("b", "a", SEEN): 50 - 20 + noise[3],
        ("a", "a", PARTNER): 100 - 7 + noise[0],
    }
    result = losses(points)
    assert result["a with b"].mean == pytest.approx(20, abs=0.3)
    assert result["a, not seeing the partner's"].mean == pytest.approx(7)
    assert result["a, not seeing the partner's"].half_width == pytest.approx(0, abs=1e-9)


def bits_record(seed: int, told: float) -> Record:
    found = {"told": told, "redealt": 0.01, "error": 0.003, "bits": told, "bias": 0.0, "p": 0.05}
    result = {"discard": {"rows": 100, **dict.fromkeys(FEATURES, found)}}
    return Record(Part(f"bits-0-{seed}", seed, {"kind": "bits", "agent": "a"}), result, 1.0, 1.0)


def pair_record(one: str, other: str, hides: str, points: list[float]) -> Record:
    config = {"kind": "pair", "agents": [one, other], "hides": hides, "opponent": "arnold"}
    return Record(Part(f"pair-{one}-{other}-{hides}", 1, config), {"points": points}, 1.0, 1.0)


def test_seeds_are_taken_together_in_tables_and_picture() -> None:
    records = [bits_record(1, 0.02), bits_record(2, 0.04)]
    result = told_by(records)["a", "discard"]
    assert result["rows"] == 200
    assert result["safeties"]["told"] == pytest.approx(0.03)
    assert result["safeties"]["error"] == pytest.approx(0.003 / np.sqrt(2))
    records += [pair_record("a", "a", SEEN, [10.0, 12.0]), pair_record("a", "a", PARTNER, [4.0, 6.0])]
    bits, points, lost = tables(records)
    assert bits.rows[0][3].startswith("+0.0300 ± 0.0042 (0.0100)")
    assert points.rows[0][1].startswith("+11.0")
    assert lost.rows == (("a, not seeing the partner's", "+6.0 ± 0.0"),)
    figure = new_figure(8.0, 4.5)
    plot(figure, records)
    assert len(figure.axes) == 2
    assert len(tables(records[:2])) == 1  # a run that was stopped after the bits
