"""Kernels as one LLVM module: a toy is exported, compiled by LLVM alone and called with words."""

from __future__ import annotations

import ctypes
import os
import subprocess
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from export.build import ROOT, build, holds_machine_code
from export.module import Module, module_of
from export.platforms import LINUX, ExportError, object_code
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.engine.numba.words import write

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")

RECORD = np.dtype([("seat", np.int32), ("km", np.int16, (3,))], align=True)


class Inner(NamedTuple):
    factor: int
    totals: np.ndarray


class Outer(NamedTuple):
    first: int
    inner: Inner


def toy(records: Any, one: Any, outer: Outer, weights: Any, shift: int) -> tuple[int, int]:
    """Reads each kind of argument and writes to two of them; the zeros make LLVM call memset."""
    outer.inner.totals[:] = 0
    for place in range(len(records)):
        records[place].seat += int(one.seat)
        for team in range(3):
            outer.inner.totals[place, team] = records[place].km[team] * outer.inner.factor + weights[team]
    return outer.first + shift, len(records)


def nothing(numbers: Any) -> None:
    numbers[0] = 7


def compiled(function: Callable[..., Any]) -> Any:
    """Compile as `kernel` does, but do not keep it on disk: what comes from there cannot be exported."""
    return numba.njit(_nrt=False, nogil=True, error_model="numpy")(function)


def read_only(values: Any) -> np.ndarray:
    made = np.array(values)
    made.setflags(write=False)
    return made


def arguments() -> tuple[Any, ...]:
    records = np.zeros(4, RECORD)
    records["seat"] = range(4)
    records["km"] = np.arange(12).reshape(4, 3)
    one = np.full(1, 10, RECORD).view(np.recarray)
    totals = np.full((4, 3), 99, np.int64)
    return records, one[0], Outer(3, Inner(100, totals)), read_only(np.array([1, 2, 3], np.int8)), 40


@pytest.fixture(scope="module")
def module() -> Module:
    return module_of([(compiled(toy), arguments()), (compiled(nothing), (np.zeros(1, np.int16),))])


@pytest.fixture(scope="module")
def functions(module: Module) -> Iterator[Callable[[str], Any]]:
    """The module's functions, as LLVM compiles them in this process."""
    import llvmlite.binding as llvm  # noqa: PLC0415

    target = llvm.Target.from_default_triple().create_target_machine(opt=1)
    parsed = llvm.parse_assembly(
        f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n{module.text}'
    )
    builder = llvm.create_pass_builder(target, llvm.PipelineTuningOptions(speed_level=2))
    builder.getModulePassManager().run(parsed, builder)  # Numba's wrappers for Python vanish
    with llvm.create_mcjit_compiler(parsed, target) as engine:
        engine.finalize_object()

        def function(name: str) -> Any:
            prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
            return prototype(engine.get_function_address(f"mb_{name}"))

        yield function


def written(module: Module, name: str, given: tuple[Any, ...]) -> array[int]:
    kernel = module.kernels[name]
    words = array("q", [0] * kernel.words)
    for place, parameter, argument in zip(kernel.places, kernel.parameters, given, strict=True):
        write(argument, words, place, parameter)
    return words


def test_a_function_does_what_its_kernel_does(module: Module, functions: Callable[[str], Any]) -> None:
    expected, found = arguments(), arguments()
    result = toy(expected[0].view(np.recarray), expected[1], *expected[2:])
    words = written(module, "toy", found)
    assert functions("toy")(words.buffer_info()[0]) == 0
    assert tuple(words[: module.kernels["toy"].result_words]) == result == (43, 4)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[2].inner.totals, expected[2].inner.totals)


def test_nothing_of_the_building_machine_is_in_the_module(module: Module) -> None:
    for word in ("target-cpu", "target-features", "target triple", "target datalayout"):
        assert word not in module.text


def test_the_object_file_has_all_functions_and_the_same_bytes_every_time(module: Module) -> None:
    code = object_code(module.text, LINUX)
    assert code.startswith(b"\x7fELF")
    for name in module.kernels:
        assert f"mb_{name}".encode() in code
        assert f"numba_{name}".encode() in code
    assert code == object_code(module.text, LINUX)


@pytest.mark.parametrize(
    ("argument", "complaint"), [(1.5, "argument is float64"), (np.zeros((2, 2))[:, :1], "C-contiguous")]
)
def test_a_kernel_that_no_word_can_call_is_refused(argument: Any, complaint: str) -> None:
    def takes_anything(value: Any) -> int:
        return 1

    with pytest.raises(ExportError, match=complaint):
        module_of([(compiled(takes_anything), (argument,))])


def test_code_that_was_compiled_before_is_refused() -> None:
    """LLVM has rewritten it since, or it came from the cache and there is none to show."""
    dispatcher = compiled(nothing)
    dispatcher(np.zeros(1, np.int16))
    with pytest.raises(ExportError, match="nothing was compiled before, or came from Numba's cache"):
        module_of([(dispatcher, (np.zeros(1, np.int16),))])


def test_a_wheel_has_machine_code_for_linux_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLEBORNES_WHEEL_PLATFORM", "linux-x86_64")
    assert holds_machine_code()
    monkeypatch.setenv("MILLEBORNES_WHEEL_PLATFORM", "any")
    assert not holds_machine_code()
    monkeypatch.delenv("MILLEBORNES_WHEEL_PLATFORM")
    monkeypatch.setattr("export.build.this_platform", lambda: "darwin-arm64")
    assert not holds_machine_code()
    monkeypatch.setenv("MILLEBORNES_WHEEL_PLATFORM", "darwin-arm64")
    with pytest.raises(ValueError, match=r"'darwin-arm64'; it can be linux-x86_64 or any"):
        holds_machine_code()


@pytest.mark.parametrize("before", [None, "/pip/build-env/site"])
def test_the_compiling_process_keeps_the_path_that_it_inherits(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install .` hands over the packages of its build environment there: without it, no NumPy."""
    started: list[dict[str, str]] = []
    monkeypatch.setattr(subprocess, "run", lambda *_command, env, **_options: started.append(env))
    if before is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", before)
    assert build(str(tmp_path)) == []
    assert started[0]["PYTHONPATH"].split(os.pathsep) == [str(ROOT), *([before] if before else [])]
