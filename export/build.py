"""Build the machine code of a wheel: a shared object of the kernels, and its description `kernels.json`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

from export.platforms import LINUX, LINUX_NAME, link, object_code, this_platform

ROOT: Final = Path(__file__).resolve().parents[1]

WEIGHTS: Final = ".bin"
"""Suffix of the files that hold a network for the page (`export/wasm.py`)."""

# The code must not depend on the building machine's processor; LLVM vectorises for the platform later.
_ENVIRONMENT: Final = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_DISABLE_JIT": "0",
    "NUMBA_BOUNDSCHECK": "0",
    "PYTHONHASHSEED": "0",
    "MILLEBORNES_COMPILE_MESSAGES": "0",
}


_PLATFORM: Final = "MILLEBORNES_WHEEL_PLATFORM"


def holds_machine_code() -> bool:
    """Return True if the wheel is to hold machine code, which is built for x86-64 Linux only.

    `MILLEBORNES_WHEEL_PLATFORM=any` asks for a wheel without machine code, which runs everywhere.

    Raises:
        ValueError: the variable names another platform.
    """
    name = os.environ.get(_PLATFORM) or (LINUX_NAME if this_platform() == LINUX_NAME else "any")
    if name not in (LINUX_NAME, "any"):
        raise ValueError(f"{_PLATFORM} is {name!r}; it can be {LINUX_NAME} or any")
    return name == LINUX_NAME


def build(folder: str) -> list[Path]:
    """Compile the kernels and write a shared object and `kernels.json`.

    This runs in a separate process with an empty cache: code from Numba's cache cannot be exported.

    Args:
        folder: output folder, which must exist.

    Returns:
        The files.

    Raises:
        subprocess.CalledProcessError: it failed; the reason stands on stderr.
    """
    compile_apart("export.build", "--folder", os.path.abspath(folder))
    return sorted(Path(folder).iterdir())


def compile_apart(module: str, *arguments: str) -> None:
    """Run a module in a separate process, where Numba compiles everything again for a generic processor.

    Args:
        module: name of the module, for `python -m`.
        *arguments: command-line arguments.

    Raises:
        subprocess.CalledProcessError: it failed; the reason stands on stderr.
    """
    with tempfile.TemporaryDirectory() as cache:
        # Keep the old value: pip passes the packages of its build environment in it.
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = os.environ | _ENVIRONMENT | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache}
        subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, env=environment, check=True)


def _write(folder: Path) -> None:
    # Imported in the new process only: Numba reads its environment when it is imported.
    from export.kernels import examples  # noqa: PLC0415
    from export.module import module_of  # noqa: PLC0415
    from millebornes_env.engine.numba.cache import source_digest  # noqa: PLC0415
    from millebornes_env.engine.numba.machine_code import FORMAT, NUMBA_PREFIX, PREFIX, checksum  # noqa: PLC0415

    print("compiling the kernels for the wheel (half a minute) ...", file=sys.stderr, flush=True)
    module = module_of(examples())
    symbols = [prefix + kernel for kernel in module.kernels for prefix in (PREFIX, NUMBA_PREFIX)]
    kernels = {kernel: how._asdict() for kernel, how in module.kernels.items()}
    code = link(object_code(module.text, LINUX), symbols)
    described = {
        "format": FORMAT,
        "platform": LINUX_NAME,
        "object": "kernels.so",
        "sha256": checksum(code, kernels),
        "source_digest": source_digest(),
        "made_with": {
            "python": ".".join(map(str, sys.version_info[:2])),
            **{package: version(package) for package in ("numba", "llvmlite", "numpy", "ziglang")},
        },
        "kernels": kernels,
    }
    (folder / "kernels.so").write_bytes(code)
    (folder / "kernels.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    print(f"{LINUX_NAME}: {len(code):,} bytes", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    _write(parser.parse_args().folder)
