"""One test over a table of cases, which runs them all and names those that fail."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test: for cases of microseconds, of which there are many.

    Args:
        names: of the arguments; with one name, a case is its value.
        cases: at least one. They share the test's fixtures.
    """
    named, table = ((names,) if isinstance(names, str) else names), list(cases)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def together(**fixtures: Any) -> None:
            failed: list[tuple[Any, Exception]] = []
            for case in table:
                given = dict(zip(named, (case,) if isinstance(names, str) else case, strict=True))
                try:
                    test(**given, **fixtures)
                except Exception as error:
                    failed.append((case, error))
            if failed:
                told = "\n".join(f"{case}: {type(error).__name__}: {error}" for case, error in failed)
                raise AssertionError(f"{len(failed)} of {len(table)} cases fail\n{told}") from failed[0][1]

        assert table, "no cases"
        signature = inspect.signature(test)
        rest = [one for name, one in signature.parameters.items() if name not in named]
        together.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return together

    return decorate
