"""Playing on the terminal: a whole round and match by script, stopping, and wrong arguments."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise

import pytest

from train.play import main


class Always(StringIO):
    """An input without end."""

    def readline(self, size: int | None = -1, /) -> str:
        return "1\n"


def test_a_round_is_played_to_its_score_sheet() -> None:
    shown = StringIO()
    assert main(["--against", "greedy", "--seed", "3"], Always(), shown) == 0
    text = shown.getvalue()
    assert "Your turn." in text
    assert "player_1 (team 1): play" in text
    assert "trip completed" in text.splitlines()[-6]
    assert text.splitlines()[-1].startswith("round ")


def test_a_match_tells_the_points_after_every_round() -> None:
    shown = StringIO()
    arguments = ["--against", "holder", "--episode", "match", "--players", "4", "--seed", "1"]
    assert main(arguments, Always(), shown) == 0
    totals = [line for line in shown.getvalue().splitlines() if line.startswith("Round ")]
    assert len(totals) >= 2
    points = [[int(part) for part in line.split("[")[1].rstrip("]").split(",")] for line in totals]
    assert all(sum(later) > sum(earlier) for earlier, later in pairwise(points))
    assert max(points[-1]) >= 5000


def test_q_stops() -> None:
    shown = StringIO()
    assert main(["--against", "greedy"], StringIO("?\nq\n"), shown) == 130
    assert "Goodbye." in shown.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nobody"], "there is no agent 'nobody'"),
        (["--edition", "nowhere"], "nowhere"),
        (["--players", "5"], "5"),
    ],
)
def test_wrong_arguments_are_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
