"""The kernels as a WebAssembly module: `make web` puts it, and what a page must know of it, into one folder.

    engine.wasm         the kernels of `page_kernels`; it asks its host for `IMPORTS` alone
    engine.json         how they are called (`module.Kernel`), the layout of records, and all words of the
                        game: cards, actions, editions and their tables, agents, reasons (`page_data`)
    NAME.bin            the weights of a champion's network, rounded to 8 bits (`page_data.network_file`)

A record, an array or a function has an address in all of it: of functions, `mb_address_of_NAME` gives the
place in the module's table, which is what `engine.numba.compiling.call_at` calls in WebAssembly.
`engine.json` carries the digest of all sources: `stale` compares it.
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
"""Of both files; the engine in the page reads one only."""

ADDRESS_OF: Final = "mb_address_of_"

WASM: Final = Platform(
    triple="wasm32-unknown-unknown",
    cpu="generic",
    relocation="static",
)
"""Without WebAssembly's vectors: LLVM 22 cannot compile sets of numbers (`millebornes_env.engine.numba.simd`)
with them ("SETCC operands must have the same type")."""

IMPORTS: Final = ("expf", "tanhf")
"""Functions of a float32 that the module imports from its host, for networks that sample or use tanh."""

_STACK: Final = 1 << 20
"""Bytes; networks and agents lay arrays of some kB on it."""

_SOURCES: Final = ("millebornes_env", "export")
_NOT_COMPILED: Final = tuple(
    f"millebornes_env/{folder}/"
    for folder in ("arena", "cli", "engine/numba/machine_code", "envs", "games/wielerspel", "play", "testing")
)
"""Folders of which nothing comes into the built files."""
_SUFFIXES: Final = (".py", ".toml", ".safetensors", ".json")
_TOOLS: Final = ("numba", "llvmlite", "numpy", "ziglang")


# Whether the files are those of the sources ----------------------------------------------------------------


@functools.cache
def digest() -> str:
    """Sixteen hexadecimal digits that change with any source of the built files."""
    found = hashlib.sha256()
    for folder in _SOURCES:
        for file in sorted((ROOT / folder).rglob("*")):
            path = file.relative_to(ROOT).as_posix()
            if file.suffix in _SUFFIXES and not path.startswith(_NOT_COMPILED):
                found.update(path.encode())
                found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _versions() -> dict[str, str]:
    """Of what builds the files, as far as it is installed."""
    found = {}
    for tool in _TOOLS:
        with contextlib.suppress(PackageNotFoundError):
            found[tool] = version(tool)
    return found


def stale(folder: Path = FOLDER) -> str:
    """Why the built files of a folder are not those of the sources; "": they are."""
    try:
        made = json.loads((folder / DATA_FILE).read_text(encoding="utf-8"))
        if made["source_digest"] != digest():
            return "they were built from other sources"
        for tool, now in _versions().items():
            if made["made_with"][tool] != now:
                return f"they were built with {tool} {made['made_with'][tool]}, and {now} is installed"
        for name, told in made["files"].items():
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != told:
                return f"{name} is not the file that was built"
    except FileNotFoundError as error:
        return f"there is no {Path(str(error.filename)).name}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{DATA_FILE} cannot be read: {error}"
    return ""


# Building them ---------------------------------------------------------------------------------------------


def build(folder: Path = FOLDER) -> list[Path]:
    """Compile the kernels and write all files; the folder has either all of them or those of before.

    Returns:
        The files.

    Raises:
        subprocess.CalledProcessError: it failed; the reason stands on stderr.
    """
    compile_apart("export.wasm", "--compile-into", os.path.abspath(folder))
    return sorted(file for file in folder.iterdir() if file.is_file())


def linked(text: str, kernels: list[str], functions: list[str]) -> bytes:
    """A WebAssembly module of an LLVM module.

    Args:
        text: of `module.module_of`.
        kernels: names of all kernels in it.
        functions: those of them that are called by their address.

    Raises:
        ExportError: the linker refuses, or a kernel calls what no page has.
    """
    addresses = "".join(
        f"define i64 @{ADDRESS_OF}{name}() {{\n  ret i64 ptrtoint (ptr @numba_{name} to i64)\n}}\n"
        for name in functions
    )
    code = object_code(text + addresses, WASM)
    exported = [f"mb_{name}" for name in kernels] + [ADDRESS_OF + name for name in functions]
    options = ["--no-entry", "--gc-sections", "--strip-all", "--allow-undefined", "-O2", "--stack-first"]
    options += ["-z", f"stack-size={_STACK}", "--export=__heap_base"]
    with tempfile.TemporaryDirectory() as place:
        Path(place, "kernels.o").write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "wasm-ld", *options]
        command += [f"--export={name}" for name in exported]
        done = subprocess.run(
            [*command, "-o", MODULE_FILE, "kernels.o"], cwd=place, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ExportError(f"the kernels cannot be linked for WebAssembly: {done.stderr.strip()}")
        found = Path(place, MODULE_FILE).read_bytes()
    unknown = sorted(set(imports_of(found)) - set(IMPORTS))
    if unknown:
        raise ExportError(f"the kernels call {', '.join(unknown)}, which no page has")
    return found


def imports_of(module: bytes) -> list[str]:
    """The names of what a WebAssembly module asks its host for (WebAssembly core specification, 5.5.5)."""
    place, names = 8, []

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = module[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def name() -> str:
        nonlocal place
        size = number()
        place += size
        return module[place - size : place].decode()

    while place < len(module):
        kind = module[place]
        place += 1
        size = number()
        end = place + size
        if kind == _IMPORT_SECTION:
            for _ in range(number()):
                name()
                names.append(name())
                if module[place] != 0:
                    raise ExportError(f"the kernels ask for {names[-1]}, which is no function")
                place += 1
                number()
        place = end
    return names


_IMPORT_SECTION: Final = 2


def _compile_into(folder: Path) -> None:
    # In the new process only: these import Numba, which reads its environment then.
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
    """Write what was built, and remove what an earlier build wrote under other names.

    Args:
        folder: where to.
        files: all but `engine.json`, by name.
        data: the contents of that; the digests of the files are added.
    """
    before = _names_of(folder)
    told = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    text = json.dumps({**data, "files": told}, ensure_ascii=False, separators=(",", ":")) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, DATA_FILE: text.encode()}.items():  # engine.json last: it names the others
        write_bytes_atomically(folder / name, content)
        print(f"{name}: {len(content):,} bytes", file=sys.stderr)
    for name in before - set(files):
        (folder / Path(name).name).unlink(missing_ok=True)


def _names_of(folder: Path) -> set[str]:
    """The files that the folder's `engine.json` names, if there is one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        made = json.loads((folder / DATA_FILE).read_text(encoding="utf-8"))
        return {str(name) for name in dict(made["files"])}
    return set()


def main(arguments: list[str] | None = None) -> int:
    """The command line: build, or say whether what is there is stale."""
    parser = argparse.ArgumentParser(prog="python -m export.wasm", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where the files go (default: %(default)s)"
    )
    parser.add_argument(
        "--check", action="store_true", help="only say whether the files are those of the sources"
    )
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
            f"{', '.join(missing)} must be installed: pip install '.[wheel]', or run make web",
            file=sys.stderr,
        )
        return 2
    build(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
