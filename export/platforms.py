"""A module of kernels to a shared object for one platform, with LLVM and Zig's linker.

Nothing of the C library is linked, so an object asks for no version of it. The same versions of Numba, LLVM
and Zig make the same bytes, on whichever machine.
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
    """What cannot leave Numba, or be linked; the message says which and why."""


class Platform(NamedTuple):
    """Where an object runs.

    Attributes:
        triple: LLVM's name.
        cpu: LLVM's name of the oldest processor that it runs on.
        zig: the target's name for Zig.
        suffix: of the object's file.
        tag: of a wheel that holds it.
        features: of the processor besides those, in LLVM's words.
        relocation: LLVM's name of how code refers to addresses.
    """

    triple: str
    cpu: str
    zig: str
    suffix: str
    tag: str
    features: str = ""
    relocation: str = "pic"


PLATFORMS: Final = {
    "linux-x86_64": Platform(
        "x86_64-unknown-linux-gnu",
        "x86-64",
        "x86_64-linux-gnu",
        ".so",
        "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ),
    "linux-aarch64": Platform(
        "aarch64-unknown-linux-gnu",
        "generic",
        "aarch64-linux-gnu",
        ".so",
        "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ),
    "darwin-arm64": Platform(
        "arm64-apple-macosx11.0.0", "apple-m1", "aarch64-macos.11.0", ".dylib", "macosx_11_0_arm64"
    ),
    "win32-amd64": Platform("x86_64-pc-windows-gnu", "x86-64", "x86_64-windows-gnu", ".dll", "win_amd64"),
}
"""By the name that the loader gives a machine (`millebornes_env.machine_code`)."""


def this_platform() -> str:
    """The name that this machine has or would have in `PLATFORMS`."""
    return f"{sys.platform}-{machine.machine().lower()}"


def object_code(module: str, platform: Platform) -> bytes:
    """Optimise a module (`module.module_of`) and compile it to an object file of the platform."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - where only a name is asked for, it may be missing

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    compiler = llvm.Target.from_triple(platform.triple).create_target_machine(
        cpu=platform.cpu, features=platform.features, opt=3, reloc=platform.relocation, codemodel="default"
    )
    target = f'target triple = "{platform.triple}"\ntarget datalayout = "{compiler.target_data}"\n'
    parsed = llvm.parse_assembly(target + module)
    # The choices with which Numba compiles the same code in the user's process.
    tuning = llvm.PipelineTuningOptions(speed_level=3)
    tuning.loop_vectorization, tuning.slp_vectorization = True, False
    builder = llvm.create_pass_builder(compiler, tuning)
    builder.getModulePassManager().run(parsed, builder)
    parsed.verify()
    return bytes(compiler.emit_object(parsed))


def link(code: bytes, platform: Platform, symbols: list[str]) -> bytes:
    """Link an object file to a shared object that exports the symbols.

    Raises:
        ExportError: Zig's linker refuses, for example because a kernel calls what is not in the module.
    """
    options = ["-shared", "-nostdlib", "-O2", "-s"]
    if platform.suffix == ".so":
        options += ["-Wl,-z,defs", "-Wl,--build-id=none"]
    elif platform.suffix == ".dylib":
        options += ["-Wl,-install_name,@rpath/millebornes_env"]
    elif platform.suffix == ".dll":
        options += ["-Wl,--no-entry"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernels.o").write_bytes(code)
        linked = "kernels" + platform.suffix
        command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.zig, *options]
        done = subprocess.run(
            [*command, "-o", linked, "kernels.o"],
            cwd=folder,
            env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ExportError(f"Zig cannot link the kernels for {platform.triple}: {done.stderr.strip()}")
        found = (Path(folder) / linked).read_bytes()
    missing = [symbol for symbol in symbols if symbol.encode() not in found]
    if missing:
        raise ExportError(f"the shared object for {platform.triple} does not export {', '.join(missing)}")
    return found
