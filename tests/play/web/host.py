"""A host for the page's engine: Wasmtime, with the module's memory as NumPy arrays.

Kernels are called with the arguments that Python's own take, so long as every array and record lies in the
module's memory (`Host.array`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from export.wasm import ADDRESS_OF, DATA_FILE, MODULE_FILE
from millebornes_env.agents.champion import champion_for
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.games.millebornes import rulebook

PAGE = 1 << 16
PAGES = 1024
ALIGNED = 64


class Host:
    """The engine as one page has it.

    Attributes:
        data: the contents of `engine.json`.
    """

    def __init__(self, folder: Path) -> None:
        import wasmtime  # noqa: PLC0415 - where nothing is built, nothing need be installed

        self.folder = folder
        self.data: dict[str, Any] = json.loads((folder / DATA_FILE).read_text(encoding="utf-8"))
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        linker = wasmtime.Linker(engine)
        float32 = wasmtime.ValType.f32()
        for name, function in (("expf", math.exp), ("tanhf", math.tanh)):
            linker.define_func("env", name, wasmtime.FuncType([float32], [float32]), function)
        module = wasmtime.Module.from_file(engine, str(folder / MODULE_FILE))
        self._exports = linker.instantiate(self._store, module).exports(self._store)
        memory: Any = self._exports["memory"]
        memory.grow(self._store, PAGES)  # once: the memory does not move after that
        size = memory.data_len(self._store)
        self._memory = np.ctypeslib.as_array(memory.get_buffer_ptr(self._store))
        self._base = self._memory.ctypes.data
        heap: Any = self._exports["__heap_base"]
        self._free, self._size = heap.value(self._store), size

    def array(self, shape: Any, dtype: Any) -> Any:
        """A zeroed array in the module's memory."""
        kind = np.dtype(dtype)
        count = int(np.prod(shape))
        start = -(-self._free // ALIGNED) * ALIGNED
        self._free = start + count * kind.itemsize
        assert self._free <= self._size, "the memory of the module is full"
        view = self._memory[start : self._free].view(kind).reshape(shape)
        view.view(np.uint8).reshape(-1)[:] = 0
        return view

    def copy(self, array: Any) -> Any:
        """A copy of an array in the module's memory."""
        copied = self.array(array.shape, array.dtype)
        copied[:] = array
        return copied

    def address(self, array: Any) -> int:
        """Return the address of an array or a record in the module's memory."""
        if array.size == 0:
            return ALIGNED  # nobody reads there, and NumPy's address is anything
        place = array.__array_interface__["data"][0] - self._base
        assert 0 < place < self._size, "not in the memory of the module"
        return int(place)

    def function(self, name: str) -> int:
        """The address of an agent's function, for `choose_each`."""
        result: Any = self._exports[ADDRESS_OF + name]
        return int(result(self._store))

    def kernel(self, name: str) -> Callable[..., Any]:
        """A kernel, called as Numba's is."""
        how = self.data["kernels"][name]
        words = self.array(how["words"], np.int64)
        call: Any = self._exports[f"mb_{name}"]
        first = self.address(words)

        def called(*arguments: Any) -> Any:
            flat: list[int] = []
            for parameter, argument in zip(how["parameters"], arguments, strict=True):
                self._write(parameter, argument, flat)
            words[how["result_words"] :] = flat
            assert call(self._store, first) == 0, f"{name} failed"
            return int(words[0]) if how["result_words"] == 1 else tuple(words[: how["result_words"]].tolist())

        return called

    def _write(self, parameter: list[Any], argument: Any, flat: list[int]) -> None:
        kind, *details = parameter
        if kind == "int":
            flat.append(int(argument))
        elif kind == "record":
            assert argument.itemsize == details[0]
            flat.append(self.address(argument))
        elif kind == "tuple":
            for member, value in zip(details[0], argument, strict=True):
                self._write(member, value, flat)
        else:
            assert argument.dtype.str == details[0], argument.dtype
            assert argument.ndim == details[1]
            assert argument.flags.c_contiguous
            flat += [0, 0, argument.size, argument.itemsize, self.address(argument)]
            flat += [*argument.shape, *argument.strides]

    def champion_options(self, table: Table) -> Any:
        """The options of the champion's network for a table, its weights in the module's memory."""
        told = self.data["champions"][champion_for(table)]
        content, place, blocks = (self.folder / told["file"]).read_bytes(), 0, []
        floats = np.frombuffer(content, np.float32, sum(biases + rows for biases, rows, _ in told["layers"]))
        numbers = np.frombuffer(content, np.int8, offset=floats.nbytes)
        for biases, rows, width in told["layers"]:
            bias, scale = np.split(floats[: biases + rows], [biases])
            of_layer = numbers[place : place + rows * width].reshape(rows, width)
            blocks += [bias, (of_layer * scale[:, np.newaxis]).astype(np.float32).ravel()]
            floats, place = floats[biases + rows :], place + rows * width
        weights = np.concatenate(blocks)
        options = self.copy(np.array(told["options"], np.int64))
        options[self.data["constants"]["ADDRESS"]] = self.address(self.copy(weights))
        return options


class PageGames(Batch):
    """`Games` whose records and buffers lie in the module's memory, played by its kernels."""

    host: Host

    def __init__(self, module: Any, num_games: int, rules: Any, settings: Settings) -> None:
        assert module is rulebook
        super().__init__(module, num_games, rules, settings)
        host = self.host
        self.buffers = type(self.buffers)._make(host.copy(array) for array in self.buffers)
        self.legal = host.copy(self.legal)
        self.states = host.copy(np.asarray(self.states)).view(np.recarray)
        self._states = self.states.view(np.ndarray)
        self.game_rules = type(self.game_rules)._make(map(host.copy, self.game_rules))
        self._actions = host.array(num_games, np.int64)
        self._run_task = partial(host.kernel("millebornes_step_range"), *self._arguments())
        self._sample = partial(host.kernel("sample_range"), self.legal, self._actions, 0, num_games)

    def seed(self, seed: int, first_game: int = 0) -> None:
        words = seed & 0xFFFFFFFF, seed >> 32
        self.host.kernel("millebornes_seed_games")(self._states, first_game, *words)
