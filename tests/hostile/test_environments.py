"""Every argument of the environments with every hostile value: refused in words, or fine and sound."""

from __future__ import annotations

import pytest

from tests.hostile import vector
from tests.hostile.table import Argument, cases, judge


@pytest.mark.parametrize(("argument", "value"), cases(vector.ARGUMENTS))
def test_a_hostile_call_of_an_environment(argument: Argument, value: str) -> None:
    judge(argument, value)
