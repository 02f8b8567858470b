"""Invariants of every decision at every table: cards, actions, trip, score."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given

from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.legality import can_discard, can_lay, is_legal
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.state import SCORE_LINES
from tests.laws.conversions import (
    CARDS,
    CLAIM_ID,
    DECISIONS,
    EXTEND_ID,
    FINISH_ID,
    FIRST_DISCARD_ID,
    HAZARDS,
    ID_OF,
    MATCH,
    PASS_ID,
    TABLES,
    Table,
    add,
    counts,
    deck_of,
    legal_ids,
    less,
    new_games,
    num_ids,
    plain,
    rules_of,
    streams_of,
    to_id,
)
from tests.laws.expectations import sheets_of, winner_of
from tests.laws.players import MIXES, cards_laid, mix_of, play_on, walk
from tests.laws.random_rounds import check_cards, examples, others, rounds, seeds, tables, tables_with_points
from tests.oracle.oracle import DISTANCE_KM

MAX_HAZARDS = 18
KM = list(DISTANCE_KM.values())
CARD_RANGE = range(len(CARDS))
EDITIONS_WITH_POINTS = {table.edition for table in TABLES if rules_of(table).count_points}


# Cards ------------------------------------------------------------------------------------------------------


@rounds
@examples(30)
def test_no_card_is_lost_or_doubled(table: Table, seed: int) -> None:
    for _, record, log in walk(table, seed):
        check_cards(record, table)
        assert max(record["hand_count"]) <= rules_of(table).hand_size + 1
        assert not any(record["hand_count"][table.players :])
        laid = counts(card for _, card in cards_laid(log))
        assert record["hidden"] == less(counts(deck_of(table)), laid)


@rounds
@examples(30)
def test_a_seat_draws_the_front_of_its_own_stream_as_long_as_it_has_cards(table: Table, seed: int) -> None:
    moments = [(record, list(log)) for _, record, log in walk(table, seed)]
    for (before, _), (after, log) in pairwise(moments):
        drawn = 0
        places = set()
        for seat in range(table.players):
            laid = counts(card for owner, card in cards_laid(log)[-1:] if owner == seat)
            if log[-1][1][0] in {"pass", "extend", "finish"}:
                laid = counts([])
            gained = less(add(after["hand"][seat], laid), before["hand"][seat])
            fronts = range(before["stream_next"][seat], after["stream_next"][seat])
            own = counts(CARDS[before["deck"][place]] for place in fronts)
            assert min(less(gained, own)) >= 0
            if sum(gained) > sum(own):
                assert after["stream_next"][seat] == after["stream_end"][seat]
            drawn += sum(gained)
            places.update(fronts, range(after["stream_end"][seat], before["stream_end"][seat]))
        assert drawn == len(places) == before["draw_pile"] - after["draw_pile"] <= 2
        left = [-1 if place in places else card for place, card in enumerate(before["deck"])]
        assert after["deck"] == left


def test_a_seat_draws_the_same_cards_whatever_the_others_do() -> None:
    compared: list[float] = []

    @given(tables, seeds, others)
    @examples(30)
    def check(table: Table, seed: int, other: int) -> None:
        first, second = received(table, seed, 0), received(table, seed, other)
        common = first.keys() & second.keys()
        assert all(first[key] == second[key] for key in common)
        compared.append(len(common) / table.players)

    check()
    assert sum(compared) / len(compared) >= 5


def received(table: Table, seed: int, other: int) -> dict[tuple[int, int], list[int]]:
    """All cards that a seat has had so far, by seat and their number, while its stream has not run out."""
    had = {}
    for _, record, log in walk(table, seed, other):
        for seat, stream in enumerate(streams_of(record, table.players)):
            if stream:
                row = add(
                    record["hand"][seat], counts(card for owner, card in cards_laid(log) if owner == seat)
                )
                had[seat, sum(row)] = row
    return had


@given(tables_with_points, seeds, others)
@examples(20)
def test_the_next_deal_does_not_depend_on_the_last_round(table: Table, seed: int, other: int) -> None:
    deals = []
    for mix in (mix_of(table, seed), mix_of(table, seed) + other):
        games = new_games(table, 1, MATCH, seed)
        first = plain(games)[0]
        for record, _ in play_on(games, seed, mix % len(MIXES)):
            if record["round_number"] == 1:
                assert record["deck"] != first["deck"]
                deals.append((record["deck"], record["hand"], record["dealer"]))
                break
    assert deals[0] == deals[1]


# Actions ----------------------------------------------------------------------------------------------------


@rounds
@examples(20)
def test_the_mask_is_what_the_rules_answer_about_each_action(table: Table, seed: int) -> None:
    teams = table.teams
    rules = compiled_rules(new_games(table).rules)
    for games, record, _ in walk(table, seed):
        state = for_kernels(games.states)[0]
        asked = [action for action in range(-3, num_ids(teams) + 12) if is_legal(state, rules, action)]
        assert asked == legal_ids(games)
        seat, kind = record["seat"], DECISIONS[record["phase"]]
        if kind != "play":
            calls = {"claim": [CLAIM_ID, PASS_ID], "extension": [EXTEND_ID, FINISH_ID], None: []}
            assert asked == calls[kind]
            continue
        allowed = set()
        for card in (card for card in CARD_RANGE if record["hand"][seat][card]):
            if can_discard(state, rules, seat):
                allowed.add(FIRST_DISCARD_ID + card)
            for opponent in range(teams - 1 if CARDS[card] in HAZARDS else 1):
                if can_lay(state, rules, seat % teams, card, opponent):
                    target = [str((seat + 1 + opponent) % teams)] if CARDS[card] in HAZARDS else []
                    allowed.add(to_id(("play", CARDS[card], *target), teams, seat % teams))
        assert sorted(allowed) == asked


@rounds
@examples(30)
def test_there_is_something_to_do_until_the_round_ends(table: Table, seed: int) -> None:
    for games, record, log in walk(table, seed):
        assert (DECISIONS[record["phase"]] is None) == (not legal_ids(games))
        # Each card leaves a hand once; besides there are answers to hazards and one extension to decide.
        assert len(cards_laid(log)) <= len(deck_of(table))
        assert len(log) - len(cards_laid(log)) <= MAX_HAZARDS + 1
        assert (games.buffers.terminations[0] == 1) == (not legal_ids(games))


# The trip and the score -------------------------------------------------------------------------------------


@rounds
@examples(30)
def test_nobody_goes_beyond_the_target(table: Table, seed: int) -> None:
    rules = rules_of(table)
    for _, record, log in walk(table, seed):
        extended = any(action == ("extend",) for _, action in log)
        assert record["target"] == (rules.extended_target if extended else rules.target)
        for km, tableau in zip(record["km"], record["tableau"], strict=True):
            assert km == sum(count * length for count, length in zip(tableau, KM, strict=False))
            assert km <= record["target"]
            assert tableau[ID_OF["DISTANCE_200"]] <= 2


def test_the_score_sheet_follows_from_the_plays() -> None:
    seen: Counter[str] = Counter()

    @rounds
    @examples(400)
    def check(table: Table, seed: int) -> None:
        for games, record, log in walk(table, seed):
            if DECISIONS[record["phase"]] is not None:
                assert not any(map(any, record["score_sheet"]))
                continue
            expected, finisher = sheets_of(log, table)
            for team, sheet in enumerate(expected):
                assert dict(zip(SCORE_LINES, record["score_sheet"][team], strict=True)) == sheet
                seen.update(f"{table.edition} {line}" for line in sheet if sheet[line])
            assert record["score"][: len(expected)] == [sum(sheet.values()) for sheet in expected]
            assert record["winner"] == finisher
            winner = winner_of(expected, record["km"][: table.teams], finisher, rules_of(table))
            assert games.buffers.final_winner[0] == winner
            kind = "shared" if winner < 0 else "completed" if winner == finisher else "not completed"
            seen[f"{table.edition} {kind}"] += 1

    check()
    for name in dict.fromkeys(table.edition for table in TABLES):
        lines = {line for line in SCORE_LINES if seen[f"{name} {line}"]}
        if name in EDITIONS_WITH_POINTS:
            assert lines >= set(SCORE_LINES) - {"all_safeties", "safe_trip"}, name
        else:
            assert not lines
            assert min(seen[f"{name} {kind}"] for kind in ("shared", "completed", "not completed")) >= 3
    for line in SCORE_LINES:
        assert any(seen[f"{name} {line}"] for name in EDITIONS_WITH_POINTS), line
