"""Decorators for compiled code: `@rule` for a function of the rulebook, `@kernel` for a loop over games.

Three ways to run the same source:

* compiled (the default), with machine code cached on disk;
* `NUMBA_BOUNDSCHECK=1`: compiled, with every index checked;
* `NUMBA_DISABLE_JIT=1`: plain Python, so that a breakpoint in a rule works.

Also extensions of Numba for rules, such as `stack_array`, a scratch array on the stack, and `float32_at`, a
view of numbers at an address. `cache` decides where machine code is kept, `compiling_rules` how rules are
linked into kernels.
"""

from __future__ import annotations

import ctypes
import dis
import functools
import types as python_types
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.extending
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types

from millebornes_env._util.signals import unbroken
from millebornes_env.engine.numba.cache import cache_for
from millebornes_env.engine.numba.compiling_rules import Compiler, RuleCache, RuleDispatcher
from millebornes_env.engine.numba.threads import count_compilation, on_threads

P = ParamSpec("P")
R = TypeVar("R")

_CACHE_LINE = 64
_FAST_SUMS = {"contract", "reassoc", "nsz", "arcp"}  # not nnan, ninf: -inf is the logit of an illegal action

_numba: Any = numba  # it has hardly any type hints
_cgutils: Any = cgutils
_config: Any = numba.config  # Numba adds its settings to the module at run time

prange: type[range] = numba.prange
"""A `range` whose iterations are split among the threads of a `parallel_kernel`."""

literal_unroll: Callable[[tuple[str, ...]], tuple[str, ...]] = numba.literal_unroll
"""The names of a loop over fields of a record, each a constant for the compiler."""

IS_COMPILED: bool = not _config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`."""

IS_BOUNDS_CHECKED: bool = bool(_config.BOUNDSCHECK)
"""True under `NUMBA_BOUNDSCHECK=1`."""


def for_kernels(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return a view of an array of records to pass to kernels.

    A plain array is faster to pass to compiled code than a recarray; plain Python needs a recarray's
    attributes.
    """
    return records.view(np.ndarray if IS_COMPILED else np.recarray)


def _compile(function: Callable[P, R], *, is_cached: bool = True, **options: Any) -> Callable[P, R]:
    """Compile a function that is called from Python, or by its address."""
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": Compiler}
    compiled = _numba.njit(**options)(function)
    if IS_COMPILED:
        compiled.compile = _watched(compiled.compile)
        if is_cached:
            compiled._cache = cache_for(function)
    return cast("Callable[P, R]", compiled)


def _watched(compile_it: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a dispatcher's `compile` to count compilations and to delay signals until it has finished."""

    @functools.wraps(compile_it)
    def watched(signature: Any) -> Any:
        count_compilation()
        with unbroken():
            return compile_it(signature)

    return watched


def _are_ints(values: tuple[Any, ...]) -> bool:
    """Return True if the tuple, and all tuples in it, contain only ints."""
    for value in values:
        if not (isinstance(value, int) or (isinstance(value, tuple) and _are_ints(value))):
            return False
    return True


class _Rule:
    """A compiled rule, callable from compiled code and from Python.

    Attributes:
        py_func: the rule in plain Python.
    """

    def __init__(self, function: Callable[..., Any], is_cached: bool, options: dict[str, Any]) -> None:
        """Wrap a rule, to be compiled at its first call."""
        functools.update_wrapper(self, function)
        self.py_func = function
        self._is_cached = is_cached
        self._options = options
        self._linked = RuleDispatcher(
            function,
            targetoptions={
                **options,
                "nopython": True,
                "nogil": True,
                "error_model": "numpy",
                "no_cpython_wrapper": True,
                "no_cfunc_wrapper": True,
            },
            pipeline_class=Compiler,
        )
        if is_cached:
            self._linked._cache = cache_for(function, RuleCache)

    @property
    def _numba_type_(self) -> Any:
        """Numba's type of the rule in compiled code."""
        return types.Dispatcher(self._linked)

    @functools.cached_property
    def _called(self) -> Callable[..., Any]:
        return _compile(self.py_func, is_cached=self._is_cached, **self._options)

    def __call__(self, *args: Any) -> Any:
        """Call the rule from Python; it runs as plain Python if all arguments are ints."""
        return self.py_func(*args) if _are_ints(args) else self._called(*args)


def _compile_rule(function: Callable[P, R], *, is_cached: bool = True, **options: Any) -> Callable[P, R]:
    if not IS_COMPILED:
        return function
    return cast("Callable[P, R]", _Rule(function, is_cached, {**options, "_nrt": False}))


def rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile one function of a rulebook, from scalars, records and tuples of ints to a scalar."""
    return _compile_rule(function, forceinline=True)


def rule_of_rules(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that takes a rule or a module of rules as an argument; it is inlined.

    It is not cached on disk by itself: its file would name the rules it was called with, and become
    unreadable when one of them is gone. Its callers are cached.
    """
    return _compile_rule(function, is_cached=False, forceinline=True)


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that runs about once in a round; it is called, not inlined.

    Inlined at every point where a turn can end, it would be compiled as often, which takes minutes.
    """
    return _compile_rule(function)


def seldom_rule_of_rules(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a `rule_of_rules` that is called, not inlined, as with `seldom`."""
    return _compile_rule(function, is_cached=False)


def _compile_kernel(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    compiled = _compile(function, **options)
    if IS_COMPILED:
        compiled.is_kernel = True  # type: ignore[attr-defined] # its compilation is reported on stderr
    return compiled


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games that runs on one thread."""
    return _compile_kernel(function, _nrt=False)


def parallel_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games written with `prange`; its argument `threads` is the number of threads."""
    return _on_threads(function)


def float_rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that may reorder its floating-point operations.

    Sums are then vectorized, so their rounding depends on the processor. Infinities and NaN are preserved.
    """
    return _compile_rule(function, forceinline=True, fastmath=_FAST_SUMS)


def float_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop that runs on one thread, with the arithmetic of `float_rule`."""
    return _compile_kernel(function, _nrt=False, fastmath=_FAST_SUMS)


def parallel_float_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop written with `prange`, with the arithmetic of `float_rule`."""
    return _on_threads(function, fastmath=_FAST_SUMS)


def _on_threads(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    parallel = _compile_kernel(function, parallel=True, **options)
    if not IS_COMPILED:
        return parallel
    # With the same name, Numba's cache would confuse the two.
    alone = python_types.FunctionType(function.__code__, function.__globals__)
    alone.__qualname__ = f"{function.__qualname__}_on_one_thread"
    return on_threads(parallel, lambda: _compile_kernel(alone, **options))


@functools.cache
def plain(function: Callable[P, R]) -> Callable[P, R]:
    """Return a rule and its callees as plain Python, for calls too few to be worth compiling.

    Args:
        function: made by `rule`; records passed to it must be `numpy.record`.
    """
    python = getattr(function, "py_func", None)
    if not isinstance(python, python_types.FunctionType):  # it is plain already
        return function
    loads = [load for load in dis.get_instructions(python) if load.opname == "LOAD_GLOBAL"]  # no attributes
    loaded = {load.argval: python.__globals__.get(load.argval) for load in loads}
    used = {name: plain(value) for name, value in loaded.items() if hasattr(value, "py_func")}
    names = python.__globals__ | used
    return python_types.FunctionType(
        python.__code__, names, python.__name__, python.__defaults__, python.__closure__
    )


# Extensions of Numba ---------------------------------------------------------------------------------------


def _array_at(context: Any, builder: Any, array: Any, pointer: Any, size: Any) -> Any:
    """Generate a view of memory."""
    view = context.make_array(array)(context, builder)
    element = context.get_data_type(array.dtype)
    item = context.get_constant(types.intp, context.get_abi_sizeof(element))
    context.populate_array(
        view,
        data=builder.bitcast(pointer, element.as_pointer()),
        shape=_cgutils.pack_array(builder, [size]),
        strides=_cgutils.pack_array(builder, [item]),
        itemsize=item,
        meminfo=None,
    )
    return view._getvalue()


def _compile_stack_array(typing: Any, dtype: Any, size: Any) -> Any:
    """Return types and code of `stack_array`, in the form that `numba.extending.intrinsic` expects."""
    if not isinstance(size, types.IntegerLiteral):
        return None  # which Numba reports as no matching definition
    array = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = context.get_constant(types.intp, size.literal_value)
        with builder.goto_entry_block():  # elsewhere each iteration of a loop would take more of the stack
            pointer = builder.alloca(context.get_data_type(array.dtype), count)
        pointer.align = _CACHE_LINE
        return _array_at(context, builder, array, pointer, count)

    return array(dtype, size), generate


def _compile_float32_at(typing: Any, address: Any, size: Any) -> Any:
    """Return types and code of `float32_at`."""
    array = types.Array(types.float32, 1, "C", readonly=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_data_type(types.float32).as_pointer())
        return _array_at(context, builder, array, pointer, arguments[1])

    return array(types.int64, types.intp), generate


def _compile_flags_of(typing: Any, kind: Any, bits: Any) -> Any:
    """Return types and code of `flags_of`."""
    if not isinstance(kind, types.NamedTupleClass):
        return None
    flags = _numba.types.NamedUniTuple(types.int64, len(kind.instance_class._fields), kind.instance_class)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = context.get_constant(types.int64, 1)
        shifts = (context.get_constant(types.int64, bit) for bit in range(flags.count))
        values = [builder.and_(builder.ashr(arguments[1], shift), one) for shift in shifts]
        return context.make_tuple(builder, flags, values)

    return flags(kind, types.int64), generate


def _compile_call_at(typing: Any, address: Any, arguments: Any) -> Any:
    """Return types and code of `call_at`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args[1].types
        convention = context.call_conv
        function = convention.get_function_type(types.int64, kinds)
        pointer = builder.inttoptr(values[0], function.as_pointer())
        status, result = convention.call_function(
            builder, pointer, types.int64, kinds, _cgutils.unpack_tuple(builder, values[1])
        )
        with _cgutils.if_unlikely(builder, status.is_error):  # under NUMBA_BOUNDSCHECK=1
            convention.return_status_propagate(builder, status)
        return result

    return types.int64(address, arguments), generate


def _plain_call_at(function: Callable[..., int], arguments: tuple[Any, ...]) -> int:
    return function(*arguments)


def _plain_flags_of(kind: Any, bits: int) -> Any:
    return kind(*(bits >> bit & 1 for bit in range(len(kind._fields))))


def _plain_stack_array(dtype: Any, size: int) -> npt.NDArray[Any]:
    return np.empty(size, dtype)


def _plain_float32_at(address: int, size: int) -> npt.NDArray[np.float32]:
    view = np.ctypeslib.as_array((ctypes.c_float * int(size)).from_address(int(address)))
    view.setflags(write=False)
    return view


stack_array: Callable[[Any, int], npt.NDArray[Any]] = (
    _numba.extending.intrinsic(prefer_literal=True)(_compile_stack_array)
    if IS_COMPILED
    else _plain_stack_array
)
"""`stack_array(dtype, size)`: an uninitialised array on the thread's stack, valid until the caller returns.

Rules cannot allocate arrays, and several threads run them. The size must be a constant (a global `Final` is)
and small: a thread's whole stack may be a few 100 kB. Pass the array to other rules, but do not return it.
"""

float32_at: Callable[[int, int], npt.NDArray[np.float32]] = (
    _numba.extending.intrinsic(_compile_float32_at) if IS_COMPILED else _plain_float32_at
)
"""`float32_at(address, size)`: a read-only view of the float32 numbers at an address.

An agent's options, which are ints, refer to a table of numbers in this way. The caller must keep the array
alive; this is not checked.
"""

flags_of: Callable[[Any, int], Any] = (
    _numba.extending.intrinsic(_compile_flags_of) if IS_COMPILED else _plain_flags_of
)
"""`flags_of(kind, bits)`: a named tuple of the class `kind` with fields 0 or 1, the lowest bit first."""

call_at: Callable[[Any, tuple[Any, ...]], int] = (
    _numba.extending.intrinsic(_compile_call_at) if IS_COMPILED else _plain_call_at
)
"""`call_at(address, arguments)`: call the kernel at an address (`address_of`), which returns an int.

A parallel kernel that calls a large kernel by name is compiled together with it, four times. The types of the
arguments must be those that the address was made for; this is not checked.
"""


def address_of(function: Callable[..., int], *examples: Any) -> int:
    """Return the address of a kernel's machine code for arguments like the examples, for `call_at`.

    Args:
        function: a kernel that returns an int.
        *examples: an example of each argument.

    Returns:
        The address; in plain Python, the function itself, which `call_at` accepts there.
    """
    if not IS_COMPILED:
        return cast("int", function)
    kernel_of: Any = function
    kinds = tuple(map(_numba.typeof, examples))
    kernel_of.compile(kinds)
    compiled = kernel_of.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
