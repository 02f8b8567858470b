"""Skips the tests that import it where the extra `study` is not installed."""

from __future__ import annotations

import pytest

for library in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(library, reason=f"no {library}: pip install -e '.[study]'")
