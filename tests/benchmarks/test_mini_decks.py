"""The table of the mini decks: digits that are proven, and where the page's bounds come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.measurements.mini_decks import PAGE, digits_of, solved
from tests.each import each

ROOT = Path(__file__).parents[2]


@each(
    ("width", "digits"),
    [(3e-10, 6), (9e-7, 6), (2e-5, 4), (0.09, 1), (0.1, 1), (0.4, 0), (500.0, 0), (0.0, 6)],
)
def test_as_many_digits_as_the_bounds_are_close(width: float, digits: int) -> None:
    assert digits_of(width) == digits


def test_the_page_has_the_bounds_that_solving_has_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    low, high = solved("mini12-v0")["between"]
    (row,) = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `mini12-v0` | +")
    ]
    value, between = row.split(" | ")[1:3]
    below, above = (float(bound) for bound in between.split(" and "))
    assert low - 0.01 < below <= low < high <= above < high + 0.01
    assert abs(float(value) - below) < 0.01 > abs(float(value) - above)
