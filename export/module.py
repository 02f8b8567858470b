"""Export of kernels as one LLVM module of plain functions, which needs neither Python nor Numba.

For each kernel the module has its function of words (`engine.numba.words`) and the kernel itself, as Numba
calls it (`engine.numba.compiling.call_at`).

The module is text that is independent of the platform: `platforms` adds the triple and the data layout.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
import numba.core.codegen

from export.platforms import ExportError
from millebornes_env.engine.numba.machine_code import NUMBA_PREFIX, PREFIX
from millebornes_env.engine.numba.words import (
    Convention,
    convention_of,
    declaration,
    function_text,
)

_numba: Any = numba  # it has no type hints worth the name
codegen: Any = numba.core.codegen

# The only function of the C library that LLVM calls by itself. As text it needs no C compiler and no libc.
# It is hidden so that it does not replace another one; the optimiser removes only internal functions.
_MEMSET = """
define hidden ptr @memset(ptr %place, i32 %value, i64 %size) {
start:
  %byte = trunc i32 %value to i8
  %none = icmp eq i64 %size, 0
  br i1 %none, label %end, label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i8, ptr %place, i64 %i
  store i8 %byte, ptr %at
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %size
  br i1 %done, label %end, label %loop
end:
  ret ptr %place
}
"""


Example = tuple[Callable[..., Any], tuple[Any, ...]] | tuple[Callable[..., Any], tuple[Any, ...], str]
"""A kernel, arguments of the types that it takes, and its name if that is not the function's."""


class Module(NamedTuple):
    """An LLVM module as text, and the calling convention of each kernel by name."""

    text: str
    kernels: dict[str, Convention]


def module_of(examples: Iterable[Example]) -> Module:
    """Compile kernels and put them into one module.

    Args:
        examples: kernels (Numba's dispatchers), each with arguments of the types that it takes. An array
            that the kernel only reads should be read-only here: then Numba checks that it is. Names must
            be unique.

    Returns:
        The module; all its functions but the kernels' are internal.

    Raises:
        ExportError: a kernel was compiled before or came from Numba's cache, needs Numba at run time, or
            has arguments that do not fit into words.
    """
    whole = llvm.parse_assembly("")
    kernels = {}
    with _before_machine_code() as kept:
        for dispatcher, arguments, *named in examples:
            name = named[0] if named else dispatcher.__name__
            kernels[name], own_name, *texts = _compiled(name, dispatcher, arguments, kept)
            for text in texts:
                whole.link_in(llvm.parse_assembly(text))
            whole.get_function(own_name).name = NUMBA_PREFIX + name
    whole.link_in(llvm.parse_assembly(_MEMSET))
    _keep_only(whole, {prefix + name for prefix in (PREFIX, NUMBA_PREFIX) for name in kernels} | {"memset"})
    whole.verify()
    return Module(str(whole), kernels)


@contextlib.contextmanager
def _before_machine_code() -> Iterator[dict[Any, str]]:
    """Record the text of each library that Numba compiles meanwhile, before machine code is generated.

    When LLVM generates machine code, its pass CodeGenPrepare rewrites the module for that machine: optimised
    again for another processor, the result was wrong. So the text of `inspect_llvm` must not be exported, nor
    be linked into a kernel that calls this one.
    """
    kept: dict[Any, str] = {}
    library_class = codegen.CPUCodeLibrary
    finalize = library_class._finalize_final_module

    def keep(library: Any) -> None:
        kept[library] = str(library._final_module)
        shared = library._final_module.clone()
        for function in shared.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        library._shared_module = shared
        finalize(library)

    library_class._finalize_final_module = keep
    try:
        yield kept
    finally:
        library_class._finalize_final_module = finalize


def _compiled(
    name: str, dispatcher: Any, arguments: tuple[Any, ...], kept: dict[Any, str]
) -> tuple[Convention, str, str, str]:
    """Compile a kernel; return its calling convention, its LLVM name, its module and that of its function."""
    taken = tuple(_numba.typeof(argument) for argument in arguments)
    dispatcher.compile(taken)
    compiled = dispatcher.overloads[taken]
    text = kept.get(compiled.library)
    if text is None:
        raise ExportError(
            f"{name} was compiled before, or came from Numba's cache, which holds no LLVM: export in a new "
            "process with an empty cache"
        )
    own_name, result = compiled.fndesc.llvm_func_name, compiled.fndesc.restype
    try:
        convention = convention_of(taken, result)
    except NotImplementedError as problem:
        raise ExportError(f"{name}: {problem}") from None
    kernel = f'@"{own_name}"'
    function = function_text(PREFIX + name, kernel, taken, result) + declaration(kernel, taken)
    return convention, own_name, _without_platform(text), function


def _without_platform(text: str) -> str:
    """Return the module without the properties of the machine that compiled it."""
    text = re.sub(r'^target (triple|datalayout) = ".*"$', "", text, flags=re.MULTILINE)
    text = re.sub(r'"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", text)
    return text.replace("= common global", "= linkonce_odr global")  # not every object format has them


def _keep_only(module: Any, names: set[str]) -> None:
    """Make all other functions and variables internal, so that unused ones are removed."""
    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration and value.name not in names:
            value.linkage = "internal"
