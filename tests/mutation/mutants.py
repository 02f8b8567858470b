"""Mutants of the rulebook: its source with one small fault in one place, as a slip of the pen would leave it.

Each operator below is a standard one of mutation testing. A mutant knows itself by the source around it and
not by its line number, so that the same fault is found again in another commit.
"""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.RShift: "<<"}
NEVER_SWAPPED = {"state", "rules", "row", "view", "hidden"}
"""Arguments that are no numbers: swapped, they make Python fail at once, which shows nothing of a test."""


Node = ast.expr | ast.stmt
"""What stands at a place of its own in the source."""


class Mutant(NamedTuple):
    """One fault.

    Attributes:
        file: name of the file of the rulebook.
        function: in which function.
        operator: name of the operator that made it.
        line: the source line on which it begins, without indentation.
        before: the stretch of source that is replaced.
        after: what stands there instead.
        copy: 0, or how many faults of the same name come before it in the function.
    """

    file: str
    function: str
    operator: str
    line: str
    before: str
    after: str
    copy: int = 0

    def __str__(self) -> str:
        """Name it for a reader, and for the list of judgements."""
        again = f" ({self.copy + 1})" if self.copy else ""
        return f"{self.file} {self.function}: {_in_a_line(self.before)} -> {_in_a_line(self.after)}{again}"


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


class _Change(NamedTuple):
    operator: str
    node: Node
    after: str


class _Source:
    """A file of the rulebook, its text and what Python reads in it."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: Node) -> tuple[int, int]:
        """Where the node stands, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: Node) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def line(self, node: Node) -> str:
        return self.data[self._starts[node.lineno - 1] : self._starts[node.lineno]].decode().strip()

    def changed(self, node: Node, after: str) -> str:
        start, end = self.span(node)
        return (self.data[:start] + after.encode() + self.data[end:]).decode()


# The operators ----------------------------------------------------------------------------------------------


def _comparison(source: _Source, node: Node) -> Iterator[str]:
    """Another comparison: `<` for `<=`, `!=` for `==`."""
    if isinstance(node, ast.Compare):
        for place, kind in enumerate(node.ops):
            texts = [source.text(part) for part in (node.left, *node.comparators)]
            signs = [_sign(source, node, other) for other in range(len(node.ops))]
            signs[place] = COMPARISONS[type(kind)]
            pairs = (f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True))
            yield texts[0] + "".join(pairs)


def _sign(source: _Source, node: ast.Compare, place: int) -> str:
    parts = (node.left, *node.comparators)
    between = source.data[source.span(parts[place])[1] : source.span(parts[place + 1])[0]].decode()
    return between.strip(" ()\n")


def _constant(source: _Source, node: Node) -> Iterator[str]:
    """A number, or the name of one, off by one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"{node.value + 1}"
        if node.value > 0:
            yield f"{node.value - 1}"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.isupper():
        yield f"({node.id} + 1)"


def _connective(source: _Source, node: Node) -> Iterator[str]:
    """`and` for `or`, and the other way round."""
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield "(" + word.join(_bracketed(source, value) for value in node.values) + ")"


def _negation(source: _Source, node: Node) -> Iterator[str]:
    """`not` dropped; a condition turned round."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({source.text(node.operand)})"


def _condition(source: _Source, node: Node) -> Iterator[str]:
    """A condition that always, or never, holds."""
    if isinstance(node, ast.If | ast.IfExp):
        yield from ("True", "False")


def _statement(source: _Source, node: Node) -> Iterator[str]:
    """A statement deleted: a call, what is written into the record, the end of a function before its end."""
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_written = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    is_left = isinstance(node, ast.Return) and node.value is None
    if is_call or is_written or is_left or isinstance(node, ast.AugAssign | ast.Continue):
        yield "pass"


def _arguments(source: _Source, node: Node) -> Iterator[str]:
    """Two neighbouring arguments swapped."""
    if not isinstance(node, ast.Call) or node.keywords:
        return
    texts = [source.text(argument) for argument in node.args]
    for place in range(len(texts) - 1):
        pair = texts[place : place + 2]
        if pair[0] != pair[1] and not NEVER_SWAPPED & set(pair):
            swapped = [*texts[:place], *reversed(pair), *texts[place + 2 :]]
            yield f"{source.text(node.func)}({', '.join(swapped)})"


def _arithmetic(source: _Source, node: Node) -> Iterator[str]:
    """`-` for `+`, `//` for `*`."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = (_bracketed(source, part) for part in (node.left, node.right))
        yield f"({left} {ARITHMETIC[type(node.op)]} {right})"
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield f"{source.text(node.target)} {ARITHMETIC[type(node.op)]}= {source.text(node.value)}"


def _answer(source: _Source, node: Node, returns: str) -> Iterator[str]:
    """Another answer: no for yes, one more for a number."""
    if isinstance(node, ast.Return) and node.value is not None:
        if isinstance(node.value, ast.Constant) and returns == "bool":
            yield f"return {not node.value.value}"
        elif returns == "bool":
            yield f"return not ({source.text(node.value)})"
        elif returns == "int":
            yield f"return {_bracketed(source, node.value)} + 1"


def _bracketed(source: _Source, node: Node) -> str:
    """The text of the node, in brackets where what stands beside it could otherwise bind stronger."""
    is_one_word = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    return source.text(node) if is_one_word else f"({source.text(node)})"


OPERATORS = {
    "comparison": _comparison,
    "constant": _constant,
    "connective": _connective,
    "negation": _negation,
    "condition": _condition,
    "statement": _statement,
    "arguments": _arguments,
    "arithmetic": _arithmetic,
}


# Making them ------------------------------------------------------------------------------------------------


def mutants_of(file: str, text: str) -> dict[Mutant, str]:
    """All mutants of a file, each with the text of the file that has its fault.

    Args:
        file: the file's name.
        text: what stands in it.
    """
    source = _Source(text)
    made: dict[Mutant, str] = {}
    seen: Counter[str] = Counter()
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for operator, node, after in _changes(source, function):
            mutant = Mutant(file, function.name, operator, source.line(node), source.text(node), after)
            text_after = source.changed(node, after)
            made[mutant._replace(copy=seen[str(mutant)])] = text_after
            seen[str(mutant)] += 1
    return made


def _changes(source: _Source, function: ast.FunctionDef) -> Iterator[_Change]:
    returns = source.text(function.returns) if function.returns else ""
    for node in _walk(function.body):
        for name, operator in OPERATORS.items():
            at = node.test if name == "condition" and isinstance(node, ast.If | ast.IfExp) else node
            yield from (_Change(name, at, after) for after in operator(source, node))
        yield from (_Change("answer", node, after) for after in _answer(source, node, returns))


def _walk(nodes: Iterable[ast.AST]) -> Iterator[Node]:
    """All nodes in the order of the source, without annotations: those say nothing at run time."""
    for node in nodes:
        if isinstance(node, Node):
            yield node
        yield from _walk(
            child for name, child in _children(node) if name != "annotation" and isinstance(child, ast.AST)
        )


def _children(node: ast.AST) -> Iterator[tuple[str, object]]:
    for name, value in ast.iter_fields(node):
        yield from ((name, child) for child in (value if isinstance(value, list) else [value]))


def drawn(mutants: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """So many mutants of each file, drawn by chance, the operators in turn.

    Args:
        mutants: of which to draw.
        number: how many of each file; all of them where there are fewer.
        seed: the same seed draws the same mutants.
    """
    by_file: defaultdict[str, defaultdict[str, list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    for mutant in mutants:
        by_file[mutant.file][mutant.operator].append(mutant)
    chosen = []
    for file, by_operator in sorted(by_file.items()):
        chance = random.Random(f"{seed} {file}")
        stacks = [chance.sample(stack, len(stack)) for _, stack in sorted(by_operator.items())]
        chance.shuffle(stacks)
        rounds = (
            stack[turn] for turn in range(max(map(len, stacks))) for stack in stacks if turn < len(stack)
        )
        chosen += list(rounds)[:number]
    return chosen
