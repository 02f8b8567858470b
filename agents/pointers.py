"""Calling an agent's function by its address, from compiled code.

Besides `millebornes_env.compile` the one file that knows Numba. Kernels could take the function itself, in a
tuple; but at every call of such a kernel from Python, Numba works out the type of the function anew and looks
its machine code up: 1.5 to 2.4 ms, fifty steps of a game. An address is an int, which costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numba
import numba.extending
from numba.core import cgutils, types

from millebornes_env.compile import IS_COMPILED

_numba: Any = numba  # it has no type hints worth the name
_cgutils: Any = cgutils

_PLAIN: Final[list[Callable[..., int]]] = []
"""Under `NUMBA_DISABLE_JIT=1` an address is a place in this list."""


def address_of(function: Callable[..., int]) -> int:
    """The address of a function, for `call_choose`; good for as long as the process lives.

    Args:
        function: as `compile.pointer` made it; whoever has the address must keep the function.
    """
    if not IS_COMPILED:
        _PLAIN.append(function)
        return len(_PLAIN) - 1
    compiled: Any = function
    (result,) = compiled.overloads.values()  # one: it was compiled for one kind of arguments
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _compile_call(
    typing: Any, address: Any, state: Any, rules: Any, seat: Any, memory: Any, options: Any, draw: Any
) -> Any:
    """Types and code of `call_choose`, as Numba asks for them."""
    if not (isinstance(state, types.Record) and isinstance(rules, types.Record)):
        return None  # which Numba reports as no matching definition
    memories, settings = types.Array(types.int16, 1, "C"), types.Array(types.int64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        convention, kinds = context.call_conv, signature.args[1:]
        kind = convention.get_function_type(signature.return_type, kinds)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        status, result = convention.call_function(
            builder, function, signature.return_type, kinds, arguments[1:]
        )
        with _cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    word = types.int64
    return word(word, state, rules, word, memories, settings, word), generate


def _plain_call(address: int, *arguments: Any) -> int:
    return _PLAIN[address](*arguments)


call_choose: Callable[..., int] = _numba.extending.intrinsic(_compile_call) if IS_COMPILED else _plain_call
"""`call_choose(address, state, rules, seat, memory, options, draw)`: what the agent at that address chooses.

The arguments behind the address are those of `agents.compiled.Choose`. Nothing checks the address.
"""
