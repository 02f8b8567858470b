"""`research.measurements.belief_gain` goes on where it stopped, and merges what two processes have played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.match import play as really_play
from research.measurements import belief_gain
from research.measurements.belief_gain import TURN, Args, both_leads, check
from tests.each import each

LIGHT = Args(
    rollout="greedy",
    belief="belief=policy,candidates=4,window=1,rollouts=2,z=1e9",
    uniform="belief=uniform,rollouts=2,z=1e9",
    opponents=("random",),
    deals=TURN,
)
"""Two searchers that never search: a round is quick."""


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Record the agents and first deals that are played, without searching."""
    found: list[tuple[str, int]] = []

    def play(agents: Any, config: MatchConfig, deals: int, *, first_deal: int = 0) -> Any:
        found.append((agents[0], first_deal))
        name = "holder" if "belief=policy" in agents[0] else "greedy"
        return really_play([name, agents[1]], config, deals, first_deal=first_deal)

    monkeypatch.setattr(belief_gain, "play", play)
    return found


def test_deals_are_added_and_nothing_is_played_twice(tmp_path: Path, played: list[tuple[str, int]]) -> None:
    def parts(**options: Any) -> list[list[float]]:
        some = both_leads("random", Args(**{**vars(LIGHT), "resume": tmp_path, **options}))
        return [[lead for part in one for lead in part.leads] for one in some]

    first = parts()
    assert len(played) == 2
    assert len(first[0]) == TURN
    assert parts() == first
    assert len(played) == 2  # all of it was kept
    more = parts(first_deal=2 * TURN)  # another process, other deals
    assert {deal for _, deal in played} == {0, 2 * TURN}
    assert sorted(more[0]) == sorted([*first[0], *more[0][:TURN]])
    whole = parts(deals=3 * TURN)
    assert len(played) == 6
    assert len(whole[0]) == len(whole[1]) == 3 * TURN
    alone = both_leads("random", Args(**{**vars(LIGHT), "deals": 3 * TURN}))
    assert [lead for part in alone[0] for lead in part.leads] == whole[0]


def test_a_run_that_was_stopped_between_the_two_leaves_no_half_pair(
    tmp_path: Path, played: list[tuple[str, int]]
) -> None:
    args = Args(**{**vars(LIGHT), "resume": tmp_path})
    both_leads("random", args)
    (tmp_path / f"random-1-belief-{5 * TURN:06d}.json").write_bytes(
        next(tmp_path.glob("*belief*")).read_bytes()
    )
    assert len(both_leads("random", args)[0]) == 1


def test_other_settings_and_damaged_files_are_refused(tmp_path: Path, played: list[tuple[str, int]]) -> None:
    args = Args(**{**vars(LIGHT), "resume": tmp_path})
    both_leads("random", args)
    with pytest.raises(
        ValueError, match="was measured with aivat False, now it is True: give another --resume"
    ):
        both_leads("random", Args(**{**vars(args), "aivat": True}))
    path = next(tmp_path.glob("*belief*.json"))
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | {"fingerprints": ["0", "1"]}}))
    with pytest.raises(ValueError, match="was measured with fingerprints"):
        both_leads("random", args)
    path.write_text(path.read_text()[:50])
    with pytest.raises(ValueError, match=r"is damaged .* remove it"):
        both_leads("random", args)
    path.write_text(json.dumps({"leads": []}))
    with pytest.raises(ValueError, match="is damaged"):
        both_leads("random", args)


@each(
    ("options", "words"),
    [
        ({"deals": 30}, "--deals is 30; it must be a multiple of 25"),
        ({"first_deal": -25}, "--first-deal is -25"),
        ({"uniform": LIGHT.belief}, "nothing to compare"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check(Args(**{**vars(LIGHT), **options}))
