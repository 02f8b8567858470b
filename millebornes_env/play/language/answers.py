"""Parsing of a language model's answer: the action, or the reason why it cannot be played."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from millebornes_env._util.texts import shortened
from millebornes_env.errors import PlayError, shown
from millebornes_env.games.registry import game as find_game
from millebornes_env.play.language.json_answers import DISCARD, KEYS, NO_OBJECT, Detail, Move, find_move
from millebornes_env.play.language.reasoning import after_reasoning
from millebornes_env.play.language.views import View, Words, checked_view, reading_a_view, words_of

_ARROWS: Final = re.compile(r"[-=~]+>|[→⇒➔➜⟶»]")
_FILLERS: Final = re.compile("i|ill|will|would|play|lay|use|put|down|choose|the|a|an|my|cards?|please")
"""Words that are ignored."""
_FEWEST_LETTERS: Final = 6  # of a name that may be misspelt by one letter
_LONGEST_MOVE: Final = 120


@dataclass(frozen=True)
class Answer:
    """The parsed answer of a language model.

    Attributes:
        action: id of the named legal action, or None.
        move: name of that action, or None.
        said: the move in the words of the answer, legal or not; None if none was found.
        reason: the reason why there is no action, a sentence for the model; else empty.
        text: the whole answer.
    """

    action: int | None
    move: str | None
    said: str | None
    reason: str
    text: str


@reading_a_view()
def parse(text: str, view: View) -> Answer:
    """Parse the answer of a language model, without guessing.

    The move is the entry "move" of the last JSON object in the answer. An answer that consists of the name of
    a move is also accepted. Prose is never searched, because reasoning also names rejected moves; text before
    the last end mark of reasoning (`</think>`) is ignored. Capitals, spaces, accents, hyphens, arrows, "play"
    and the like do not matter, nor does one wrong letter in a long name.

    Args:
        text: the answer.
        view: the view that the prompt was made from.

    Returns:
        The action, or the reason why it cannot be read or played.

    Raises:
        PlayError: the answer is not text, or the view is invalid.
        OptionError: the game has no words.
    """
    given: object = text
    if not isinstance(given, str):
        raise PlayError(f"an answer is text; got {shown(given)}")
    words: Any = words_of(find_game(checked_view(view)["game"]))
    said, problem = after_reasoning(text)
    if problem:
        return _unreadable(problem, text)
    result = find_move(said)
    is_bare = result is None and _is_bare(said)
    if result is None:
        result = Move(said.strip()) if is_bare else Move(None, (), NO_OBJECT)
    if result.move is None:
        return _unreadable(result.problem, text)
    names = _names_of(words, words.rules_of(view))
    actions, contradiction = names.meant_by(result.move, result.details)
    if is_bare and not actions:
        return _unreadable(NO_OBJECT, text)
    legal = [action for action in actions if str(action) in view["moves"]]
    move = shortened(result.move)
    if len(legal) == 1:
        return Answer(legal[0], view["moves"][str(legal[0])], move, "", text)
    if contradiction is not None and view["moves"]:
        key, detail = contradiction.key, shortened(contradiction.text)
        reason = f"The {key!r} of your answer, {detail!r}, contradicts its move {move!r}."
        return Answer(None, None, move, reason, text)
    return Answer(None, None, move, names.why_not(view, move, legal or actions), text)


def text_of(answer: object) -> str:
    """Return the answer of a chat API, or an empty text if it is not text (a refused answer is None)."""
    return answer if isinstance(answer, str) else ""


def _unreadable(problem: str, text: str) -> Answer:
    return Answer(None, None, None, f"Your answer cannot be read: {problem}.", text)


def _is_bare(text: str) -> bool:
    """Return True if an answer may be the name of a move and nothing else."""
    line = text.strip()
    return 0 < len(line) <= _LONGEST_MOVE and not any(letter in line for letter in "\n{}")


@functools.lru_cache(maxsize=64)
def _names_of(words: Any, rules: Any) -> _Names:
    return _Names(words, rules)


class _Names:
    """The names of all actions of a table."""

    def __init__(self, words: Words, rules: Any) -> None:
        self._words = words
        self._names = words.move_names(rules)
        self._synonyms = {
            tuple(_tokens(name)): tuple(_tokens(means)) for name, means in words.SYNONYMS.items()
        }
        self._actions: dict[str, set[int]] = {}
        for action, (name, others) in enumerate(zip(self._names, words.other_names(rules), strict=True)):
            for one in (name, *others):
                self._actions.setdefault(self._key(one), set()).add(action)

    def meant_by(self, move: str, details: Sequence[Detail]) -> tuple[list[int], Detail | None]:
        """Find the actions that a move may mean, or the detail that contradicts the move."""
        own = [detail for detail in details if _is_own(detail)]
        relevant = [
            _with_discard(detail)
            for detail in details
            if not (detail in own or self._is_nothing(detail.text))
        ]
        result = self._meant_with(move, relevant)
        bare = self._of_key(self._key(move)) if relevant and not result else []
        if bare:
            odd = (one for one in relevant if not any(self._agrees(action, one.text) for action in bare))
            return [], next(odd, relevant[0])
        fitting = [action for action in result if not self._has_target(action)] if own else result
        return fitting, own[0] if result and not fitting else None

    def _meant_with(self, move: str, details: Sequence[Detail]) -> list[int]:
        """Find the actions named by the move and some of its details that agree with all others.

        Those of other keys that may hold the whole move have to agree.
        """
        result: set[int] = set()
        may_be_used = [(False,) if detail.key in (DISCARD, *KEYS) else (False, True) for detail in details]
        for used in itertools.product(*may_be_used):
            texts = [detail.text for detail, is_used in zip(details, used, strict=True) if is_used]
            others = [detail.text for detail, is_used in zip(details, used, strict=True) if not is_used]
            for text in _orders(move, texts):
                named = self._of_key(self._key(text))
                result.update(one for one in named if all(self._agrees(one, other) for other in others))
        return sorted(result)

    def _is_nothing(self, detail: str) -> bool:
        """Return True if a detail says nothing: "none", "n/a", "no target", "-", "the card"."""
        return not self._normal(detail) or _is_made_of(detail, _NEGATIVES)

    def _has_target(self, action: int) -> bool:
        """Return True if the action is played against another team."""
        return "against" in self._normal(self._names[action])

    def _agrees(self, action: int, detail: str) -> bool:
        """Return True if a detail is a name of the action, or a part of its first name."""
        if action in self._actions.get(self._key(detail), ()):
            return True
        said, name = self._normal(detail), self._normal(self._names[action])
        return bool(said) and any(
            name[start : start + len(said)] == said for start in range(len(name) - len(said) + 1)
        )

    def _of_key(self, key: str) -> list[int]:
        """Return the actions with a name, or with the only name that differs from it by a letter."""
        if key in self._actions:
            return sorted(self._actions[key])
        close = [known for known in self._actions if _is_misspelt(key, known)]
        result = [self._actions[known] for known in close]
        return sorted(result[0]) if result and all(one == result[0] for one in result) else []

    def _normal(self, text: str) -> list[str]:
        tokens = _replaced(_tokens(text), self._synonyms)
        return [token for token in tokens if not _FILLERS.fullmatch(token)]

    def _key(self, text: str) -> str:
        return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(self._normal(text)))

    def why_not(self, view: View, said: str, actions: Sequence[int]) -> str:
        """Return the reason why a move cannot be played."""
        if not view["moves"]:
            return "It is not your turn."
        if not actions:
            return f"There is no move {said!r} in this game, or it does not say which one is meant."
        if len(actions) > 1:
            names = " or ".join(repr(self._names[action]) for action in actions)
            return f"{said!r} does not say which move is meant: {names}."
        reason = self._words.reason_against(view, actions[0])
        return f"{self._names[actions[0]]!r} is not legal now: {reason}."


_NEGATIVES: Final = "no|none|not|n|na|null|nil|nothing|nobody|noone|nan|undefined|empty|false"
_OWN: Final = "0|me|my|mine|myself|own|our|ours|self|us|you|your|yours|yourself"
_NOUNS: Final = (
    "a|i|the|to|it|one|any|is|target|opponents?|card|team|player|seat|side|car|area|display|tableau|pile|hand|"
    "battle|distance|speed|safety|applicable|available|needed|required|specified"
)
"""Words that may stand beside those of `_NEGATIVES` and `_OWN`: "no target", "your own battle pile"."""


def _is_made_of(detail: str, words: str) -> bool:
    """Return True if a detail has one of the words, and apart from them nothing but nouns."""
    tokens = _tokens(detail)
    return any(re.fullmatch(words, token) for token in tokens) and all(
        re.fullmatch(f"{words}|{_NOUNS}", token) for token in tokens
    )


def _is_own(detail: Detail) -> bool:
    """Return True if a detail names the answering player: "self", "own team", "seat 0"."""
    return (
        detail.key not in ("card", *KEYS) and detail.text[0] not in "[{(" and _is_made_of(detail.text, _OWN)
    )


def _with_discard(detail: Detail) -> Detail:
    """Return a detail of the key "discard" with this word before the card."""
    is_short = detail.key == DISCARD and not detail.text.startswith(DISCARD)
    return detail._replace(text=f"{DISCARD} {detail.text}") if is_short else detail


def _orders(move: str, details: Sequence[str]) -> Iterable[str]:
    """Join the move and its details in all ways that may make a name."""
    yield " ".join((move, *details))
    if details:
        yield f"{move} against {' '.join(details)}"
    if len(details) > 1:
        yield f"{move} {details[0]} against {' '.join(details[1:])}"


def _tokens(text: str) -> list[str]:
    """Split a text into words and numbers, without capitals, accents and punctuation."""
    text = _ARROWS.sub(" against ", text)
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    apart = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return re.findall(r"[0-9]+|[^\W\d_]+", letters.replace("'", ""))


def _replaced(tokens: list[str], synonyms: Mapping[tuple[str, ...], tuple[str, ...]]) -> list[str]:
    """Replace synonyms in the tokens, the longest first."""
    longest = max(map(len, synonyms), default=0)
    result: list[str] = []
    start = 0
    while start < len(tokens):
        for length in range(min(longest, len(tokens) - start), 0, -1):
            means = synonyms.get(tuple(tokens[start : start + length]))
            if means is not None:
                result += means
                start += length
                break
        else:
            result.append(tokens[start])
            start += 1
    return result


def _is_misspelt(written: str, name: str) -> bool:
    """Return True if the two differ by one letter: missing, added, replaced, or swapped with the next."""
    if abs(len(written) - len(name)) > 1 or len(name) < _FEWEST_LETTERS:
        return False
    if re.findall(r"\d+", written) != re.findall(r"\d+", name):
        return False
    start = 0
    while start < min(len(written), len(name)) and written[start] == name[start]:
        start += 1
    rest, wanted = written[start:], name[start:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )
