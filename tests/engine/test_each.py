"""A table of cases in one test: all are tried, and those that fail are named."""

from __future__ import annotations

import inspect

import pytest

from tests.each import each


def test_every_case_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @each("sign", [1, -1])
    @each(("one", "other"), [(1, 1), (2, 3)])
    def are_equal(fixture: str, sign: int, one: int, other: int) -> None:
        tried.append((fixture, sign, one, other))
        assert sign * one == other

    assert list(inspect.signature(are_equal).parameters) == ["fixture"]
    with pytest.raises(AssertionError, match=r"2 of 2 cases failed:\nsign=1: AssertionError: 1 of 2 cases"):
        are_equal(fixture="x")
    assert tried == [("x", sign, one, other) for sign in (1, -1) for one, other in ((1, 1), (2, 3))]


def test_a_case_that_raises_nothing_where_it_should_fails() -> None:
    @each("value", ["1", "x"])
    def is_refused(value: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(value)

    with pytest.raises(AssertionError, match="1 of 2 cases failed:\nvalue='1': Failed: DID NOT RAISE"):
        is_refused()
