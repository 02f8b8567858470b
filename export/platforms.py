"""Compile a module of kernels with LLVM, and link it for x86-64 Linux with Zig's linker.

The C library is not linked, so an object needs no certain version of it. The same versions of Numba, LLVM and
Zig produce the same bytes on any machine.
"""

from __future__ import annotations

import os
import platform as machine
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple


class ExportError(Exception):
    """A kernel cannot be exported from Numba or linked; the message names it and the reason."""


class Platform(NamedTuple):
    """The platform that an object file is built for.

    Attributes:
        triple: LLVM's target triple.
        cpu: LLVM's name of the oldest supported processor.
        relocation: LLVM's relocation model.
    """

    triple: str
    cpu: str
    relocation: str = "pic"


LINUX: Final = Platform("x86_64-unknown-linux-gnu", "x86-64-v2")
LINUX_NAME: Final = "linux-x86_64"
"""The loader's name of this platform (`millebornes_env.engine.numba.machine_code`)."""
LINUX_TAG: Final = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
"""Tag of a wheel with machine code, which works with any Python 3 and any version of Numba."""

_ZIG_TARGET: Final = "x86_64-linux-gnu"


def this_platform() -> str:
    """Return the name of this machine's platform, such as "linux-x86_64"."""
    return f"{sys.platform}-{machine.machine().lower()}"


def object_code(module: str, platform: Platform) -> bytes:
    """Optimise a module (`module.module_of`) and compile it to an object file of the platform."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - not needed for `this_platform`

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    compiler = llvm.Target.from_triple(platform.triple).create_target_machine(
        cpu=platform.cpu, features="", opt=3, reloc=platform.relocation, codemodel="default"
    )
    target = f'target triple = "{platform.triple}"\ntarget datalayout = "{compiler.target_data}"\n'
    parsed = llvm.parse_assembly(target + module)
    # The settings with which Numba compiles the same code in the user's process.
    tuning = llvm.PipelineTuningOptions(speed_level=3)
    tuning.loop_vectorization, tuning.slp_vectorization = True, False
    builder = llvm.create_pass_builder(compiler, tuning)
    builder.getModulePassManager().run(parsed, builder)
    parsed.verify()
    return bytes(compiler.emit_object(parsed))


def link(code: bytes, symbols: list[str]) -> bytes:
    """Link an object file of `LINUX` to a shared object that exports the symbols.

    Raises:
        ExportError: linking failed, for example because a kernel calls a function outside of the module.
    """
    options = ["-shared", "-nostdlib", "-O2", "-s", "-Wl,-z,defs", "-Wl,--build-id=none"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernels.o").write_bytes(code)
        linked = "kernels.so"
        command = [sys.executable, "-m", "ziglang", "cc", "-target", _ZIG_TARGET, *options]
        done = subprocess.run(
            [*command, "-o", linked, "kernels.o"],
            cwd=folder,
            env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ExportError(f"Zig cannot link the kernels: {done.stderr.strip()}")
        result = (Path(folder) / linked).read_bytes()
    missing = [symbol for symbol in symbols if symbol.encode() not in result]
    if missing:
        raise ExportError(f"the shared object does not export {', '.join(missing)}")
    return result
