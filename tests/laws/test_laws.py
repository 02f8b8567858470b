"""What holds at every decision of every game, whoever plays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env.engine.games import Games
from millebornes_env.millebornes.determinize import redeal_hidden_cards
from millebornes_env.millebornes.editions import rules_record
from millebornes_env.millebornes.legality import can_discard, can_lay, is_legal
from millebornes_env.millebornes.observation import Section, full_state_sections, observation_size, sections
from millebornes_env.millebornes.state import SCORE_LINES
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
    MIXES,
    PASS_ID,
    ROUND,
    TABLES,
    Record,
    add,
    cards_laid,
    chi_square,
    chi_square_limit,
    concealed,
    counts,
    legal_ids,
    less,
    mix_of,
    new_games,
    num_ids,
    plain,
    play_on,
    sheets_of,
    streams_of,
    to_id,
    visible,
    walk,
)
from tests.oracle import (
    DISTANCE_KM,
    EXTENDED_TARGET,
    HAND_SIZE,
    SAFETY_AGAINST,
    TARGET_AT,
    TEAMS_AT,
    deck,
)

MAX_HAZARDS = 18
KM = list(DISTANCE_KM.values())
CARD_RANGE = range(len(CARDS))

tables = st.sampled_from(TABLES)
seeds = st.integers(0, 2**64 - 1)
others = st.integers(1, len(MIXES) - 1)
rounds = given(tables, seeds)


def examples(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many random rounds, the same ones in every run."""
    return settings(max_examples=count, derandomize=True, database=None, deadline=None)


def in_streams(record: Record, players: int) -> list[int]:
    return counts(card for stream in streams_of(record, players) for card in stream)


# Cards ------------------------------------------------------------------------------------------------------


def check_cards(record: Record, players: int) -> None:
    pending = record["pending_hazard"]
    streams = in_streams(record, players)
    rows = [*record["hand"], *record["tableau"], record["discard_pile"], streams]
    assert min(min(row) for row in rows) >= 0
    assert add(*rows, counts([CARDS[pending]] if pending >= 0 else [])) == counts(deck(players))
    assert record["hidden"] == add(*record["hand"], streams)
    assert record["draw_pile"] == sum(streams)
    assert record["hand_count"] == [sum(hand) for hand in record["hand"]]


@rounds
@examples(60)
def test_no_card_is_lost_or_doubled(players: int, seed: int) -> None:
    for _, record, log in walk(players, seed):
        check_cards(record, players)
        assert max(record["hand_count"]) <= HAND_SIZE + 1
        assert not any(record["hand_count"][players:])
        laid = counts(card for _, card in cards_laid(log))
        assert record["hidden"] == less(counts(deck(players)), laid)


@rounds
@examples(60)
def test_a_seat_draws_the_front_of_its_own_stream_as_long_as_it_has_cards(players: int, seed: int) -> None:
    moments = [(record, list(log)) for _, record, log in walk(players, seed)]
    for (before, _), (after, log) in pairwise(moments):
        assert after["deck"] == before["deck"]
        drawn = 0
        for seat in range(players):
            laid = counts(card for owner, card in cards_laid(log)[-1:] if owner == seat)
            if log[-1][1][0] in {"pass", "extend", "finish"}:
                laid = counts([])
            gained = less(add(after["hand"][seat], laid), before["hand"][seat])
            first = before["stream_next"][seat]
            own = counts(CARDS[card] for card in before["deck"][first : after["stream_next"][seat]])
            assert min(less(gained, own)) >= 0
            if sum(gained) > sum(own):
                assert after["stream_next"][seat] == after["stream_end"][seat]
            drawn += sum(gained)
        assert drawn == before["draw_pile"] - after["draw_pile"] <= 2


def test_a_seat_draws_the_same_cards_whatever_the_others_do() -> None:
    compared: list[float] = []

    @given(tables, seeds, others)
    @examples(60)
    def check(players: int, seed: int, other: int) -> None:
        first, second = received(players, seed, 0), received(players, seed, other)
        common = first.keys() & second.keys()
        assert all(first[key] == second[key] for key in common)
        compared.append(len(common) / players)

    check()
    assert sum(compared) / len(compared) >= 5


def received(players: int, seed: int, other: int) -> dict[tuple[int, int], list[int]]:
    """All cards that a seat has had so far, by seat and their number, while its stream has not run out."""
    had = {}
    for _, record, log in walk(players, seed, other):
        for seat, stream in enumerate(streams_of(record, players)):
            if stream:
                row = add(
                    record["hand"][seat], counts(card for owner, card in cards_laid(log) if owner == seat)
                )
                had[seat, sum(row)] = row
    return had


@given(tables, seeds, others)
@examples(20)
def test_the_next_deal_does_not_depend_on_the_last_round(players: int, seed: int, other: int) -> None:
    deals = []
    for mix in (mix_of(players, seed), mix_of(players, seed) + other):
        games = new_games(players, 1, MATCH, seed)
        first = plain(games)[0]
        for record, _ in play_on(games, seed, mix % len(MIXES)):
            if record["round_number"] == 1:
                assert record["deck"] != first["deck"]
                deals.append((record["deck"], record["hand"], record["dealer"]))
                break
    assert deals[0] == deals[1]


# Actions ----------------------------------------------------------------------------------------------------


@rounds
@examples(40)
def test_the_mask_is_what_the_rules_answer_about_each_action(players: int, seed: int) -> None:
    teams = TEAMS_AT[players]
    table = rules_record(new_games(players).rules)[0]
    for games, record, _ in walk(players, seed):
        state = games.states[0]
        asked = [action for action in range(-3, num_ids(teams) + 12) if is_legal(state, table, action)]
        assert asked == legal_ids(games)
        seat, kind = record["seat"], DECISIONS[record["phase"]]
        if kind != "play":
            calls = {"claim": [CLAIM_ID, PASS_ID], "extension": [EXTEND_ID, FINISH_ID], None: []}
            assert asked == calls[kind]
            continue
        allowed = set()
        for card in (card for card in CARD_RANGE if record["hand"][seat][card]):
            if can_discard(state, table, seat):
                allowed.add(FIRST_DISCARD_ID + card)
            for opponent in range(teams - 1 if CARDS[card] in HAZARDS else 1):
                if can_lay(state, table, seat % teams, card, opponent):
                    target = [str((seat + 1 + opponent) % teams)] if CARDS[card] in HAZARDS else []
                    allowed.add(to_id(("play", CARDS[card], *target), teams, seat % teams))
        assert sorted(allowed) == asked


@rounds
@examples(60)
def test_there_is_something_to_do_until_the_round_ends(players: int, seed: int) -> None:
    for games, record, log in walk(players, seed):
        assert (DECISIONS[record["phase"]] is None) == (not legal_ids(games))
        # Each card leaves a hand once; besides there are answers to hazards and one extension to decide.
        assert len(cards_laid(log)) <= len(deck(players))
        assert len(log) - len(cards_laid(log)) <= MAX_HAZARDS + 1
        assert (games.buffers.terminations[0] == 1) == (not legal_ids(games))


# The trip and the score -------------------------------------------------------------------------------------


@rounds
@examples(60)
def test_nobody_goes_beyond_the_target(players: int, seed: int) -> None:
    for _, record, log in walk(players, seed):
        extended = any(action == ("extend",) for _, action in log)
        assert record["target"] == (EXTENDED_TARGET if extended else TARGET_AT[players])
        for km, tableau in zip(record["km"], record["tableau"], strict=True):
            assert km == sum(count * length for count, length in zip(tableau, KM, strict=False))
            assert km <= record["target"]
            assert tableau[ID_OF["DISTANCE_200"]] <= 2


def test_the_score_sheet_follows_from_the_plays() -> None:
    seen: Counter[str] = Counter()

    @rounds
    @examples(400)
    def check(players: int, seed: int) -> None:
        for _, record, log in walk(players, seed):
            if DECISIONS[record["phase"]] is not None:
                assert not any(map(any, record["score_sheet"]))
                continue
            expected, winner = sheets_of(log, players)
            for team, sheet in enumerate(expected):
                assert dict(zip(SCORE_LINES, record["score_sheet"][team], strict=True)) == sheet
                seen.update(line for line in sheet if sheet[line])
            assert record["score"][: len(expected)] == [sum(sheet.values()) for sheet in expected]
            assert record["winner"] == winner

    check()
    assert set(SCORE_LINES) == set(seen)
    assert seen["trip_completed"] >= 30
    assert seen["delayed_action"] >= 5


# Hidden cards -----------------------------------------------------------------------------------------------


def redealt(games: Games, seat: int, keys: list[tuple[int, int]]) -> Games:
    """Copies of game 0 in which the cards that the seat cannot see were dealt anew, one for each key."""
    copies = Games(len(keys), games.rules, games.settings)
    copies.states[:] = games.states[0]
    table = rules_record(games.rules)[0]
    scratch = np.full(106, -1, np.int8)
    for state, key in zip(copies.states, keys, strict=True):
        redeal_hidden_cards(state, table, seat, *key, scratch)
    copies.write_decisions()
    return copies


def observed(games: Games, seat: int) -> list[list[int]]:
    rows = np.full_like(games.buffers.observation, -1)
    games.observe(np.full(len(games), seat, np.int32), rows)
    return [[int(number) for number in row] for row in rows]


def test_redealing_hidden_cards_shows_nowhere_and_keeps_all_that_is_known() -> None:
    seen: Counter[str] = Counter()

    @rounds
    @examples(100)
    def check(players: int, seed: int) -> None:
        for games, record, log in walk(players, seed):
            kind = DECISIONS[record["phase"]]
            if kind == "play" and len(log) % 9:
                continue
            for seat in range(players):
                keys = sorted(
                    {(seed & 0xFFFFFFFF, len(log)), (len(log), seed >> 32), (1, 1 << 31), (1 << 31, 1)}
                )
                copies = redealt(games, seat, sorted(keys))
                seen[f"{kind} {'own' if seat == record['seat'] else 'other'}"] += 1
                assert observed(copies, seat) == observed(games, seat) * len(keys)
                if seat == record["seat"] or kind != "play":
                    assert (copies.buffers.action_mask == games.buffers.action_mask[0]).all()
                if seat == record["seat"]:
                    assert (copies.buffers.observation == games.buffers.observation[0]).all()
                redeals = plain(copies, range(len(keys)))
                for redeal in redeals.values():
                    check_cards(redeal, players)
                    check_known(record, redeal, seat, players)
                if sum(record["hidden"]) - record["hand_count"][seat] > 20:
                    secrets = [
                        (tuple(map(tuple, redeal["hand"])), tuple(redeal["deck"]))
                        for redeal in redeals.values()
                    ]
                    secrets.append((tuple(map(tuple, record["hand"])), tuple(record["deck"])))
                    assert len(set(secrets)) == len(secrets)
                    seen["really changed"] += 1
                for other in range(players):
                    if other != seat:
                        changed = [
                            redeal["hand"][other] != record["hand"][other] for redeal in redeals.values()
                        ]
                        seen["other hand"] += len(changed)
                        seen["other hand changed"] += sum(changed)

    check()
    assert (
        min(seen[f"{kind} {whose}"] for kind in ("play", "claim", "extension") for whose in ("own", "other"))
        >= 5
    )
    assert seen["really changed"] >= 100
    assert seen["other hand changed"] > 0.8 * seen["other hand"]


def check_known(record: Record, redeal: Record, seat: int, players: int) -> None:
    """Nothing but the others' hands and the cards to come may change."""
    assert {name for name in record if record[name] != redeal[name]} <= {"hand", "deck"}
    assert redeal["hand"][seat] == record["hand"][seat]
    if record["pending_hazard"] >= 0:  # everybody knows that whoever is asked holds the safety
        assert redeal["hand"][record["seat"]][ID_OF[SAFETY_AGAINST[CARDS[record["pending_hazard"]]]]] == 1
    to_come = {
        place
        for first, end in zip(record["stream_next"][:players], record["stream_end"][:players], strict=True)
        for place in range(first, end)
    }
    assert all(
        old == new
        for place, (old, new) in enumerate(zip(record["deck"], redeal["deck"], strict=True))
        if place not in to_come
    )


@rounds
@examples(25)
def test_a_redealt_game_can_be_played_to_its_end(players: int, seed: int) -> None:
    moments = [games.states.copy() for games, _, _ in walk(players, seed)][:-1]
    games = new_games(players)
    games.states[:] = moments[seed % len(moments)]
    copies = redealt(games, seed % players, [(seed & 0xFFFFFFFF, 1)])
    for record, _ in play_on(copies, seed, mix_of(players, seed)):
        check_cards(record, players)


# A small position: the hands, the streams, what hazard waits for an answer of which seat, and who looks.
SMALL = {
    "to play": (3, (["ROLL", "STOP"], ["DISTANCE_25"], ["ROLL"]), (["DISTANCE_50"], ["ROLL"], []), None, 1),
    "one other": (2, (["ROLL"], ["ROLL", "STOP"]), (["DISTANCE_50"], ["DISTANCE_25", "STOP"]), None, 0),
    "asked": (2, (["STOP"], ["RIGHT_OF_WAY", "ROLL"]), (["DISTANCE_50"], ["STOP", "REPAIRS"]), "STOP", 1),
    "asking": (2, (["STOP"], ["RIGHT_OF_WAY", "ROLL"]), (["DISTANCE_50"], ["STOP", "REPAIRS"]), "STOP", 0),
    "limit": (2, (["STOP"], ["ROLL", "RIGHT_OF_WAY"]), (["ROLL"], ["STOP", "REPAIRS"]), "SPEED_LIMIT", 0),
}


@pytest.mark.parametrize("words", ["count in first", "count in second", "both random"])
@pytest.mark.parametrize("name", SMALL)
def test_every_possible_redeal_has_its_share(name: str, words: str) -> None:
    players, hands, streams, pending, observer = SMALL[name]
    games = new_games(players)
    state = games.states[0]
    state.hand[:] = 0
    place = 3
    for seat in range(players):
        state.hand[seat] = counts(hands[seat])
        state.hand_count[seat] = len(hands[seat])
        state.stream_next[seat] = place
        for card in streams[seat]:
            state.deck[place] = ID_OF[card]
            place += 1
        state.stream_end[seat] = place
        place += 2
    known = []
    if pending is not None:
        state.phase, state.seat, state.pending_hazard = DECISIONS.index("claim"), 1, ID_OF[pending]
        known = [SAFETY_AGAINST[pending]] if observer != 1 else []

    others = [seat for seat in range(players) if seat != observer]
    hidden = [card for seat in others for card in hands[seat] if card not in known]
    hidden += [card for stream in streams for card in stream]
    shares: Counter[tuple[object, ...]] = Counter()
    for order in permutations(hidden):
        cards = iter(order)
        deal: list[object] = []
        for seat in others:
            kept = [card for card in hands[seat] if card in known]
            drawn = [next(cards) for _ in range(len(hands[seat]) - len(kept))]
            deal.append(tuple(counts(kept + drawn)))
        deal += [tuple(next(cards) for _ in stream) for stream in streams]
        shares[tuple(deal)] += 1

    number = 150 * len(shares)
    random_keys = np.random.default_rng(1).integers(0, 2**32, (number, 2)).tolist()
    keys = {
        "count in first": [(count, 99) for count in range(number)],
        "count in second": [(99, count) for count in range(number)],
        "both random": [(key_0, key_1) for key_0, key_1 in random_keys],
    }[words]
    seen: Counter[tuple[object, ...]] = Counter()
    for record in plain(redealt(games, observer, keys), range(number)).values():
        held = [tuple(record["hand"][seat]) for seat in others]
        seen[*held, *(tuple(stream) for stream in streams_of(record, players))] += 1
    assert seen.keys() <= shares.keys()
    expected = [number * share / shares.total() for share in shares.values()]
    assert chi_square([seen[deal] for deal in shares], expected) < chi_square_limit(len(shares) - 1)


# Observations -----------------------------------------------------------------------------------------------


def check_row(row: Sequence[int], layout: Sequence[Section], expected: dict[str, list[int]]) -> None:
    assert len(row) == layout[-1].stop
    for section in layout:
        assert list(row[section.start : section.stop]) == expected[section.name], section.name
        assert min(expected[section.name]) >= 0
        assert max(expected[section.name]) <= section.high, section.name


@pytest.mark.parametrize("unseen", [True, False])
@pytest.mark.parametrize("players", TABLES)
def test_the_sections_cover_the_observation_without_a_gap(players: int, unseen: bool) -> None:
    games = new_games(players, settings=ROUND._replace(observe_unseen=int(unseen)))
    layout, full = sections(games.rules, unseen), full_state_sections(games.rules, unseen)
    names = list(visible(plain(games)[0], players, 0))
    names = names if unseen else names[:-1]
    assert [section.name for section in layout] == names
    assert [section.name for section in full] == [*names, "other_hands", "streams"]
    for table in (layout, full):
        assert table[0].start == 0
        assert all(before.stop == after.start for before, after in pairwise(table))
        assert all(section.size > 0 and section.high > 0 and section.meaning for section in table)
    size = observation_size(rules_record(games.rules)[0], int(unseen))
    assert layout[-1].stop == size == games.buffers.observation.shape[1]
    assert games.full_states().shape == (1, full[-1].stop)
    assert observed(games, 1)[0] == observed(new_games(players), 1)[0][:size]


def test_the_observation_says_what_the_seat_can_see() -> None:
    highest: Counter[str] = Counter()

    @given(tables, seeds, st.lists(st.integers(0, 20_000), min_size=4, max_size=4))
    @examples(60)
    def check(players: int, seed: int, score: list[int]) -> None:
        games = new_games(players, seed=seed)
        games.states[0].score[:] = score
        games.write_decisions()
        layout, full = sections(games.rules), full_state_sections(games.rules)
        for record, _ in play_on(games, seed, mix_of(players, seed)):
            for seat in range(players):
                expected = visible(record, players, seat)
                (row,) = observed(games, seat)
                check_row(row, layout, expected)
                for section in layout:
                    highest[section.name] = max(highest[section.name], *row[section.start : section.stop])
                if DECISIONS[record["phase"]] is None:
                    assert games.buffers.final_observation[0, seat].tolist() == row
                if seat == record["seat"]:
                    assert games.buffers.observation[0].tolist() == row
                    assert games.buffers.agent_selection[0] == seat
                    expected |= concealed(record, players, seat, full[-1].size // players)
                    check_row(games.full_states()[0].tolist(), full, expected)

    check()
    assert set(highest) == {section.name for section in sections(new_games(2).rules)}
    assert min(highest.values()) > 0  # no section was empty all the time
    assert (highest["score"], highest["two_hundreds"], highest["target"]) == (127, 2, 40)
