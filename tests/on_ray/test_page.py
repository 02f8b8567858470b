"""The example of docs/environment/libraries.md runs as it stands there."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("ray")

from tests.on_ray.conftest import LocalCluster
from tests.pages import section_of

pytestmark = pytest.mark.ray
PAGE = section_of("docs/environment/libraries.md", "RLlib and Ray clusters")


@pytest.mark.filterwarnings("ignore")  # RLlib's own
def test_the_example_runs(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/environment/libraries.md", "exec"), names)
    assert "RLlibEnv" in names
