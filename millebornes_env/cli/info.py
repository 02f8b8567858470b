"""The command `info`: what a bug report should say about versions, machine and installation."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import llvmlite.binding
import numba

from millebornes_env._util.versions import versions
from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.cache import cache_folder_of
from millebornes_env.engine.numba.compiling import IS_COMPILED

PACKAGE: Final = "millebornes-env"
FEATURES: Final = ("avx2", "avx512f", "avx512bf16", "amx-bf16", "neon", "sve")
"""Instructions of processors that decide which kernels are fast."""
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)(\[[^]]*\])?")
_EXTRA: Final = re.compile(r"extra == ['\"]([^'\"]+)['\"]")


def add_to(commands: Any) -> None:
    """Add the command to an `argparse` parser."""
    one = commands.add_parser("info", help="print versions, processor, cache and extras, for a bug report")
    one.set_defaults(run=lambda args: print(report()))


def report() -> str:
    """Return the report, a line for each fact."""
    known = versions()
    system = known.pop("platform"), f"Python {known.pop('python')} ({platform.python_implementation()})"
    lines = {
        "versions": ", ".join(f"{name} {number}" for name, number in known.items()),
        "system": ", ".join(system),
        "processor": f"{_processor()}, {_usable_cores()} cores usable, {numba.get_num_threads()} threads",
        "instructions": ", ".join(_features()) or "none of " + ", ".join(FEATURES),
        "kernels": _kernels(),
        "cache": _cache(),
        "extras": _extras(),
    }
    width = max(map(len, lines)) + 1
    return "\n".join(f"{name + ':':{width}} {text}" for name, text in lines.items())


def _processor() -> str:
    """Return the name of the processor, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def _usable_cores() -> int:
    available = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(available(0)) if available is not None else os.cpu_count() or 1


def _features() -> list[str]:
    features = llvmlite.binding.get_host_cpu_features()
    return [name for name in FEATURES if features.get(name)]


def _kernels() -> str:
    if not IS_COMPILED:
        return "plain Python (NUMBA_DISABLE_JIT)"
    status = machine_code.status()
    return f"machine code of the wheel {status}" + (
        "" if status.startswith("used") else "; Numba compiles them"
    )


def _cache() -> str:
    folder = cache_folder_of("millebornes_env.engine.kernels")
    if folder is None:
        return "none: no folder can be written, so every process compiles anew"
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return f"{folder} ({len(files)} files, {sum(files) / 1e6:.1f} MB)"


def _extras() -> str:
    """Return which extras are complete."""
    try:
        needed = extras_of(importlib.metadata.requires(PACKAGE) or ())
    except importlib.metadata.PackageNotFoundError:
        return f"unknown: {PACKAGE} is not installed, only its sources are here"
    complete = [name for name, packages in needed.items() if all(map(_is_installed, packages))]
    missing = [name for name in needed if name not in complete]
    return f"{', '.join(complete) or 'none'}; not installed: {', '.join(missing) or 'none'}"


def extras_of(requirements: Iterable[str]) -> dict[str, set[str]]:
    """Return the packages of each extra, with those of the extras that it includes.

    Args:
        requirements: as `importlib.metadata.requires` returns them.
    """
    packages: dict[str, set[str]] = {}
    included: dict[str, set[str]] = {}
    for requirement in requirements:
        extra, name = _EXTRA.search(requirement), _REQUIREMENT.match(requirement)
        if extra is None or name is None:
            continue
        packages.setdefault(extra[1], set())
        if name[1].replace("_", "-") == PACKAGE:
            included.setdefault(extra[1], set()).update((name[2] or "[]").strip("[]").split(","))
        else:
            packages[extra[1]].add(name[1])
    for _ in packages:  # as deep as extras could include each other
        for extra_name, others in included.items():
            packages[extra_name] |= set().union(*(packages.get(other.strip(), set()) for other in others))
    return packages


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
