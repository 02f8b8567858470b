"""The package as a whole: what an import costs, the version, the public names, layouts of records."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import millebornes_env
from millebornes_env.errors import EditionError, GameError
from millebornes_env.games.millebornes.rules import RULES, Rules
from millebornes_env.games.millebornes.state import STATE, State
from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).resolve().parents[1]
FIRST_LINES = (
    (ROOT / "millebornes_env" / "__init__.py")
    .read_text(encoding="utf-8")
    .partition("\nimport gymnasium\n")[0]
)
"""The checks of the package before it imports anything of its own."""
RECORDS = {"STATE": STATE, "RULES": RULES}

records = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)


def output_of(program: str) -> str:
    """Return the output of a fresh interpreter."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=SECONDS_OF_A_HANG
    )
    return done.stdout.strip()


def test_an_import_brings_no_library_of_the_extras() -> None:
    extras = [
        "torch",
        "stable_baselines3",
        "sb3_contrib",
        "matplotlib",
        "tyro",
        "rich",
        "tqdm",
        "safetensors",
    ]
    imports = "import sys, millebornes_env, millebornes_env.testing"
    program = f"{imports}; print([name for name in {extras} if name in sys.modules])"
    assert output_of(program) == "[]"


def test_the_version_is_that_of_the_installed_package(tmp_path: Path) -> None:
    """Shown with an installation that says so; the checkout itself may be installed or not."""
    installed = tmp_path / "millebornes_env-9.8.7.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.4\nName: millebornes-env\nVersion: 9.8.7\n")
    program = (
        "import sys; sys.path.insert(0, {!r}); import millebornes_env; print(millebornes_env.__version__)"
    )
    assert output_of(program.format(str(tmp_path))) == "9.8.7"


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = list(metadata.distributions(name=project["name"]))
    assert millebornes_env.__version__ == (project["version"] if installed else "0+unknown")


def test_the_sheets_of_all_games_are_found_by_their_names() -> None:
    race = millebornes_env.edition("arc_en_ciel+target_rainbows=5")
    assert (race.game, race.table(4).target_rainbows) == ("wielerspel", 5)
    assert millebornes_env.edition(race) is race
    assert isinstance(millebornes_env.edition("parker"), millebornes_env.Edition)
    assert "parker" in millebornes_env.editions()
    assert millebornes_env.editions("wielerspel") == ("arc_en_ciel",)
    assert millebornes_env.editions(None) == (*millebornes_env.editions(), "arc_en_ciel")
    with pytest.raises(GameError, match="there is no game 'chess'; the games are: millebornes"):
        millebornes_env.editions("chess")
    with pytest.raises(EditionError, match="Of other games: arc_en_ciel"):
        millebornes_env.edition("ducth")


@records
def test_records_have_no_padding(record: np.dtype[np.void]) -> None:
    """So that equal games are equal bytes."""
    assert record.names is not None
    assert record.itemsize == sum(record[name].itemsize for name in record.names)


@records
def test_fields_do_not_hide_behind_attributes_of_numpy(record: np.dtype[np.void]) -> None:
    """`state.round` would be NumPy's method in plain Python and the field where it is compiled."""
    taken = set(dir(np.void)) | set(dir(np.record)) | set(dir(np.recarray))
    assert "round" in taken
    assert not set(record.names or ()) & taken


def test_the_types_name_the_fields_that_there_are() -> None:
    assert set(State.__annotations__) == set(STATE.names or ())
    fields = [name for name in Rules._fields if not name.startswith("copies_of_")]
    assert RULES.names == (*fields, "deck", "observed")
    assert {"deck", "observed"} <= vars(Rules).keys()


def test_import_names_the_python_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first lines of the package, as an old Python would read them."""
    monkeypatch.setattr(sys, "version_info", (3, 10, 9))
    with pytest.raises(ImportError, match=r"needs Python 3\.11 or newer, and this is"):
        exec(compile(FIRST_LINES, "millebornes_env/__init__.py", "exec"), {})


def test_import_says_how_to_get_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"needs Numba.*pip install numba"):
        exec(compile(FIRST_LINES, "millebornes_env/__init__.py", "exec"), {})
