"""Numba's private names that are used, which the admitted versions have, and what breaks without each."""

from __future__ import annotations

import ast
import importlib
import tomllib
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
import pytest

from millebornes_env.engine.numba.compiling import IS_COMPILED
from tests.each import each

ROOT: Final = Path(__file__).resolve().parents[3]
FILES: Final = (
    *(
        f"millebornes_env/engine/numba/{name}.py"
        for name in ("compiling", "cache", "compiling_rules", "simd", "threads")
    ),
    "export/module.py",
)

NAMES: Final = {
    "numba.core.caching:CompileResultCacheImpl.get_filename_base": "rules share a cache file with kernels",
    "numba.core.caching:CompileResultCacheImpl.rebuild": "rules are not loaded as intermediate code",
    "numba.core.caching:CompileResultCacheImpl._locator_classes": "the cache lies beside the sources",
    "numba.core.caching:FunctionCache._impl_class": "the cache lies beside the sources",
    "numba.core.caching:FunctionCache.load_overload": "a damaged cache ends every command",
    "numba.core.caching:FunctionCache.save_overload": "a full disk ends every command",
    "numba.core.caching:IndexDataCacheFile._data_name": "a process overwrites what another one is reading",
    "numba.core.caching:IndexDataCacheFile._data_path": "damaged data is not noticed",
    "numba.core.caching:IndexDataCacheFile._dump": "damaged data is not noticed",
    "numba.core.caching:IndexDataCacheFile._load_data": "damaged data is not noticed",
    "numba.core.caching:IndexDataCacheFile._load_index": "a damaged index ends every command",
    "numba.core.caching:IndexDataCacheFile._open_for_write": "damaged data is not noticed",
    "numba.core.caching:IndexDataCacheFile._save_data": "damaged data is not noticed",
    "numba.core.caching:NullCache": "without a cache folder nothing runs",
    "numba.core.caching:_CacheLocator.from_function": "the cache lies beside the sources",
    "numba.core.caching:_CacheLocator.get_cache_path": "the cache lies beside the sources",
    "numba.core.caching:_CacheLocator.get_disambiguator": "functions of the same name share a cache file",
    "numba.core.caching:_CacheLocator.get_source_stamp": "every file of the cache looks stale",
    "numba.core.cgutils:if_unlikely": "threads cannot call a kernel by its address",
    "numba.core.cgutils:pack_array": "rules have no arrays of their own",
    "numba.core.cgutils:unpack_tuple": "threads cannot call a kernel by its address",
    "numba.core.codegen:CPUCodeLibrary._finalize_final_module": "a wheel is made of rewritten code",
    "numba.core.codegen:CPUCodeLibrary._optimize_final_module": "kernels compile for nearly twice as long",
    "numba.core.codegen:JITCodeLibrary._ensure_finalized": "rules cannot be linked in",
    "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals": "rules cannot be linked in",
    "numba.core.codegen:JITCodeLibrary._get_module_for_linking": "rules cannot be linked in",
    "numba.core.codegen:JITCodeLibrary._raise_if_finalized": "rules cannot be linked in",
    "numba.core.codegen:JITCodeLibrary.enable_object_caching": "rules are not kept on disk",
    "numba.core.codegen:JITCodeLibrary.finalize": "machine code is made of every rule",
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": "machine code is made of every rule",
    "numba.core.codegen:JITCodeLibrary.serialize_using_object_code": "rules are not kept on disk",
    "numba.core.compiler:CompileResult": "rules are not loaded from disk",
    "numba.core.compiler:CompilerBase.define_pipelines": "machine code is made of every rule",
    "numba.core.compiler:DefaultPassBuilder.define_nopython_pipeline": "machine code is made of every rule",
    "numba.core.compiler_lock:global_compiler_lock": "tests that run side by side compile everything twice",
    "numba.core.compiler_lock:require_global_compiler_lock": "two threads compile into one another",
    "numba.core.compiler_machinery:FunctionPass": "machine code is made of every rule",
    "numba.core.compiler_machinery:PassManager.add_pass_after": "machine code is made of every rule",
    "numba.core.compiler_machinery:register_pass": "machine code is made of every rule",
    "numba.core.config:BOUNDSCHECK": "the ways to run are not told apart",
    "numba.core.config:CACHE_DIR": "NUMBA_CACHE_DIR is not heeded",
    "numba.core.config:DISABLE_JIT": "the ways to run are not told apart",
    "numba.core.config:OPT": "kernels compile for nearly twice as long",
    "numba.core.config:THREADING_LAYER": "a layer that is missing is not named",
    "numba.core.dispatcher:Dispatcher.compile": "signals break into the compiler, and it crashes",
    "numba.core.event:Listener": "nobody is told that something is compiled",
    "numba.core.event:register": "nobody is told that something is compiled",
    "numba.core.ir:Assign": "indices are tested for their sign",
    "numba.core.ir:Expr": "indices are tested for their sign",
    "numba.core.ir:SetItem": "indices are tested for their sign",
    "numba.core.ir_utils:find_build_sequence": "a constant index cannot count from the end",
    "numba.core.ir_utils:find_const": "a constant index cannot count from the end",
    "numba.core.ir_utils:guard": "a constant index cannot count from the end",
    "numba.core.registry:CPUDispatcher.get_call_template": "rules are compiled for each kind of int",
    "numba.core.typed_passes:NoPythonSupportedFeatureValidation": "indices are tested for their sign",
    "numba.core.typed_passes:NopythonTypeInference": "machine code is made of every rule",
    "numba.core.types:Array": "rules have no arrays of their own",
    "numba.core.types:BaseTuple": "no wheel can be made",
    "numba.core.types:Dispatcher": "kernels cannot call rules",
    "numba.core.types:Integer": "indices are tested for their sign",
    "numba.core.types:IntegerLiteral": "rules have no arrays of their own",
    "numba.core.types:Literal": "rules are compiled for each constant",
    "numba.core.types:NamedTupleClass": "rules have no flags",
    "numba.core.types:NamedUniTuple": "rules have no flags",
    "numba.core.types:Record": "no wheel can be made",
    "numba.core.types:Tuple": "indices are tested for their sign",
    "numba.core.types:UniTuple": "no wheel can be made",
    "numba.core.types:unliteral": "no wheel can be made",
    "numba.core.typing:signature": "indices are tested for their sign",
    "numba.np.numpy_support:as_dtype": "no wheel can be made",
}
"""Undocumented names of Numba that the package uses, and what breaks without each."""

OF_A_LIBRARY: Final = {
    "_final_module": "rules cannot be linked in",
    "_finalized": "rules cannot be linked in",
    "_linking_libraries": "rules cannot be linked in",
    "_shared_module": "rules cannot be linked in",
}

compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")


@each("name, what_breaks", NAMES.items())
def test_numba_has_the_private_name(name: str, what_breaks: str) -> None:
    module, _, path = name.partition(":")
    try:
        result: Any = importlib.import_module(module)
        for part in path.split("."):
            result = getattr(result, part)
    except (ImportError, AttributeError) as error:
        pytest.fail(f"Numba {numba.__version__} has no {name} ({error}): {what_breaks}")


@pytest.fixture(scope="module")
def dispatcher() -> Any:
    made = numba.njit(lambda number: number + 1)
    assert made(1) == 2
    return made


@compiled_only
@each("name, what_breaks", OF_A_LIBRARY.items())
def test_a_library_has_the_private_attribute(name: str, what_breaks: str, dispatcher: Any) -> None:
    (compiled,) = dispatcher.overloads.values()
    assert hasattr(compiled.library, name), f"Numba {numba.__version__} has no {name}: {what_breaks}"


@compiled_only
def test_a_dispatcher_has_its_cache_and_its_compiled_code(dispatcher: Any) -> None:
    """Else nothing is kept on disk, threads cannot call kernels by address, and no wheel can be made."""
    assert hasattr(dispatcher, "_cache")
    (compiled,) = dispatcher.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) != 0


@compiled_only
def test_compiling_goes_through_the_method_that_is_wrapped() -> None:
    """Else signals break into the compiler, and a loop that compiles seems slow."""
    dispatcher: Any = numba.njit(lambda number: number + 2)
    asked = []
    compile_it = dispatcher.compile
    dispatcher.compile = lambda signature: (asked.append(signature), compile_it(signature))[1]
    assert dispatcher(np.int64(1)) == 3
    assert asked == [(numba.int64,)]


def test_every_name_that_is_imported_is_in_the_table() -> None:
    known = {name.partition(".")[0] for name in (entry.partition(":")[2] for entry in NAMES)}
    modules = {entry.partition(":")[0] for entry in NAMES}
    for file in FILES:
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba."):
                for alias in node.names:
                    assert alias.name in known or f"{node.module}.{alias.name}" in modules, (file, alias.name)


def test_the_versions_that_are_admitted_end_where_the_table_was_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "numba>=0.61,<0.69" in project["dependencies"]
