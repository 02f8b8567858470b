"""Playing on the terminal: whole rounds and matches by script, undo, hints, stopping, and wrong arguments."""

from __future__ import annotations

import re
from io import StringIO
from itertools import pairwise
from typing import Any

import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.protocol import Agent
from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.play.command import main
from millebornes_env.play.terminal import session
from millebornes_env.play.terminal.cards import CardSession, HumanAgent

AT_THE_END = "(y/n; undo: back to your last decision)"


class Typist(StringIO):
    """Types 1 at every decision, and the given answers to "another?"; then no."""

    def __init__(self, shown: StringIO, *answers: str) -> None:
        super().__init__()
        self.shown, self.answers = shown, list(answers)

    def readline(self, size: int | None = -1, /) -> str:
        is_at_the_end = self.shown.getvalue().rsplit("\n", 2)[-2].endswith((AT_THE_END, "y or n"))
        if not is_at_the_end:
            return "1\n"
        return self.answers.pop(0) + "\n" if self.answers else "n\n"


def played(*arguments: str, answers: tuple[str, ...] = ()) -> str:
    shown = StringIO()
    assert main(list(arguments), Typist(shown, *answers), shown) == 0
    return shown.getvalue()


def totals(line: str) -> list[int]:
    """The numbers of "you: 75, opponent 1: 1200"."""
    return [int(number) for number in re.findall(r": (-?\d+)\b", line)]


def test_a_round_is_played_to_its_score_sheet() -> None:
    text = played("--against", "greedy", "--seed", "3")
    assert "Your turn." in text
    assert "> opponent: play " in text
    sheet = text[text.index("Round 1 is over.") :].splitlines()
    assert sheet[2].split() == ["you", "opponent"]
    assert any(line.startswith("trip completed") for line in sheet)
    assert any(line.startswith("round ") for line in sheet)


def test_it_says_who_won_and_by_how_much() -> None:
    lines = played("--against", "greedy", "--seed", "3").splitlines()
    (result,) = [line for line in lines if re.match(r"(You win|Opponent wins) by", line)]
    (sheet,) = [line.split()[1:] for line in lines if line.startswith("round ")]
    points = [int(one) for one in sheet]
    assert totals(result) == points
    assert result.startswith("You win" if points[0] > points[1] else "Opponent wins")
    assert f"by {abs(points[0] - points[1])} points. Points: " in result


def test_a_passed_coup_fourre_is_not_given_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """That somebody was asked for one tells which card is in that hand."""
    passes = 0
    real = session.ask_in

    def passing(env: VectorEnv, agent: Agent, observations: dict[str, Any]) -> Any:
        nonlocal passes
        actions = real(env, agent, observations)
        if isinstance(agent, HumanAgent) or not observations["action_mask"][0, PASS]:
            return actions
        passes += 1
        actions[0] = PASS
        return actions

    monkeypatch.setattr(session, "ask_in", passing)
    shown = StringIO()
    keys = Typist(shown, *["y"] * 5)
    assert main(["--against", "greedy", "--seed", "3", "--players", "6"], keys, shown) == 0
    assert passes
    assert not re.search(r"(opponent|partner).*: let the hazard stand", shown.getvalue())


def test_a_match_tells_the_points_after_every_round() -> None:
    text = played("--against", "holder", "--episode", "match", "--players", "4", "--seed", "1")
    lines = [line for line in text.splitlines() if line.startswith("Points of the match: ")]
    assert len(lines) >= 2
    (result,) = re.findall(r"\n((?:Your team wins|Opponents win) by .*)\n", text)
    points = [totals(line) for line in [*lines, result]]
    assert all(sum(later) > sum(earlier) for earlier, later in pairwise(points))
    assert max(points[-1]) >= 5000
    assert "Another match?" in text


def test_another_round_has_other_cards_and_keeps_a_tally() -> None:
    text = played("--against", "greedy", "--seed", "3", answers=("perhaps", "y", "Y", "yes"))
    assert "'perhaps' is not a valid answer: type y or n" in text
    assert text.count("Another round?") == 4
    tallies = [totals(line) for line in re.findall(r"\n(Won so far: .*)\.\n", text)]
    assert [sum(tally) for tally in tallies] == [1, 2, 3, 4]
    hands = [part.split("your hand: ")[1].splitlines()[0] for part in text.split("Another round?")[:4]]
    assert len(set(hands)) == 4


def test_undo_goes_back_to_the_decision_before() -> None:
    shown = StringIO()
    assert (
        main(["--against", "greedy", "--seed", "3"], StringIO("undo\n1\nundo\n2\nundo\nundo\n"), shown) == 130
    )
    text = shown.getvalue()
    assert text.count("You have made no decision that could be taken back.") == 2
    tables = [part.split("\n> ")[0] for part in text.split("\ntrip: ")[1:]]
    assert len(tables) == 5
    assert tables[0] == tables[2] == tables[4]
    assert "just drawn" in tables[1]
    assert "just drawn" in tables[3]


def test_undo_at_the_end_takes_the_result_back() -> None:
    text = played("--against", "greedy", "--seed", "3", answers=("undo", "n"))
    tallies = [totals(line) for line in re.findall(r"\n(Won so far: .*)\.\n", text)]
    assert len(tallies) == 2
    assert [sum(tally) for tally in tallies] == [1, 1]
    assert "Back to your last decision." in text


def test_who_plays_against_you_forgets_what_was_taken_back() -> None:
    """An agent that remembered plays taken back would know future cards."""
    env = vector_env(1, autoreset_mode="disabled")
    env.reset(seed=3)
    opponent = agents.load("greedy", env)
    forgotten: list[int] = []
    opponent.forget = lambda: forgotten.append(1)
    card_session = CardSession(env, opponent)
    card_session.person.sink, card_session.person.source = StringIO(), StringIO("1\n1\nundo\nundo\n")
    with pytest.raises(KeyboardInterrupt):
        card_session.play()
    assert len(forgotten) == 2


def test_the_champion_gives_hints_and_says_how_sure_it_is() -> None:
    shown = StringIO()
    assert main(["--against", "greedy", "--seed", "3"], StringIO("hint\nhint\n"), shown) == 130
    hints = re.findall(r"champion: ((?:.* \d+%)+)", shown.getvalue())
    assert len(hints) == 2
    assert len(set(hints)) == 1
    assert 90 <= sum(int(share) for share in re.findall(r"(\d+)%", hints[0])) <= 101


def test_the_usual_opponent_gives_hints_where_there_is_no_champion() -> None:
    shown, race = StringIO(), ["--edition", "arc_en_ciel", "--players", "3", "--against", "saver"]
    assert main(race, StringIO("hint\n"), shown) == 130
    assert re.search(r"bidder: .+ \(without a probability\)", shown.getvalue())


def test_a_split_is_not_a_sheet_to_play(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--edition", "variants-v1:train"], StringIO(), StringIO()) == 2
    assert "is a split, not one sheet: add a number" in capsys.readouterr().err
