"""Linking of rules into kernels as LLVM intermediate code.

Numba makes machine code of every function that another one calls, three times (the function itself, a wrapper
for Python and one for C), though the machine code of an inlined function never runs. That took two thirds of
the compile time. Here a rule is only translated to intermediate code; the kernels that use it link it in and
optimise the whole once. A rule that is called from Python is compiled separately at its first call
(`engine.numba.compiling._Rule`).

Also a pass that saves the test of each index for its sign (`_CountFromFront`).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, config, ir, typed_passes, types
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import find_build_sequence, find_const, guard
from numba.core.registry import CPUDispatcher
from numba.core.typing import signature

from millebornes_env.engine.numba.cache import SourcesCache, SourcesCacheImpl

_types: Any = types  # it has hardly any type hints


class _WithoutEnvironments:
    """Numba's code generator without environments: a library without machine code cannot store globals."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _RuleLibrary(codegen.JITCodeLibrary):  # type: ignore[misc] # Numba has no type hints
    """The intermediate code of one rule; its callees are in `_linking_libraries`."""

    def finalize(self) -> None:
        require_global_compiler_lock()
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # several kernels may contain it, and drop it once inlined
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def module(self) -> Any:
        """The code of this rule alone."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """Return the code of the rule and all its callees, for libraries other than `_KernelLibrary`."""
        if self._shared_module is None:
            module = self.module.clone()
            for library in dict.fromkeys(self._linking_libraries):
                module.link_in(library._get_module_for_linking(), preserve=True)
            self._shared_module: Any = module
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # there is no machine code

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()

    @classmethod
    def of_bitcode(cls, target: Any, name: str, bitcode: bytes) -> _RuleLibrary:
        """Return the library from the output of `serialize_using_object_code`."""
        library = cls(target, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library


def _callers_first(library: Any) -> list[Any]:
    """Return all libraries that a library links, directly or not, callers before callees.

    LLVM links a droppable function only if a function that is already linked calls it.
    """
    callees_first: dict[Any, None] = {}

    def visit(caller: Any) -> None:
        for callee in caller._linking_libraries:
            if callee not in callees_first:
                if isinstance(callee, _RuleLibrary):
                    visit(callee)
                callees_first[callee] = None

    visit(library)
    return list(reversed(callees_first))


_SHARED = (llvm.Linkage.linkonce_odr, llvm.Linkage.weak_odr)
"""Linkage of functions that several kernels contain."""


class _KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The machine code of a kernel, with the intermediate code of each rule linked in once."""

    def finalize(self) -> None:
        for library in _callers_first(self):
            is_rule = isinstance(library, _RuleLibrary)
            module = library.module if is_rule else library._get_module_for_linking()
            self._final_module.link_in(module, preserve=True)
            if hasattr(library, "_reload_init"):  # not in all supported versions of Numba
                self._reload_init.update(library._reload_init)
        self._linking_libraries: list[Any] = []
        for function in self._final_module.functions:
            # LLVM's linker takes the first of shared functions with the same name. That would be another
            # kernel's if it was compiled in this process, and ours, which may sum in another order, if this
            # kernel comes from the cache: a seed would give two results.
            if not function.is_declaration and function.linkage in _SHARED:
                function.linkage = "internal"
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise at LLVM's level 2: kernels are as fast as at 3, and compile in 60 % of the time."""
        chosen = config.OPT
        config.OPT = min(chosen, 2)  # compilers hold Numba's global lock
        try:
            super()._optimize_final_module()
        finally:
            config.OPT = chosen


@register_pass(mutates_CFG=False, analysis_only=True)
class _ChooseLibrary(FunctionPass):  # type: ignore[misc]
    """Sets the library of the function's code before Numba does."""

    _name = "choose_library"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        library = _RuleLibrary if state.flags.no_cpython_wrapper else _KernelLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


def _counted_from_front(code: Any, index: Any, kind: Any) -> Any:
    """Return the type of an index, or of a tuple of indices: unsigned, unless it is a negative constant.

    Args:
        code: intermediate code of Numba.
        index: variable of the index.
        kind: its type.
    """
    if isinstance(kind, _types.BaseTuple):
        indices, _ = guard(find_build_sequence, code, index) or ([None] * len(kind), "")
        pairs = zip(indices, kind, strict=True)
        return _types.Tuple([_counted_from_front(code, one, its_kind) for one, its_kind in pairs])
    constant = guard(find_const, code, index) if index is not None else None
    is_signed = isinstance(kind, _types.Integer) and kind.signed
    return _types.uint64 if is_signed and (constant is None or constant >= 0) else kind


@register_pass(mutates_CFG=False, analysis_only=True)  # of the code: only the types of calls change
class _CountFromFront(FunctionPass):  # type: ignore[misc]
    """Makes indices of arrays unsigned, so that Numba does not test whether they count from the end.

    A constant may still be negative. With `NUMBA_BOUNDSCHECK=1` any other negative index is an error.
    """

    _name = "count_from_front"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        calls = state.calltypes
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                value = statement.value if isinstance(statement, ir.Assign) else statement
                if isinstance(value, ir.SetItem) or (isinstance(value, ir.Expr) and value.op == "getitem"):
                    array, kind, *others = calls[value].args
                    if isinstance(array, types.Array):
                        unsigned = _counted_from_front(state.func_ir, value.index, kind)
                        result = calls.pop(value).return_type  # an entry cannot be overwritten
                        calls[value] = signature(result, array, unsigned, *others)
        return False


class Compiler(compiler.CompilerBase):  # type: ignore[misc]
    """Numba's compiler with the libraries above."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes and ours."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_ChooseLibrary, typed_passes.NopythonTypeInference)
        passes.add_pass_after(_CountFromFront, typed_passes.NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]


_NARROW_INTS = (types.int8, types.int16, types.int32)


def _widened(argument: Any) -> Any:
    """Return the type that a rule is compiled for: int64 for all signed ints, including constants."""
    if isinstance(argument, types.Literal):
        argument = argument.literal_type
    if argument in _NARROW_INTS:
        return types.int64
    return argument


class RuleDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher for rules, compiled once for all integer types."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the signature for a call with arguments of these types, widened."""
        wide = {name: _widened(argument) for name, argument in kws.items()}
        return super().get_call_template(tuple(map(_widened, args)), wide)


class _RuleCacheImpl(SourcesCacheImpl):
    """Caches a rule's intermediate code beside the machine code for calls from Python."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}-rule"

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, bitcode), description, environment, signature, objectmode, lifted, *_ = payload
        library = _RuleLibrary.of_bitcode(target_context.codegen(), name, bitcode)
        return compiler.CompileResult(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, description, environment),
            fndesc=description,
            type_annotation="",
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=[],
            referenced_envs=(),
        )


class RuleCache(SourcesCache):
    """The cache of rules."""

    _impl_class = _RuleCacheImpl
