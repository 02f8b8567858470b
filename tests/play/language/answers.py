"""Answers as language models write them, made by a program: sloppy but clear ones, and ambiguous ones."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

from millebornes_env.play.language import View, legal_moves
from tests.play.language.games import views

THOUGHTS = (
    "Let me think about this.",
    "My opponent is close to the end, so I should hurry.",
    "There are two good moves here.",
    "Curly braces {like these} are no answer, and neither is {this: one}.",
)


def sloppy_name(name: str, rng: random.Random) -> str:
    """The name of a move as somebody might write it who does not look twice."""
    for change in rng.sample(CHANGES, rng.randint(1, 3)):
        name = change(name, rng)
    return name


def _case(name: str, rng: random.Random) -> str:
    return rng.choice([str.upper, str.lower, str.title])(name)


def _separators(name: str, rng: random.Random) -> str:
    return name.replace(" ", rng.choice(["_", "-", "  ", " - " if "against" not in name else "_"]))


def _prefix(name: str, rng: random.Random) -> str:
    if name.startswith(("discard", "claim", "pass", "extend", "finish")):
        return rng.choice([name, f"I {name}", f" {name} "])
    return rng.choice([f"play {name}", f"Play the {name}", f"I'll play {name}", f"lay {name}"])


def _arrow(name: str, rng: random.Random) -> str:
    return name.replace(
        " against ", rng.choice([" -> ", "->", " → ", " on ", " => ", " at ", " against the "])
    )


def _km(name: str, rng: random.Random) -> str:
    return re.sub(r" km$", rng.choice(["", "km", " KM", " kilometers", " miles"]), name)


def _punctuation(name: str, rng: random.Random) -> str:
    return rng.choice([f"{name}.", f"{name}!", f"**{name}**", f"'{name}'", f"[{name}]", f"({name})"])


def _letter(name: str, rng: random.Random) -> str:
    """One letter of a long word left out, doubled, or exchanged with the next one."""
    long_words = list(re.finditer(r"[A-Za-z]{6,}", name))
    if not long_words:
        return name
    at = rng.choice(long_words).start() + rng.randint(1, 4)
    changed = (name[at + 1 :], name[at] + name[at:], name[at + 1] + name[at] + name[at + 2 :])
    return name[:at] + rng.choice(changed)


def _synonym(name: str, rng: random.Random) -> str:
    """Replace a name by that of another edition, or of another kind of English."""
    known = {
        "Flat tire": "flat tyre",
        "Spare tire": "spare tyre",
        "Roll": "green light",
        "Gasoline": "petrol",
        "End of limit": "end of speed limit",
        "claim": "claim the coup fourré",
        "pass": "let the hazard stand",
        "extend": "extend the trip",
        "finish": "finish the trip",
    }
    return next((name.replace(one, other) for one, other in known.items() if one in name), name)


CHANGES: list[Callable[[str, random.Random], str]] = [
    _case,
    _separators,
    _prefix,
    _arrow,
    _km,
    _punctuation,
    _synonym,
]


def sloppy_object(name: str, rng: random.Random) -> str:
    """A JSON object, or what models write instead, that says the move."""
    quoted = json.dumps(name, ensure_ascii=rng.random() < 0.5)
    single = name.replace("'", "")
    card = re.match(r"discard (.*)", name, re.IGNORECASE)
    forms = [
        f'{{"move": {quoted}}}',
        f'{{"move":{quoted},"reason":"it is best"}}',
        f'{{"reasoning": "first Roll, then 100 km", "move": {quoted}, "confidence": 0.9}}',
        f'{{"Move": {quoted}}}',
        f'{{"action": {quoted}}}',
        f'{{"move": [{quoted}]}}',
        f'{{"answer": {{"move": {quoted}}}}}',
        f"{{'move': '{single}'}}",
        f'{{"move": {quoted},}}',
        f"{{move: {quoted}}}",
        f"{{“move”: “{single}”}}".replace('"', ""),
        json.dumps({"move": name}, indent=2),
    ]
    if card:
        forms.append(json.dumps({"move": "discard", "card": card[1]}))
    return rng.choice(forms)


def sloppy_answer(view: View, rng: random.Random) -> tuple[str, int]:
    """An answer that names one legal move, and the action that it means."""
    moves = legal_moves(view)
    action, name = rng.choice(list(moves.items()))
    said = _letter(name, rng) if rng.random() < 0.1 else sloppy_name(name, rng)
    if rng.random() < 0.1:
        return rng.choice([said, f"  {said}\n", f"{said}."]), action
    distance = re.fullmatch(r"(\d+) km", name)
    if distance and rng.random() < 0.2:
        return f'{{"move": {distance[1]}}}', action
    before = [rng.choice(THOUGHTS) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.4:  # what it thought of first
        other = rng.choice(list(moves.values()))
        before.append(
            rng.choice([f'{{"move": "{other}"}}? No.', f'```json\n{{"move": "{other}"}}\n```\nWait.'])
        )
    written = sloppy_object(said, rng)
    if rng.random() < 0.4:
        written = f"```json\n{written}\n```"
    after = rng.choice(["", "", "\n", "\nThat is my move.", '\n{"confidence": 0.8}'])
    return "\n".join([*before, written]) + after, action


def ambiguous_answer(view: View, rng: random.Random) -> str:
    """An answer that does not say which one legal move it means."""
    names = list(legal_moves(view).values())
    one, other = rng.choice(names), rng.choice(names)
    while other == one and len(names) > 1:
        other = rng.choice(names)
    targets = sorted({name.partition(" against ")[2] for name in names if " against " in name})
    kinds = [
        lambda: _object(f"{one}{rng.choice([' or ', ' and ', ', then ', ' / ', ', ', ' | '])}{other}"),
        lambda: json.dumps({"move": [one, other]}),
        lambda: json.dumps({"move": {"first": one, "second": other}}),
        lambda: f"I think that {one} is best here. But {other} would do, too.\nSo that is my answer.",
        lambda: f"My move: {one}? Perhaps {other}.",
        lambda: _object(
            rng.choice(["tire", "discard", "limit", "km", "a distance card", "a safety", "against"])
        ),
        lambda: _object(rng.choice(["opponent", "the best move", "any", "1", "first", "?", "...", "", " "])),
        lambda: f'{{"move": "{one}", "move": "{other}"}}',
        lambda: f"{{'move': '{one}', 'move': '{other}'}}",
        lambda: f'{{"move": "{one}"}}\nNo, better:\n{{"move": "{other}'[: -rng.randint(1, 3)],
        lambda: f'First I thought {{"move": "{one}"}}, but now: {{"move": '[: -rng.randint(1, 8)],
        lambda: _object(f"{rng.choice(['not', 'anything but', 'avoid', 'never'])} {one}"),
        lambda: _object(f"{one} if it is legal, else {other}"),
        lambda: rng.choice(
            ['{"move": null}', '{"move": true}', '{"move": {}}', '{"move": []}', "{}", "", "{"]
        ),
        lambda: json.dumps({"move": one, "card": _another_card(one, rng)}),
        lambda: json.dumps({"move": rng.choice([3, 7, 13, 42, 99, 1.5])}),
        lambda: json.dumps({"moves": [one, other]}),
        lambda: f'{{"move": {one}}}' if not one[0].isdigit() else '{"move": 25 or 50}',
    ]
    if len(targets) > 1:
        hazard = next(name for name in names if " against " in name).partition(" against ")[0]
        kinds += [lambda: _object(hazard), lambda: _object(f"{hazard} against an opponent")] * 4
    return rng.choice(kinds)()


def _object(move: str) -> str:
    return json.dumps({"move": move}, ensure_ascii=False)


def _another_card(name: str, rng: random.Random) -> str:
    cards = ["25 km", "Stop", "Roll", "Repairs", "Extra tank"]
    return rng.choice([card for card in cards if card not in name])


def made(count: int, make: Callable[[View, random.Random], object], seed: int) -> list[tuple[View, object]]:
    """So many answers, each with the view that it answers."""
    rng = random.Random(seed)
    known = views()
    return [(view, make(view, rng)) for view in (rng.choice(known) for _ in range(count))]
