"""PyTorch takes seconds to import, which is left until a test needs it: files are collected without it."""

from __future__ import annotations

import ast
import inspect
import sys

import pytest

import train  # noqa: F401 - says how long threads of OpenMP spin, before PyTorch loads it


@pytest.fixture(autouse=True, scope="module")
def _imported(request: pytest.FixtureRequest) -> None:
    """Run the imports that a test file has under `if TYPE_CHECKING`, in its namespace.

    PyTorch gets one thread: for small networks, threads wait for each other longer than they work.
    """
    for statement in ast.parse(inspect.getsource(request.module)).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            imports = compile(ast.Module(statement.body, []), str(request.path), "exec")
            exec(imports, vars(request.module))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
