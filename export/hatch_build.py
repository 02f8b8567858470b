"""Hook of Hatchling that adds compiled kernels to a wheel, and the platform to its name."""

from __future__ import annotations

import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCodeHook(BuildHookInterface):  # type: ignore[misc]  # it has no type hints
    """Compiles the kernels before a wheel is packed.

    Editable installations and wheels for any platform get none. The files for browsers (`export/wasm.py`) are
    in no wheel: there the page uses the server of `millebornes play`.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the files and add them to the wheel."""
        sys.path.insert(0, self.root)
        from export.build import build, holds_machine_code  # noqa: PLC0415 - importable only now
        from export.platforms import LINUX_TAG  # noqa: PLC0415

        if version == "editable" or not holds_machine_code():
            return
        self._files = tempfile.TemporaryDirectory()
        for file in build(self._files.name):
            build_data["force_include"][str(file)] = f"millebornes_env/engine/numba/machine_code/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = LINUX_TAG

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files, which are now in the wheel."""
        if hasattr(self, "_files"):
            self._files.cleanup()
