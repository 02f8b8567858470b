"""Intervals: their texts, and what several of them have in common."""

from __future__ import annotations

import math

import numpy as np
import pytest

from millebornes_env.arena.intervals import (
    Interval,
    mean_interval,
    mean_of_ratios,
    ratio_interval,
    standard_error,
)


def test_an_interval_as_text() -> None:
    assert Interval(0.534, 0.52, 0.546).text(".1f", 100) == "53.4 ± 1.4"
    assert Interval(-12.0, -20.0, -4.0).text("+z,.0f", ends=True) == "-12 ± 8 [-20, -4]"
    assert Interval(5.0, None, None).text("+.0f", ends=True) == "+5"


def test_the_half_width_reaches_to_the_farther_end() -> None:
    assert Interval(0.9, 0.7, 1.0).half_width == pytest.approx(0.2)
    assert Interval(0.9, None, None).half_width == math.inf


def test_a_ratio_over_blocks_of_one_size_is_their_mean() -> None:
    blocks = np.array([3.0, -1.0, 4.0, 2.5])
    ratio, mean = ratio_interval(blocks, np.ones(4)), mean_interval(blocks)
    assert tuple(ratio) == pytest.approx(tuple(mean))
    assert mean.half_width == pytest.approx(1.96 * standard_error(blocks))
    assert mean_of_ratios([(blocks, np.ones(4))] * 3) == pytest.approx(ratio)
