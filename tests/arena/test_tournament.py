"""A tournament is kept while it is played, goes on where it was stopped, and refuses what it is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import millebornes_env.arena.tournament
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.tournament import (
    FEWEST_DEALS,
    Tournament,
    TournamentConfig,
    Until,
    entrants_of,
    lineups,
    lock_folder,
    play_tournament,
)
from millebornes_env.errors import ArenaError
from tests.each import each

ROUNDS = MatchConfig(episode="round")


def config(deals: int = 100, until: str | None = None, **match: object) -> TournamentConfig:
    return TournamentConfig(MatchConfig(**{"episode": "round", **match}), deals, until)  # type: ignore[arg-type]


def opened(specs: list[str], config: TournamentConfig, folder: Path, fresh: bool = False) -> Tournament:
    entrants = entrants_of(specs, config.match)
    return millebornes_env.arena.tournament.opened(entrants, config, folder, fresh)


def arrays_of(tournament: Tournament) -> list[dict[str, object]]:
    return [
        {name: array.tolist() for name, array in outcome.arrays().items()}
        for _, outcome in sorted(tournament.outcomes.items())
    ]


def test_lineups_are_all_choices_of_different_agents() -> None:
    assert lineups(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert len(lineups(10, 2)) == 45
    assert len(lineups(10, 3)) == 120


def test_with_fewer_agents_than_teams_some_play_twice_but_never_all_the_same() -> None:
    assert lineups(2, 3) == [(0, 0, 1), (0, 1, 1)]
    assert len(lineups(3, 4)) == 12


def test_an_agent_may_be_called_otherwise() -> None:
    one, two = entrants_of(["first", "steady@first"], ROUNDS)
    assert (one.name, one.spec, two.name, two.spec) == ("first", "first", "steady", "first")
    assert one.fingerprint == two.fingerprint != entrants_of(["first", "first:last"], ROUNDS)[1].fingerprint


def test_two_agents_with_one_name_are_refused() -> None:
    with pytest.raises(ArenaError, match="two agents have the name 'first': rename one of them, such"):
        entrants_of(["first", "lot", "first"], ROUNDS)


@each("text", ["ci>10", "ci<", "10", "ci<0", "ci<-3", "se<10", "ci<1.2.3", "ci<."])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ArenaError, match="it may be 'ci<10'"):
        Until(text)


def test_a_lineup_plays_until_its_interval_is_narrow(tmp_path: Path) -> None:
    wanted = config(100_000, "ci<25")
    played = play_tournament(opened(["first", "lot", "first:last"], wanted, tmp_path), tmp_path)
    until = Until("ci<25")
    for outcome in played.outcomes.values():
        assert FEWEST_DEALS <= len(outcome.points) < 100_000
        assert until.is_met(outcome)
    assert len({len(outcome.points) for outcome in played.outcomes.values()}) > 1


def test_a_stopped_tournament_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = ["first", "lot", "slow"]
    whole = play_tournament(opened(specs, config(300), tmp_path / "whole"), tmp_path / "whole")
    real, turns = millebornes_env.arena.tournament.play, []

    def stops(*arguments: object, **options: object) -> Outcome:
        if len(turns) == 5:
            raise KeyboardInterrupt
        turns.append(arguments)
        return real(*arguments, **options)  # type: ignore[arg-type]

    folder = tmp_path / "stopped"
    begun = opened(specs, config(300), folder)
    with monkeypatch.context() as patched:
        patched.setattr(millebornes_env.arena.tournament, "play", stops)
        with pytest.raises(KeyboardInterrupt):
            play_tournament(begun, folder)
    kept = opened(specs, config(300), folder)
    assert sum(len(outcome.points) for outcome in kept.outcomes.values()) == 16 * 3 + 16 * 2
    assert arrays_of(play_tournament(kept, folder)) == arrays_of(whole)
    assert arrays_of(opened(specs, config(300), folder)) == arrays_of(whole)


@pytest.mark.parametrize(
    ("specs", "changes", "difference"),
    [
        (["first", "lot"], {"deals": 200}, "its config.deals is 100, here it is 200"),
        (["first", "lot"], {"seed": 2}, "its config.match.seed is 1, here it is 2"),
        (["lot", "first"], {}, 'its entrants[0].name is "first", here it is "lot"'),
    ],
)
def test_another_tournament_in_the_folder_is_refused(
    tmp_path: Path, specs: list[str], changes: dict[str, object], difference: str
) -> None:
    opened(["first", "lot"], config(), tmp_path)
    with pytest.raises(ArenaError) as error:
        opened(specs, config(**changes), tmp_path)  # type: ignore[arg-type]
    assert difference in str(error.value)
    assert "--fresh" in str(error.value)


def test_an_agent_that_has_changed_since_is_another_one(tmp_path: Path) -> None:
    opened(["first", "lot"], config(), tmp_path)
    path = tmp_path / "tournament.json"
    content = json.loads(path.read_text())
    content["entrants"][1]["fingerprint"] = "0123456789abcdef"
    path.write_text(json.dumps(content))
    with pytest.raises(ArenaError, match='fingerprint is "0123456789abcdef"'):
        opened(["first", "lot"], config(), tmp_path)


def test_fresh_forgets_what_was_played(tmp_path: Path) -> None:
    play_tournament(opened(["first", "lot"], config(), tmp_path), tmp_path)
    assert opened(["first", "slow"], config(200), tmp_path, fresh=True).outcomes == {}
    assert opened(["first", "slow"], config(200), tmp_path).outcomes == {}


def test_a_file_that_unpacks_to_more_than_was_asked_for_is_not_read(tmp_path: Path) -> None:
    play_tournament(opened(["first", "lot"], config(), tmp_path), tmp_path)
    path = tmp_path / "lineups" / "000-001.npz"
    arrays = dict(np.load(path))
    np.savez_compressed(path, **arrays | {"points": np.zeros((10**6, 2, 2), np.int32)})
    with pytest.raises(ArenaError, match=r"000-001.npz' is damaged \(16,\d+,\d+ bytes unpacked"):
        opened(["first", "lot"], config(), tmp_path)


def test_two_tournaments_in_one_folder_are_refused(tmp_path: Path) -> None:
    tournament = opened(["first", "lot"], config(), tmp_path)
    with lock_folder(tmp_path):
        for call in (
            lambda: opened(["first", "lot"], config(), tmp_path, fresh=True),
            lambda: play_tournament(tournament, tmp_path),
        ):
            with pytest.raises(ArenaError, match="another process plays a tournament here"):
                call()
    assert len(play_tournament(tournament, tmp_path).outcomes) == 1


def test_the_rest_goes_on_when_an_agent_breaks_the_rules(tmp_path: Path) -> None:
    specs = ["first", "wrong", "lot", "raising"]
    played = play_tournament(opened(specs, config(), tmp_path), tmp_path)
    assert len(played.outcomes) == 6
    faulty = {lineup for lineup, outcome in played.outcomes.items() if outcome.faults}
    assert faulty == {(0, 1), (1, 2), (1, 3), (0, 3), (2, 3)}
    assert len(played.outcomes[0, 2].points) == 100
    assert "which is illegal, in deal" in played.outcomes[0, 1].faults[0]
    kept = opened(specs, config(), tmp_path)
    assert kept.outcomes[0, 1].faults == played.outcomes[0, 1].faults
    play_tournament(kept, tmp_path)  # nothing is left to play
