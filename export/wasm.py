"""The kernels as a WebAssembly module: `make web` writes it and the page's data into one folder.

    engine.wasm         the kernels of `page_kernels`; it imports only `IMPORTS`
    engine.json         the kernels' calling conventions (`module.Kernel`), the layout of records, and the
                        words of the game: cards, actions, tables, agents, reasons (`page_data`)
    NAME.bin            the weights of a champion's network, rounded to 8 bits (`page_data.network_file`)

Records, arrays and functions are passed by address: `mb_address_of_NAME` returns a function's index in the
module's table, which `engine.numba.compiling.call_at` calls in WebAssembly. `engine.json` has a digest of all
sources, which `stale` compares.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from export.build import ROOT, compile_apart
from export.platforms import ExportError, Platform, object_code
from millebornes_env._util.files import write_bytes_atomically

FOLDER: Final = ROOT / "millebornes_env" / "play" / "web" / "engine"
"""Folder of the built files in a checkout."""

MODULE_FILE: Final = "engine.wasm"
DATA_FILE: Final = "engine.json"
FORMAT: Final = 1
"""Version of both files; the page reads this version only."""

ADDRESS_OF: Final = "mb_address_of_"

WASM: Final = Platform(
    triple="wasm32-unknown-unknown",
    cpu="generic",
    relocation="static",
)
"""WebAssembly without vectors, with which LLVM 22 cannot compile the sets of
`millebornes_env.engine.numba.simd` ("SETCC operands must have the same type")."""

IMPORTS: Final = ("expf", "tanhf")
"""Functions of a float32 that the module imports from its host, for networks that sample or use tanh."""

_STACK: Final = 1 << 20
"""Bytes of the stack; networks and agents keep arrays of some kB there."""

_SOURCES: Final = ("millebornes_env", "export")
_NOT_COMPILED: Final = tuple(
    f"millebornes_env/{folder}/"
    for folder in (
        *("arena", "cli", "engine/numba/machine_code", "envs", "games/wielerspel", "testing"),
        *("play/language", "play/study", "play/terminal", "play/web/engine"),
    )
)
"""Folders of the package that do not affect the built files."""
_SUFFIXES: Final = (".py", ".toml", ".safetensors", ".json")
_TOOLS: Final = ("numba", "llvmlite", "numpy", "ziglang")


# Are the files up to date? ---------------------------------------------------------------------------------


@functools.cache
def digest() -> str:
    """Return a digest, 16 hexadecimal digits, of all sources of the built files."""
    result = hashlib.sha256()
    for folder in _SOURCES:
        for file in sorted((ROOT / folder).rglob("*")):
            path = file.relative_to(ROOT).as_posix()
            if file.suffix in _SUFFIXES and not path.startswith(_NOT_COMPILED):
                result.update(path.encode())
                result.update(file.read_bytes())
    return result.hexdigest()[:16]


def _versions() -> dict[str, str]:
    """Return the versions of the installed build tools."""
    result = {}
    for tool in _TOOLS:
        with contextlib.suppress(PackageNotFoundError):
            result[tool] = version(tool)
    return result


def stale(folder: Path = FOLDER) -> str:
    """Return the reason why the built files of a folder are out of date; empty if they are not."""
    try:
        made = json.loads((folder / DATA_FILE).read_text(encoding="utf-8"))
        if made["source_digest"] != digest():
            return "they were built from other sources"
        for tool, now in _versions().items():
            if made["made_with"][tool] != now:
                return f"they were built with {tool} {made['made_with'][tool]}, and {now} is installed"
        for name, known in made["files"].items():
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != known:
                return f"{name} is not the file that was built"
    except FileNotFoundError as error:
        return f"there is no {Path(str(error.filename)).name}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{DATA_FILE} cannot be read: {error}"
    return ""


# Building them ---------------------------------------------------------------------------------------------


def build(folder: Path = FOLDER) -> list[Path]:
    """Compile the kernels and write all files; the old ones stay if this fails.

    Returns:
        The files.

    Raises:
        subprocess.CalledProcessError: it failed; the reason stands on stderr.
    """
    compile_apart("export.wasm", "--compile-into", os.path.abspath(folder))
    return sorted(file for file in folder.iterdir() if file.is_file())


def linked(text: str, kernels: list[str], functions: list[str]) -> bytes:
    """Compile and link an LLVM module as a WebAssembly module.

    Args:
        text: the text of `module.module_of`.
        kernels: names of all kernels in it.
        functions: names of the kernels that are called by address.

    Raises:
        ExportError: the linker fails, for example because a kernel calls a function that is not in `IMPORTS`.
    """
    addresses = "".join(
        f"define i64 @{ADDRESS_OF}{name}() {{\n  ret i64 ptrtoint (ptr @numba_{name} to i64)\n}}\n"
        for name in functions
    )
    code = object_code(text + addresses, WASM)
    exported = [f"mb_{name}" for name in kernels] + [ADDRESS_OF + name for name in functions]
    options = ["--no-entry", "--gc-sections", "--strip-all", "-O2", "--stack-first"]
    options += ["-z", f"stack-size={_STACK}", "--export=__heap_base", "--allow-undefined-file=imports.txt"]
    with tempfile.TemporaryDirectory() as place:
        Path(place, "kernels.o").write_bytes(code)
        Path(place, "imports.txt").write_text("\n".join(IMPORTS), encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "wasm-ld", *options]
        command += [f"--export={name}" for name in exported]
        done = subprocess.run(
            [*command, "-o", MODULE_FILE, "kernels.o"], cwd=place, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ExportError(f"the kernels cannot be linked for WebAssembly: {done.stderr.strip()}")
        return Path(place, MODULE_FILE).read_bytes()


def _compile_into(folder: Path) -> None:
    # Imported in the new process only: Numba reads its environment when it is imported.
    from export import page_data, page_kernels  # noqa: PLC0415
    from export.module import module_of  # noqa: PLC0415

    print("compiling the kernels for WebAssembly (a minute or two) ...", file=sys.stderr, flush=True)
    module = module_of(page_kernels.examples())
    names = list(module.kernels)
    functions = [*page_kernels.agents_of(page_kernels.table_of("parker", 2, None)), page_kernels.NETWORK]
    files: dict[str, bytes] = {MODULE_FILE: linked(module.text, names, functions)}
    data: dict[str, Any] = {
        "format": FORMAT,
        "source_digest": digest(),
        "made_with": _versions(),
        "kernels": {name: how._asdict() for name, how in module.kernels.items()},
    }
    described, weights = page_data.described()
    files |= weights
    data |= described
    write_files(folder, files, data)


def write_files(folder: Path, files: Mapping[str, bytes], data: Mapping[str, Any]) -> None:
    """Write the built files, and remove those of an earlier build with other names.

    Args:
        folder: output folder.
        files: all files but `engine.json`, by name.
        data: contents of `engine.json`; the digests of the files are added.
    """
    before = _names_of(folder)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    text = json.dumps({**data, "files": digests}, ensure_ascii=False, separators=(",", ":")) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, DATA_FILE: text.encode()}.items():  # engine.json last: it names the others
        write_bytes_atomically(folder / name, content)
        print(f"{name}: {len(content):,} bytes", file=sys.stderr)
    for name in before - set(files):
        (folder / Path(name).name).unlink(missing_ok=True)


def _names_of(folder: Path) -> set[str]:
    """Return the names of the files in the folder's `engine.json`, if there is one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        made = json.loads((folder / DATA_FILE).read_text(encoding="utf-8"))
        return {str(name) for name in dict(made["files"])}
    return set()


def main(arguments: list[str] | None = None) -> int:
    """Build the files, or check if they are up to date."""
    parser = argparse.ArgumentParser(prog="python -m export.wasm", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="output folder (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="only check if the files are up to date")
    parser.add_argument("--compile-into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.compile_into is not None:
        _compile_into(given.compile_into)
        return 0
    if given.check:
        reason = stale(given.folder)
        print(
            f"{given.folder}: {reason or 'built from these sources'}" + ("; run make web" if reason else "")
        )
        return 1 if reason else 0
    if not stale(given.folder):
        print(f"{given.folder} was built from these sources already")
        return 0
    missing = [tool for tool in _TOOLS if tool not in _versions()]
    if missing:
        print(
            f"{', '.join(missing)} must be installed: pip install --group wheel, or run make web",
            file=sys.stderr,
        )
        return 2
    build(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
