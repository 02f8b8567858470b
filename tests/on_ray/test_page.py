"""The example of docs/rllib.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.on_ray.conftest import LocalCluster

pytestmark = pytest.mark.ray
PAGE = Path(__file__).parents[2] / "docs" / "rllib.md"


@pytest.mark.filterwarnings("ignore")  # RLlib's own
def test_the_example_runs(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/rllib.md", "exec"), names)
    assert "RLlibEnv" in names
