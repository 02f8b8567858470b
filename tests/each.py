"""Run one test over many small cases."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from millebornes_env.errors import shown

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Turn a test of one case into one test of all cases, whose failure names every case that fails.

    Use it like `pytest.mark.parametrize` where a case takes microseconds: collecting and reporting thousands
    of tests costs more than running them. All cases share the test's fixtures.

    Args:
        names: Names of the parameters that make a case, in a tuple or separated by commas.
        cases: The values: one for a single name, otherwise a tuple for each case.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows = [(case,) if isinstance(names, str) and len(parameters) == 1 else case for case in cases]
    assert rows, f"no cases for {names}"

    def decorate(test: Test) -> Test:
        @functools.wraps(test, updated=())
        def run_all(**fixtures: Any) -> None:
            failed: list[tuple[str, BaseException]] = []
            for row in rows:
                case = dict(zip(parameters, row, strict=True))
                try:
                    test(**case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(
                        (", ".join(f"{name}={shown(value)}" for name, value in case.items()), error)
                    )
            if failed:
                lines = [f"{case}: {type(error).__name__}: {error}" for case, error in failed]
                message = f"{len(failed)} of {len(rows)} cases failed:\n" + "\n".join(lines)
                raise AssertionError(message) from failed[0][1]

        signature = inspect.signature(test)
        kept = [value for name, value in signature.parameters.items() if name not in parameters]
        run_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        run_all.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        del run_all.__wrapped__  # pytest would look for the fixtures of the wrapped test
        return run_all

    return decorate
