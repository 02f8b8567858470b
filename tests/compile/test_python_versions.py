"""What the package says that it runs with: classifiers, ranges, and the script that tries them."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.compile.python_versions import (
    NEED_MORE,
    RUNS,
    TESTS,
    TESTS_OF_TRAINING,
    VersionsError,
    floor_of,
    interpreter,
    lowest,
    page,
    requirements,
)

ROOT = Path(__file__).parents[2]
EXTRAS = ("arena", "data", "train", "textarena")
THIS = ".".join(map(str, sys.version_info[:2]))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [line.split("==") for line in lines if "==" in line]
    return {name.lower().replace("_", "-"): version for name, version in found}


def test_every_python_that_is_promised_is_run(project: dict[str, Any]) -> None:
    promised = [re.fullmatch(r".*:: (3\.\d+)", one) for one in project["classifiers"]]
    versions = {found[1] for found in promised if found}
    assert versions == {run.python for run in RUNS.values()}
    admitted = SpecifierSet(project["requires-python"])
    assert all(version in admitted for version in versions)
    first = min(versions, key=lambda version: int(version.partition(".")[2]))
    assert {run.python for run in RUNS.values() if run.is_lowest} == {first}
    assert f"3.{int(first.partition('.')[2]) - 1}.99" not in admitted


def test_every_range_has_a_lower_bound_that_the_pins_respect(project: dict[str, Any]) -> None:
    exact = pins()
    for one in requirements(project, EXTRAS):
        floor = floor_of(one)
        assert floor in one.specifier
        pinned = exact.get(one.name.lower().replace("_", "-"))
        if one.name != "textarena":  # whose libraries conflict with others of ours
            assert pinned is not None, one.name
            assert pinned in one.specifier


def test_what_is_installed_with_the_lowest_versions(project: dict[str, Any]) -> None:
    found = lowest(project, ["data"])
    assert "numpy==2.0" in found
    assert any(line.startswith("tyro==") for line in found), "of the extra `arena`, which `data` includes"
    assert not any(line.startswith("torch==") for line in found)
    with pytest.raises(VersionsError, match="rich has no lower bound"):
        floor_of(Requirement("rich"))


def test_the_tests_that_are_run_are_there() -> None:
    chosen = {*TESTS, *NEED_MORE, *TESTS_OF_TRAINING}
    assert not [name for name in chosen if not (ROOT / "tests" / name.partition("::")[0]).exists()]


def test_interpreters_are_found_or_asked_for() -> None:
    with pytest.raises(VersionsError, match=r"no Python 2\.99 is found .* --python 2\.99=/path/of/python"):
        interpreter("2.99")
    assert interpreter(THIS, [f"{THIS}={sys.executable}"]) == Path(sys.executable)
    for named in (f"2.99={sys.executable}", "2.99=no/such/python"):
        with pytest.raises(VersionsError, match=r"is no Python 2\.99"):
            interpreter("2.99", [named])


def test_the_page_tells_what_ran() -> None:
    result = {
        "run": "lowest",
        "python": "3.11.7",
        "libraries": {"numpy": "2.0.0"},
        "passed": 1234,
        "failed": 0,
        "skipped": 5,
        "seconds": 60,
    }
    (row,) = [line for line in page([result]).splitlines() if line.startswith("| lowest ")]
    assert row.startswith("| lowest | 3.11.7 | 2.0.0 | - |")
    assert row.endswith("| 1,234 | 0 | 5 | 60 |")
    assert f"Not run yet: {', '.join(name for name in RUNS if name != 'lowest')}." in page([result])
    assert "Not run yet" not in page([{**result, "run": name} for name in RUNS])
