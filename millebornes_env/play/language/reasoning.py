"""The part of an answer that follows its reasoning.

Models that are served without a reasoning parser write their thoughts into the answer, between marks:
`<think> ... </think>`, `[THINK] ... [/THINK]`, `<|channel|>analysis ... <|channel|>final ...`. Moves named
there are not the answer, even if a mark is cut off or only the end mark is present.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_WORDS: Final = re.compile(
    "thinks?|thinking|thoughts?|reasons?|reasoning|reflections?|analysis|scratchpad|rationale|monologue|deliberation|cot|inner|planning|brainstorm|commentary"
)
"""Words in marks of reasoning, and names of channels without an answer."""
_END_WORDS: Final = re.compile("end|close|stop|suffix|done")

_TAG: Final = re.compile(
    r"""
      (?P<bracket> < | &lt; | [\[◁\uff1c⟨] ) \s{0,2}
      (?P<before> /? [|\uff5c]? \s{0,2} /? ) \s{0,2}
      (?P<name> [^\W\d_] [\w:.\-▁]* ) (?P<rest> \s [^<>\[\]\n]{0,200}? )? \s{0,2}
      (?P<after> /? ) [|\uff5c]? \s{0,2} (?: > | &gt; | [\]▷\uff1e⟩] )
    """,
    re.VERBOSE,
)
_CHANNEL: Final = re.compile(r"<\|?channel\|?>\s*(?P<name>[A-Za-z]*)")
_FENCE: Final = re.compile(r"^[ \t]*(?P<fence>```+|~~~+)[ \t]*(?P<name>[A-Za-z_]+)[^\n]*$", re.MULTILINE)
_SENTENCES: Final = (
    # remains of marks that the server has removed, and marks in plain words
    (re.compile(r"\A\s*analysis(?=[A-Z])"), re.compile(r"assistantfinal", re.IGNORECASE)),
    (
        re.compile(r"^[ \t]*Thinking\s?(?:\.\.\.|…)", re.M),
        re.compile(r"(?:\.\.\.|…)\s?done thinking\.?", re.I),
    ),
    (
        re.compile(r"here(?: i|')s my (?:thought|reasoning|thinking) process:", re.I),
        re.compile(r"here(?: i|')s my (?:response|answer|final answer|move):", re.I),
    ),
    (re.compile(r"<unused94>"), re.compile(r"<unused95>")),
)
_SPECIAL: Final = re.compile(r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|</?s>|<eos>")
"""Marks of a model's own at the ends of a text: `<|message|>`, `<|return|>`, `</s>`."""


class _Mark(NamedTuple):
    start: int
    end: int
    is_begin: bool
    text: str


def after_reasoning(text: str) -> tuple[str, str]:
    """Return the text after the last end mark of reasoning.

    Args:
        text: an answer of a language model.

    Returns:
        The rest of the text (all of it if there are no marks), and a problem: empty, or half a sentence that
        says why there is no rest.
    """
    marks = sorted(_marks(text))
    if not marks:
        return text, ""
    last_end = max((mark for mark in marks if not mark.is_begin), key=lambda mark: mark.end, default=None)
    start = 0 if last_end is None else last_end.end
    open_mark = next((mark for mark in marks if mark.is_begin and mark.start >= start), None)
    if open_mark is not None:
        return "", f"its reasoning, begun with {open_mark.text!r}, has no end: it is cut off"
    rest = _without_specials(text, start)
    if last_end is not None and not rest:
        return "", f"nothing follows its reasoning, ended with {last_end.text!r}: it is cut off"
    return rest, ""


def _without_specials(text: str, start: int) -> str:
    """Strip whitespace and special tokens from both ends of the text from `start` on."""
    end = len(text)
    while start < end:
        if text[start].isspace():
            start += 1
        elif result := _SPECIAL.match(text, start, end):
            start = result.end()
        else:
            break
    while start < end:
        if text[end - 1].isspace():
            end -= 1
        elif (last := text.rfind("<", start, end)) >= 0 and _SPECIAL.fullmatch(text, last, end):
            end = last
        else:
            break
    return text[start:end]


def _marks(text: str) -> Iterator[_Mark]:
    """Yield all marks of reasoning, in any order."""
    yield from _tags(text)
    for result in _CHANNEL.finditer(text):
        name = result["name"].casefold()
        is_begin = bool(_WORDS.fullmatch(name))
        is_named = is_begin or name in ("final", "answer", "response")
        end = result.end() if is_named else result.start("name")
        yield _Mark(result.start(), end, is_begin, text[result.start() : end])
    for result in _FENCE.finditer(text):
        if not _has(result["name"], _WORDS):
            continue
        end = text.find(f"\n{result['fence']}", result.end())
        stop = len(text) if end < 0 else end + 1 + len(result["fence"])
        yield _Mark(result.start(), stop, end < 0, result[0].strip())
    for begin, end_of in _SENTENCES:
        begins, ends = list(begin.finditer(text)), list(end_of.finditer(text))
        for is_begin, matches in ((True, begins), (False, ends)):
            yield from (_Mark(one.start(), one.end(), is_begin, one[0].strip()) for one in matches)


def _tags(text: str) -> Iterator[_Mark]:
    """Yield the marks in brackets; `<details type="reasoning">` ends with `</details>`."""
    names: set[str] = set()
    for result in _TAG.finditer(text):
        name = result["name"].casefold()
        is_end = "/" in result["before"] or bool(result["after"]) or _has(result["name"], _END_WORDS)
        is_reasoning = _has(result["name"], _WORDS)
        rest = (result["rest"] or "").strip()
        if not is_reasoning and not is_end and "=" in rest and _has(rest, _WORDS):
            names.add(name)
            is_reasoning = True
        elif rest and result["bracket"] == "[":
            continue  # prose in brackets
        if is_reasoning or (is_end and name in names):
            yield _Mark(result.start(), result.end(), not is_end, result[0])


def _has(name: str, words: re.Pattern[str]) -> bool:
    """Return True if a name has one of the words: `antThinking`, `seed:think`, `END_OF_THOUGHT`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return any(words.fullmatch(part) for part in re.findall(r"[^\W\d_]+", spaced.casefold()))
