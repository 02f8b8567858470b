"""Parsing of answers: sloppy but clear ones are accepted, ambiguous ones are rejected."""

from __future__ import annotations

import json

import pytest

from millebornes_env.errors import PlayError
from millebornes_env.notation import read_position
from millebornes_env.play.language import parse, see
from tests.each import each
from tests.play.language.answers import ambiguous_answer, made, sloppy_answer

VIEW = see(
    read_position(
        "battle 0: roll\nbattle 1: roll\nhand 1: 25 ...\n"
        "hand 0: 25 100 stop roll flat_tire spare_tire driving_ace"
    )
)
SEVERAL = see(
    read_position("table: 3 players\nbattle 1: roll\nbattle 2: roll\nhand 0: 25 stop ...\nhand 1: 25 ...")
)


def test_sloppy_but_clear_answers_are_read() -> None:
    answers = made(1000, sloppy_answer, seed=1)
    result = [parse(text, view).action for view, (text, _) in answers]
    wrong = [text for action, (_, (text, meant)) in zip(result, answers, strict=True) if action != meant]
    assert len(wrong) <= 10, wrong
    meant = [meant for _, (_, meant) in answers]
    guessed = [action for action, right in zip(result, meant, strict=True) if action not in (right, None)]
    assert not guessed, "one was read as another move"


def test_ambiguous_answers_are_not_guessed() -> None:
    for view, text in made(1000, ambiguous_answer, seed=1):
        answer = parse(text, view)
        assert answer.action is None, (text, answer.move)
        assert answer.move is None
        assert answer.reason.endswith(".")


READ = [
    ('{"move": "100 km"}', "100 km"),
    ('{"move": 100}', "100 km"),
    ('{"move": "Stop -> opponent"}', "Stop against opponent"),
    ('{"move": "stop"}', "Stop against opponent"),
    ('{"move": "stop", "target": "opponent"}', "Stop against opponent"),
    ('{"move": "play", "card": "Driving Ace"}', "Driving ace"),
    ('{"move": "discard", "card": "roll"}', "discard Roll"),
    ('{"move": "discrad FLAT-TIRE!"}', "discard Flat tire"),
    ("Driving ace", "Driving ace"),
    ('I thought of {"move": "25"}.\n```json\n{"move": "100_KM"}\n```', "100 km"),
    ('{"move": "25 km"} {"confidence": 1}', "25 km"),
    ("{'move': 'driving ace', 'why': None}", "Driving ace"),
    ('{"move": "25 km" // it wastes nothing\n}', "25 km"),
    ('{ // don\'t "brake\n"move": "25 km", /* } */ "why": "http://a//b"}', "25 km"),
    ("{'move': '25 km', // single quotes\n}", "25 km"),
]


def test_what_is_read() -> None:
    result = {text: (parse(text, VIEW).move, parse(text, VIEW).reason) for text, _ in READ}
    assert result == {text: (move, "") for text, move in READ}
    assert VIEW["moves"][str(parse("25 km", VIEW).action)] == "25 km"


TOLD = [
    ("I would play 100 km. It is best.", 'there is no JSON object with the key "move" in it'),
    ("", 'there is no JSON object with the key "move" in it'),
    ('{"moves": "25 km"}', 'there is no JSON object with the key "move" in it'),
    ('{"move": "25 km"} no, {"move": "100', "its last JSON object is cut off"),
    ('{"move": "25 km"} no, {"move": 100 km}', "its last JSON object cannot be read as JSON"),
    ('{"move": "25 km", "move": "100 km"}', "its last JSON object has the key 'move' twice"),
    ('{"move": ["25 km", "100 km"]}', "its 'move' is a list of 2: name one move"),
    ('{"move": null}', "its 'move' names no move"),
    ('{"move": "..."}', "There is no move '...' in this game, or it does not say which one is meant."),
    ('{"move": "tire"}', "There is no move 'tire' in this game, or it does not say which one is meant."),
    ('{"move": "25 km or roll"}', "There is no move '25 km or roll' in this game"),
    ('{"move": "75 km"}', "'75 km' is not legal now: you hold no 75 km."),
    ('{"move": "Spare tyre"}', "'Spare tire' is not legal now: no Flat tire stops you."),
    ('{"move": "claim"}', "'claim' is not legal now: the decision is 'play'."),
    ('{"move": "discard Roll", "card": "Stop"}', "The 'card' of your answer, 'Stop', contradicts its move"),
    ('{"move": "25 km" // or "move": "100 km"\n}', "its last JSON object cannot be read as JSON"),
    ('{"move": "25 km" // best}', "its last JSON object is cut off"),
    ('{"move": "25 km" /* best}', "its last JSON object is cut off"),
]


def test_what_the_model_is_told() -> None:
    answers = {text: parse(text, VIEW) for text, _ in TOLD}
    wrong = [text for text, reason in TOLD if reason not in answers[text].reason]
    assert not wrong
    assert {answer.action for answer in answers.values()} == {None}


MARKS = [
    ("<think>", "</think>"),
    ("<THINKING>\n", "\n</THINKING>"),
    ("< think >", "</ think >"),
    ('<thinking budget="100">', "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<antThinking>", "</antThinking>"),
    ("<chain_of_thought>", "</chain_of_thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|think|>", "<|/think|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<\uff5cbegin\u2581of\u2581thinking\uff5c>", "<\uff5cend\u2581of\u2581thinking\uff5c>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ('<details type="reasoning" done="true">', "</details>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>commentary<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("analysisWe ", "assistantfinal"),
    ("```thinking\n", "\n```\n"),
    ("Thinking...\n", "\n...done thinking.\n"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
]
"""Begin and end marks of reasoning as models and servers write them."""


@each("begin, end", MARKS)
def test_a_move_inside_of_reasoning_is_not_played(begin: str, end: str) -> None:
    thought = '{"move": "25 km"}? No, it wastes "a card'
    for answer in ('{"move": "100 km"}', "100 km", "100 km<|return|>", "100 km</s>\n"):
        assert parse(f"{begin}{thought}{end}{answer}", VIEW).move == "100 km"
    assert parse(f"{begin}{thought}{end}\nI will play.", VIEW).reason.endswith('the key "move" in it.')
    cuts = [f"{begin}{thought}", f"{begin}{thought}{end}"]
    if not begin.startswith("analysis"):  # which stands at the beginning of a text only
        cuts.append(f'{{"move": "100 km"}}\n{begin}{thought}')
    for cut in cuts:
        answer = parse(cut, VIEW)
        assert (answer.action, answer.said) == (None, None)
        assert "cut off" in answer.reason
    if not begin.startswith("```"):  # of a fence, begin and end cannot be told apart alone
        assert parse(f"{thought}{end}{{'move': '100 km'}}", VIEW).move == "100 km"


def test_what_is_no_mark_of_reasoning() -> None:
    for text in (
        'In short <b>I think</b> {"move": "25 km"}',
        'I do it [thinking aloud is fine] {"move": "25 km"}',
        '<answer>{"move": "25 km"}</answer>',
        '```json\n{"move": "25 km"}\n```',
        'My analysis: {"move": "25 km"}',
    ):
        assert parse(text, VIEW).move == "25 km", text
    assert parse("<think/>25 km", VIEW).move == "25 km"
    assert parse("<think></think>25 km", VIEW).move == "25 km"
    assert parse("<think>a<think>b</think>25 km", VIEW).move == "25 km"


NOTHING = ["none", "None", "null", "n/a", "N.A.", "nobody", "no target", "not applicable", "", "-", "nil"]
NOTHING_JSON = [None, False, [], {}, ["none"]]
OWN = [
    "self",
    "me",
    "own team",
    "my own seat",
    "your team",
    "yourself",
    0,
    "team 0",
    "seat 0",
    "own battle pile",
]


def test_details_that_say_nothing_do_not_count() -> None:
    for key in ("target", "against", "opponent", "team"):
        for detail in (*NOTHING, *NOTHING_JSON, *OWN):
            for move in ("25 km", "discard Roll"):
                answer = parse(json.dumps({"move": move, key: detail}), VIEW)
                assert answer.move == move, (key, detail, answer.reason)
        for detail in (*NOTHING, *NOTHING_JSON):
            answer = parse(json.dumps({"move": "Stop against opponent", key: detail}), VIEW)
            assert answer.move == "Stop against opponent", (key, detail, answer.reason)
    several = {"move": "discard", "card": "roll", "target": "none", "opponent": None, "team": "self"}
    assert parse(json.dumps(several), VIEW).move == "discard Roll"
    assert parse('{"move": "discard Roll", "target": "the discard pile"}', VIEW).move == "discard Roll"
    assert parse('{"move": "25 km", "card": "25"}', VIEW).move == "25 km"


def test_a_detail_that_contradicts_the_move_is_named() -> None:
    for move, key, detail in (
        ("25 km", "card", "Roll"),
        ("25 km", "card", 0),
        ("25 km", "target", "opponent"),
        ("25 km", "target", "discard pile"),
        ("discard Roll", "card", "Stop"),
        ("discard Roll", "team", 1),
        ("discard Roll", "target", {"name": "opponent"}),
        ("Stop against opponent", "target", "self"),
        ("Stop against opponent", "target", "opponent 2"),
        ("Driving ace", "against", ["opponent", "me"]),
    ):
        answer = parse(json.dumps({"move": move, key: detail, "reason": "it is best"}), VIEW)
        assert answer.action is None
        assert answer.reason.startswith(f"The '{key}' of your answer, "), answer.reason
        assert answer.reason.endswith(f"contradicts its move '{move}'.")
    assert parse('{"move": "stop", "target": "none"}', SEVERAL).action is None


def test_a_second_key_with_a_move_must_agree() -> None:
    for text in (
        '{"action": "discard", "move": "25 km"}',
        '{"move": "25 km", "play": "100 km"}',
        '{"move": {"move": "25 km"}, "answer": "100 km"}',
        '{"move": "25 km", "discard": "25 km"}',
        '{"move": {"move": "25", "discard": true}}',
        '{"move": "25 km", "action": 0}',
    ):
        answer = parse(text, VIEW)
        assert answer.action is None, text
        assert "contradicts its move" in answer.reason
    for text, move in (
        ('{"action": "play", "move": "25 km", "answer": "25"}', "25 km"),
        ('{"action": "discard", "move": "discard", "card": "Roll", "discard": true}', "discard Roll"),
        ('{"action": "stop", "move": "Stop against opponent", "discard": false}', "Stop against opponent"),
        ('{"move": "25 km", "discard": "none"}', "25 km"),
    ):
        assert parse(text, VIEW).move == move, text


def test_a_hazard_names_its_target_where_there_are_several() -> None:
    assert parse('{"move": "stop"}', SEVERAL).action is None
    assert parse('{"move": "stop on an opponent"}', SEVERAL).action is None
    assert parse('{"move": "stop on opponent2"}', SEVERAL).move == "Stop against opponent 2"
    assert parse('{"move": "stop", "target": "opponent 1"}', SEVERAL).move == "Stop against opponent 1"
    assert parse('{"move": "stop against opponent 1", "target": "opponent 2"}', SEVERAL).action is None


def test_partners_stand_for_their_team() -> None:
    text = "table: 4 players in 2 teams\nbattle 1: roll\nhand 0: 25 stop ...\nhand 1: 25 ..."
    view = see(read_position(text))
    for target in ("opponents", "opponent 2", "the opponent", "them"):
        answer = parse(json.dumps({"move": f"stop against {target}"}), view)
        assert (answer.move == "Stop against opponents") == (target != "them")


def test_yes_and_no_answer_the_question() -> None:
    view = see(
        read_position(
            "hand 0: 25 ...\nbattle 1: roll\nhand 1: right_of_way 25\npending: stop by seat 0 against team 1"
        )
    )
    assert (parse('{"move": "Yes!"}', view).move, parse("no", view).move) == ("claim", "pass")
    assert parse('{"move": "yes"}', VIEW).action is None
    assert "first claim the coup fourré" in parse('{"move": "25"}', view).reason


def test_hostile_answers_are_refused() -> None:
    long = ["{" * 100_000, '{"move": ' * 3000 + "1" + "}" * 3000, "[" * 10_000, "\0", "{}" * 5000]
    long += ["{" + "/*" * 50_000, "<" + " " * 50_000, "<think>" * 9_000, "</think>" + " " * 50_000 + "x"]
    long += [
        "\n" * 50_000,
        "```think\n" * 6_000,
        "</think>" + "<s>" * 20_000,
        "<a " * 20_000,
        "<channel|>" * 9_000,
    ]
    for text in long:
        assert parse(text, VIEW).action is None, text[:20]


def test_what_is_no_answer_or_no_view() -> None:
    with pytest.raises(PlayError, match="an answer is text; got None"):
        parse(None, VIEW)  # type: ignore[arg-type]
    with pytest.raises(PlayError, match=r"view\['moves'\] is None; it must be a dict"):
        parse("25", {name: value for name, value in VIEW.items() if name != "moves"})
