"""What an answer means: sloppy but clear ones are read, ambiguous ones are not guessed."""

from __future__ import annotations

import json

import pytest

from millebornes_env.notation import read_position
from millebornes_env.text import ViewError, parse, see
from tests.text.answers import ambiguous_answer, made, sloppy_answer

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
    found = [parse(text, view).action for view, (text, _) in answers]
    wrong = [text for action, (_, (text, meant)) in zip(found, answers, strict=True) if action != meant]
    assert len(wrong) <= 10, wrong
    meant = [meant for _, (_, meant) in answers]
    guessed = [action for action, right in zip(found, meant, strict=True) if action not in (right, None)]
    assert not guessed, "one was read as another move"


def test_ambiguous_answers_are_not_guessed() -> None:
    for view, text in made(1000, ambiguous_answer, seed=1):
        answer = parse(text, view)
        assert answer.action is None, (text, answer.move)
        assert answer.move is None
        assert answer.reason.endswith(".")


@pytest.mark.parametrize(
    ("text", "move"),
    [
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
    ],
)
def test_what_is_read(text: str, move: str) -> None:
    answer = parse(text, VIEW)
    assert (answer.move, answer.reason) == (move, "")
    assert VIEW["moves"][str(answer.action)] == move


@pytest.mark.parametrize(
    ("text", "reason"),
    [
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
        ('{"move": "claim"}', "'claim' is not legal now: what is to be decided is 'play'."),
        ('{"move": "discard Roll", "card": "Stop"}', "There is no move 'discard Roll' in this game"),
    ],
)
def test_what_the_model_is_told(text: str, reason: str) -> None:
    answer = parse(text, VIEW)
    assert answer.action is None
    assert reason in answer.reason


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
    assert "first say whether you claim" in parse('{"move": "25"}', view).reason


def test_who_is_not_to_act_has_no_move() -> None:
    position = read_position("hand 0: 25 ...\nhand 1: 25 ...")
    assert parse("discard 25 km", see(position, seat=1)).reason == "It is not your turn."


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"move": ' * 3000 + "1" + "}" * 3000, "[" * 10_000, "\0", "{}" * 5000]
)
def test_hostile_answers_are_refused(text: str) -> None:
    assert parse(text, VIEW).action is None


def test_what_is_no_answer_or_no_view() -> None:
    with pytest.raises(ViewError, match="an answer is text; got None"):
        parse(None, VIEW)  # type: ignore[arg-type]
    with pytest.raises(ViewError, match=r"a view is what text\.see returns"):
        parse("25", {})
    with pytest.raises(ViewError, match="the view is of version 99"):
        parse("25", {**VIEW, "format_version": 99})
    with pytest.raises(ViewError, match="the view's 'moves' is None: it was cut off, or changed"):
        parse("25", {**VIEW, "moves": None})
    with pytest.raises(ViewError, match="the rules of the view are not those of Mille Bornes"):
        parse("25", {**VIEW, "rules": {"players": 2}})
