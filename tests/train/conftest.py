"""PyTorch takes seconds to import, which is left until a test needs it: files are collected without it."""

from __future__ import annotations

import ast
import inspect

import pytest


@pytest.fixture(autouse=True, scope="module")
def _imported(request: pytest.FixtureRequest) -> None:
    """Run the imports that a test file has under `if TYPE_CHECKING`, in its namespace."""
    for statement in ast.parse(inspect.getsource(request.module)).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            exec(
                compile(ast.Module(statement.body, []), request.module.__file__, "exec"), vars(request.module)
            )
