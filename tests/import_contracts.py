"""Contracts for `lint-imports` (pyproject.toml) besides those that Import Linter brings."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class AcyclicFiles(Contract):
    """No files import each other in a circle, be it in a function, for a type checker or by `__init__`."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look for a circle in the graph of all files."""
        imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
        try:
            TopologicalSorter(imported).prepare()
        except CycleError as error:
            return ContractCheck(kept=False, metadata={"circle": error.args[1]})
        return ContractCheck(kept=True)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one circle."""
        output.print_error(" <- ".join(check.metadata["circle"]))
