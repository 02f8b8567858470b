"""Files of sessions, and resuming them after the server was stopped."""

from __future__ import annotations

import errno
import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.errors import JournalError, PlayError
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.notation import read_record, replay, write_record
from millebornes_env.play.study import journal, read_study, transitions
from millebornes_env.play.study.journal import Journal
from millebornes_env.play.study.session import MOST_VISITS, Session
from tests.play.study.served import study_of


def asked(session: Session, seat: int = 0) -> dict[str, Any]:
    """Return the seat's news, which must ask for a decision."""
    session.welcome(seat)
    news = session.news(seat)
    assert news is not None
    return news


def decide(session: Session, seat: int = 0, place: int = 0) -> None:
    news = asked(session, seat)
    session.play(seat, news["decision"], news["steps"][-1]["legal"][place]["action"], 0)


def play_to_the_end(session: Session) -> None:
    while not session._is_over:
        news = asked(session)
        if news["decision"] is None:
            session.next_round(0)
        else:
            session.play(0, news["decision"], news["steps"][-1]["legal"][0]["action"], 0)


def play_whole_game(session: Session, number: int) -> None:
    session.begin(0, number)
    play_to_the_end(session)


def lines_of(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session._journal.path.read_text().splitlines()]


def test_a_line_for_each_decision_of_people_and_agents(tmp_path: Path) -> None:
    session = Session(study_of(tmp_path), 0)
    session.begin(0, 0)
    play_to_the_end(session)
    lines = lines_of(session)
    assert [one["line"] for one in lines[:3]] == ["session", "event", "deal"]
    decisions = [one for one in lines if one["line"] == "decision"]
    assert [one["number"] for one in decisions] == list(range(len(decisions)))
    for one in decisions:
        assert one["session"] == "s0001"
        assert (one["participant"] if one["seat"] == 0 else one["agent"]) == ("p0001", "greedy")[one["seat"]]
        assert one["action"] in one["legal_actions"]
        assert one["play"] == f"seat {one['seat']}: {one['legal'][one['legal_actions'].index(one['action'])]}"
        assert one["time"].endswith("Z")
    (game,) = read_study(tmp_path)
    assert write_record(game.record()) == lines[-1]["record"]
    *_, end = replay(read_record(lines[-1]["record"]))
    assert list(end["score"][0, :2]) == lines[-1]["points"]


def test_the_time_that_a_person_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("millebornes_env.play.study.session.time.monotonic", lambda: clock[0])
    session = Session(study_of(tmp_path), 0)
    session.begin(0, 0)
    news = session.news(0)
    assert news is not None
    for waited, told in ((2.5, 2400), (1.0, 5000), (1.0, None)):
        assert news is not None
        clock[0] += waited
        session.play(0, news["decision"], news["steps"][-1]["legal"][0]["action"], told)
        news = session.news(0)
    own = [one for one in lines_of(session) if one.get("participant") and one["line"] == "decision"]
    assert [(one["ms"], one["server_ms"], one["interrupted"]) for one in own] == [
        (2400, 2500, False),
        (None, 1000, False),  # a page cannot have waited longer than the server
        (None, 1000, False),
    ]
    decide(session)
    last = [one for one in lines_of(session) if one.get("participant") and one["line"] == "decision"][-1]
    assert last["interrupted"], "the page was opened anew during this decision"


def test_only_the_decision_that_a_reload_interrupts_is_marked(tmp_path: Path) -> None:
    study = study_of(tmp_path, 2, seats=(0, 1))
    session = Session(study, 0)
    for seat in (0, 1):
        session.begin(seat, 0)
    news = {seat: session.news(seat) for seat in (0, 1)}
    first = next(seat for seat, told in news.items() if told and told["decision"] is not None)
    session.welcome(1 - first)  # while the other one decides
    session.play(first, 0, news[first]["steps"][-1]["legal"][-1]["action"], 0)  # type: ignore[index]
    told = session.news(1 - first)
    assert told is not None
    again = Session(study, 0)  # the server was stopped during the second decision
    for one in (session, again):
        one.welcome(first)
    session.play(1 - first, 0, told["steps"][-1]["legal"][-1]["action"], 0)
    assert [one["interrupted"] for one in lines_of(session) if one["line"] == "decision"] == [False, False]
    decide(again, 1 - first)
    assert lines_of(again)[-1]["interrupted"]


def test_a_session_goes_on_where_it_was(tmp_path: Path) -> None:
    study = study_of(tmp_path, games=2)
    session = Session(study, 0)
    session.begin(0, 0)
    for _ in range(4):
        decide(session)
    before = asked(session)
    again = Session(study, 0)
    assert asked(again) == before
    play_to_the_end(again)
    last = Session(study, 0)
    assert last._is_over
    last.begin(0, 1)
    assert {one["line"] for one in lines_of(last)} >= {"decision", "result"}
    assert len(read_study(tmp_path)) == 2


def test_a_study_keeps_a_sheet_of_ones_own(tmp_path: Path) -> None:
    own, folder = tmp_path / "mine.toml", tmp_path / "study"
    text = (Edition.folder / "parker.toml").read_text(encoding="utf-8")
    own.write_text(text.replace('name = "parker"', 'name = "mine"'), encoding="utf-8")
    edition = f"{own}+hand_limit=5"
    play_whole_game(Session(study_of(folder, edition=edition, games=2), 0), 0)
    study_of(folder, edition=edition)
    own.write_text(own.read_text(encoding="utf-8").replace("max_200 = { value = 2", "max_200 = { value = 4"))
    with pytest.raises(PlayError, match=r"this study has edition '.*study/sheet.toml.*', not '.*mine.toml"):
        study_of(folder, edition=edition)
    own.unlink()
    session = Session(study_of(folder), 0)
    assert session.welcome(0)["catalogue"]["editions"][0]["name"] == "mine"
    play_whole_game(session, 1)
    assert {line["edition"] for line in lines_of(session) if "edition" in line} == {"mine+hand_limit=5"}
    for game in read_study(folder):
        assert game.record().position.rules.max_200 == 2
        assert game.result is not None
        assert game.result["record"] == write_record(game.record())
    assert len(list(transitions(folder))) > 20


def test_a_match_is_read_back_with_the_rewards_of_its_rounds(tmp_path: Path) -> None:
    study = study_of(tmp_path, episode="match")
    Session(study, 0).begin(0, 0)
    play_to_the_end(Session(study, 0))  # from its file
    (game,) = read_study(tmp_path)
    assert game.actions.count(-1) >= 1
    *_, end = replay(game.record())
    rows = list(transitions(tmp_path))
    assert len(rows) == len(game.decisions)
    assert not np.isnan([row["reward_to_go"] for row in rows]).any()
    lead = end["score"][0, 0] - end["score"][0, 1]
    rounds = [row["reward_to_go"] for row in rows if row["seat"] == 0]
    paid = [rounds[0], *(now for before, now in itertools.pairwise(rounds) if now != before)]
    assert sum(paid) * 1000 == pytest.approx(lead, abs=0.01)


def test_a_round_is_paid_for_before_the_next_one_is_dealt(tmp_path: Path) -> None:
    session = Session(study_of(tmp_path, episode="match"), 0)
    session.begin(0, 0)
    while asked(session)["decision"] is not None:
        decide(session)
    rows = list(transitions(tmp_path))
    assert session._table is not None
    assert session._table.can_go_on
    assert not np.isnan([row["reward_to_go"] for row in rows]).any()
    session.next_round(0)
    decide(session)
    later = list(transitions(tmp_path))
    assert not np.isnan([row["reward_to_go"] for row in later[: len(rows)]]).any()
    assert np.isnan([row["reward_to_go"] for row in later[len(rows) :]]).all()


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_deal_that_could_not_be_written_is_made_later(
    is_restarted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(tmp_path, 2, seats=(0, 1))
    session = Session(study, 0)
    session.begin(0, 0)
    assert [session.welcome(seat)["waiting"] for seat in (0, 1)] == [True, False]
    append = Journal.append

    def appended(self: Journal, line: Any, *, is_last: bool = False) -> None:
        if line["line"] == "deal":
            raise JournalError("no room")
        append(self, line, is_last=is_last)

    monkeypatch.setattr(Journal, "append", appended)
    with pytest.raises(JournalError):
        session.begin(1, 0)
    monkeypatch.undo()
    session = Session(study, 0) if is_restarted else session
    assert [session.welcome(seat)["waiting"] for seat in (0, 1)] == [False, False]
    session.begin(0, 0)  # what the page offers who does not wait
    assert asked(session)["steps"]
    assert [one.get("event") for one in lines_of(session)].count("ready") == 2


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    session = Session(study, 0)
    session.begin(0, 0)
    decide(session)
    path = session._journal.path
    whole = path.read_bytes()
    for left in (1, 40):
        path.write_bytes(whole + whole.splitlines()[-1][:left])
        again = Session(study, 0)
        assert path.read_bytes() == whole
        assert asked(again)["decision"] == 1
    path.write_bytes(whole[:-20])  # a decision that was written by half was not made
    assert asked(Session(study, 0))["steps"]
    assert read_study(tmp_path)[0].decisions


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    session = Session(study, 0)
    session.begin(0, 0)
    decide(session)
    path = session._journal.path
    whole = path.read_bytes()
    damages: list[tuple[Any, str]] = [
        (lambda lines: [*lines[:2], b"{no JSON", *lines[2:]], "line 3 is damaged"),
        (lambda lines: lines[:2] + lines[3:], "line 3 does not follow"),
        (lambda lines: [*lines, lines[-1].replace(b'"action": ', b'"action": 9')], "does not follow"),
        (
            lambda lines: [*lines, lines[-1].replace(b'"seat": 1', b'"seat": 0')],
            "not the turn of seat 0|does not",
        ),
        (lambda lines: [line.replace(b"s0001", b"s0002") for line in lines], "it is of session s0002"),
    ]
    for damage, words in damages:
        path.write_bytes(b"\n".join(damage(whole.splitlines())) + b"\n")
        with pytest.raises(JournalError, match=words) as caught:
            Session(study, 0)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("written", [0, 10])
def test_on_a_full_disk_nothing_is_played(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(tmp_path)
    session = Session(study, 0)
    session.begin(0, 0)
    news = asked(session)
    before, real = session._journal.path.read_bytes(), os.write

    def write(file: int, content: bytes) -> int:
        if written:
            return real(file, content[:written])
        raise OSError(errno.ENOSPC, "No space left on device")

    action = news["steps"][-1]["legal"][0]["action"]
    monkeypatch.setattr(journal.os, "write", write)
    with pytest.raises(JournalError, match="No space left on device"):
        session.play(0, news["decision"], action, 0)
    assert session._journal.path.read_bytes() == before
    monkeypatch.undo()
    session.play(0, news["decision"], action, 0)
    assert asked(Session(study, 0)) == asked(session)


def test_the_same_deals_for_all_or_others(tmp_path: Path) -> None:
    def hands(folder: Path, **design: Any) -> list[str]:
        study = study_of(folder, 2, **design)
        for number in (0, 1):
            Session(study, number).begin(0, 0)
        return [game.deal for game in read_study(folder)]

    one, other = hands(tmp_path / "other")
    assert one != other
    one, other = hands(tmp_path / "same", same_deals=True)
    assert one == other


def test_opening_a_page_again_and_again_fills_no_disk(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    session = Session(study, 0)
    for number in range(300):
        session = Session(study, 0) if number % 50 == 49 else session
        session.joined(0, has_left=number % 2 == 1)
    events = [one["event"] for one in lines_of(session) if one["line"] == "event"]
    assert len(events) == MOST_VISITS
    session.begin(0, 0)
    decide(session)
    session.joined(0)
    assert lines_of(session)[-1]["event"] == "joined"


def test_reading_what_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(PlayError, match="not the folder of a study"):
        read_study(tmp_path)
    study_of(tmp_path / "study")
    assert read_study(tmp_path / "study") == []
    (tmp_path / "study" / "sessions" / "s0001.jsonl").write_text('{"line": "decision"}\n')
    with pytest.raises(JournalError, match="line 1 is damaged"):
        read_study(tmp_path / "study")
