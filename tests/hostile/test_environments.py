"""Every argument of the environments with every hostile value: refused in words, or fine and sound."""

from __future__ import annotations

from tests.hostile import vector
from tests.hostile.table import Argument, each, judge_all


@each(vector.ARGUMENTS)
def test_a_hostile_call_of_an_environment(argument: Argument) -> None:
    judge_all(argument)
