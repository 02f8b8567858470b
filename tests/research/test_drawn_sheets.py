"""Drawn rule sheets: 5,000 played with every law checked, criteria of playable ones, solved mini sheets."""

from __future__ import annotations

import pytest

from millebornes_env.errors import ConformanceError, SolvingError
from millebornes_env.games.millebornes.variants import DRAWN, MINI_TRAIN, drawn_split, frozen_numbers
from millebornes_env.solving.minis import SolvedSheet, solved_sheets, text_of_file
from research.measurements import variants
from research.measurements.variants import faults_of_play, play_task, solved_sheet

TASKS = [(name, first) for name, split in DRAWN.items() if split < MINI_TRAIN for first in (0, 500)]


@pytest.mark.parametrize(
    ("name", "first"), [*TASKS, ("variants-v1:train", 1000), ("variants-v1:train", 1500)]
)
def test_5000_drawn_sheets_are_played_and_break_no_law(name: str, first: int) -> None:
    decisions = play_task(drawn_split(name, DRAWN[name]), first)
    assert decisions["random"] > decisions["greedy"] > 15_000


def test_a_round_that_does_not_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_decision(*arguments: object) -> None:
        results = arguments[-1]
        results[3] = 1  # type: ignore[index] # an array

    monkeypatch.setattr(variants, "play_rounds", one_decision)
    with pytest.raises(ConformanceError, match="1 rounds do not end"):
        play_task(drawn_split("variants-v1:train", 0), 0)


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("parker", []),
        ("parker+target=2000+extended_target=0", ["trips"]),
        ("parker+copies_of_accident=0+copies_of_stop=0+copies_of_flat_tire=0+copies_of_out_of_gas=0"
         "+copies_of_speed_limit=0", ["hazards"]),
        ("parker+copies_of_driving_ace=0+copies_of_extra_tank=0+copies_of_puncture_proof=0"
         "+copies_of_right_of_way=0+points_all_safeties=0", ["safeties"]),
    ],
)  # fmt: skip
def test_what_a_full_sheet_must_have(name: str, faults: list[str]) -> None:
    assert faults_of_play(name) == faults


def test_what_a_mini_sheet_must_have() -> None:
    name = "mini-variants-v1:train"
    drawn, kept = drawn_split("drawn-v1:all", MINI_TRAIN), set(frozen_numbers()[name].tolist())
    for number in range(40):
        solved, faults = solved_sheet(drawn.sheet(number))
        assert (solved is not None) == (number in kept) == (not faults)
    assert len(kept & set(range(40))) < 40


@pytest.mark.parametrize("number", range(0, 200, 20))
def test_solutions_are_those_of_the_sheets(number: int) -> None:
    for split in ("mini-variants-v1:train", "mini-variants-v1:test"):
        assert solved_sheet(f"{split}/{number}")[0] == solved_sheets(split)[number]


def test_there_is_a_solution_of_every_frozen_sheet() -> None:
    assert len(solved_sheets("mini-variants-v1:train")) == 800
    assert len(solved_sheets()) == 200
    assert all(one.uniform > 0 and one.payoffs[0] <= one.value <= one.payoffs[1] for one in solved_sheets())


def test_a_file_of_another_version_is_refused(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    text = text_of_file({"mini-variants-v1:test": [SolvedSheet(1.5, 2.5, (-100, 200), (30, 40), 99)]})
    file = tmp_path / "minis.json"
    monkeypatch.setattr("millebornes_env.solving.minis.FILE", file)
    file.write_text(text, encoding="utf-8")
    assert solved_sheets() == [SolvedSheet(1.5, 2.5, (-100, 200), (30, 40), 99)]
    with pytest.raises(SolvingError, match=r"no solutions of 'variants-v1:train'.*mini-variants-v1:test"):
        solved_sheets("variants-v1:train")
    file.write_text(text.replace('mini-variants-v1"', 'mini-variants-v0"'), encoding="utf-8")
    with pytest.raises(SolvingError, match="mini-variants-v0"):
        solved_sheets()
