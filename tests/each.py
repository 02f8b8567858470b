"""One test for a table of cases: all are tried, and those that fail are named.

    @each("name", ["parker", "dutch"])
    def test_the_target_ends_the_round(name: str) -> None: ...

As `pytest.mark.parametrize`, but one test for all cases: where a case takes microseconds, making and
reporting a test of each takes most of the time. Fixtures are made once for all cases.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from millebornes_env.errors import shown

Test = Callable[..., None]


def each(names: str | Iterable[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test for each case; several of these decorators multiply.

    Args:
        names: of the parameters, as `pytest.mark.parametrize` takes them.
        cases: a value for one name, values for several.
    """
    given = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
    table = [(case,) if len(given) == 1 else tuple(case) for case in cases]
    assert table, "a table without cases tests nothing"
    assert all(len(case) == len(given) for case in table)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def call(**fixtures: Any) -> None:
            failed = []
            for case in table:
                values = dict(zip(given, case, strict=True))
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    named = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
                    failed.append((f"{named}: {type(error).__name__}: {error}", error))
            if failed:
                told = "\n".join(line for line, _ in failed)
                raise AssertionError(f"{len(failed)} of {len(table)} cases failed:\n{told}") from failed[0][1]

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in given]
        call.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return call

    return decorate
