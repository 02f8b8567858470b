"""Every notebook runs from top to bottom, and the outputs that are committed with it are fit to be read.

The tests run a notebook in its short form, if it has one: it looks for `SHORT_FORM` in its environment.
`python tests/test_notebooks.py` runs all of them at full length and puts the new outputs in the place of the
old ones; `python tests/test_notebooks.py 02` only those whose names begin with 02.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
assert NOTEBOOKS
SHORT_FORM = "MILLEBORNES_SHORT_NOTEBOOKS"
SHORTER = {
    "01_first_round": {"seconds=0.25": "seconds=0.005", "deals=2000": "deals=60", "deals=200)": "deals=60)"}
}
"""Text in a notebook without a short form, and its replacement in tests."""
PICTURES_AT_MOST = 200_000  # bytes of a notebook's pictures as they are written, in base64

# A path of the machine where the notebook was run: of a user, of a build, of a temporary folder.
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:home|root|Users|work|tmp|private|var|opt|mnt)/|[A-Za-z]:\\)")


def kernel_of_this_interpreter() -> Any:
    """A manager that starts the interpreter that runs the tests, whatever kernels the machine has."""
    from ipykernel.kernelspec import get_kernel_dict  # noqa: PLC0415
    from jupyter_client.kernelspec import KernelSpec  # noqa: PLC0415
    from jupyter_client.manager import AsyncKernelManager  # noqa: PLC0415

    class Manager(AsyncKernelManager):
        """Starts the kernel `python3` as ipykernel would register it from here."""

        kernel_spec = property(lambda _self: KernelSpec(**get_kernel_dict()))

    return Manager


def run(path: Path, folder: Path, *, short: bool) -> Any:
    """Run a copy of the notebook with the folder as working directory; IPython's own files go there, too.

    Args:
        path: of the notebook.
        folder: an empty one.
        short: whether it is to take its short form.

    Returns:
        The copy, with its outputs.

    Raises:
        CellExecutionError: a cell raised an exception.
    """
    import nbformat  # noqa: PLC0415 - with nbclient, takes a second
    from nbclient import NotebookClient  # noqa: PLC0415

    notebook = nbformat.read(path, as_version=4)
    for long, quick in SHORTER.get(path.stem, {}).items() if short else ():
        assert any(long in cell.source for cell in notebook.cells), f"{path.name} has no {long!r} any more"
        for cell in notebook.cells:
            cell.source = cell.source.replace(long, quick)
    unwanted = ("NUMBA_DISABLE_JIT", SHORT_FORM)
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython")}
    if short:
        environment[SHORT_FORM] = "1"
    NotebookClient(
        notebook,
        timeout=SECONDS_OF_A_HANG,
        startup_timeout=SECONDS_OF_A_HANG,
        kernel_name="python3",
        kernel_manager_class=kernel_of_this_interpreter(),
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    ).execute(env=environment)
    return notebook


def outputs_of(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", [])


def text_of(output: Any) -> str:
    """All that is not a picture."""
    data = {kind: value for kind, value in output.get("data", {}).items() if not kind.startswith("image/")}
    return "\n".join([output.get("text", ""), *output.get("traceback", []), *map(str, data.values())])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = run(path, tmp_path, short=True)
    assert [output for output in outputs_of(notebook) if output.output_type == "error"] == []
    assert [text_of(output) for output in outputs_of(notebook) if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_committed_outputs_are_clean(path: Path) -> None:
    import nbformat  # noqa: PLC0415

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run it from the top"
    assert any(output.output_type == "display_data" for output in outputs_of(notebook))
    for output in outputs_of(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", text_of(output)
        assert not MACHINE_PATH.search(text_of(output)), text_of(output)
    pictures = [output.get("data", {}).get("image/png", "") for output in outputs_of(notebook)]
    assert sum(map(len, pictures)) < PICTURES_AT_MOST


def renew_outputs(names: list[str]) -> None:
    """Run notebooks and write them back with their outputs and nothing else that a run leaves behind.

    Args:
        names: beginnings of the names of those to run; none: all of them.
    """
    import nbformat  # noqa: PLC0415

    for path in NOTEBOOKS:
        if names and not path.name.startswith(tuple(names)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            notebook = run(path, Path(folder), short=False)
        for cell in notebook.cells:
            cell.metadata = {}
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    renew_outputs(sys.argv[1:])
