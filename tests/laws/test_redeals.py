"""A redeal of the hidden cards shows nowhere, keeps all that is known, and is even."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from millebornes_env.engine.batch import Batch
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import rules_record
from tests.laws.conversions import (
    CARDS,
    DECISIONS,
    ID_OF,
    PARKER_2,
    PARKER_3,
    Record,
    Table,
    chi_square,
    chi_square_limit,
    counts,
    new_games,
    observed,
    plain,
    streams_of,
)
from tests.laws.players import mix_of, play_on, walk
from tests.laws.random_rounds import check_cards, examples, places_to_come, rounds
from tests.oracle.oracle import SAFETY_AGAINST


def redealt(games: Batch, seat: int, keys: list[tuple[int, int]]) -> Batch:
    """Return copies of game 0 with the cards that the seat cannot see dealt again, one for each key."""
    copies = Batch(rulebook, len(keys), games.rules, games.settings)
    copies.states[:] = games.states[0]
    table = rules_record(games.rules)
    scratch = np.full(106, -1, np.int8)
    for state, key in zip(copies.states, keys, strict=True):
        redeal_hidden_cards(state, table, seat, *key, scratch)
    copies.write_decisions()
    return copies


def test_redealing_hidden_cards_shows_nowhere_and_keeps_all_that_is_known() -> None:
    seen: Counter[str] = Counter()

    @rounds
    @examples(30)
    def check(table: Table, seed: int) -> None:
        for games, record, log in walk(table, seed):
            kind = DECISIONS[record["phase"]]
            if kind == "play" and len(log) % 9:
                continue
            for seat in range(table.players):
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
                    check_cards(redeal, table)
                    check_known(record, redeal, seat, table.players)
                if sum(record["hidden"]) - record["hand_count"][seat] > 20:
                    secrets = [
                        (tuple(map(tuple, redeal["hand"])), tuple(redeal["deck"]))
                        for redeal in redeals.values()
                    ]
                    secrets.append((tuple(map(tuple, record["hand"])), tuple(record["deck"])))
                    assert len(set(secrets)) == len(secrets)
                    seen["really changed"] += 1
                for other in range(table.players):
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
    """Nothing but the others' hands, the cards to come and the key of later deals may change."""
    assert {name for name in record if record[name] != redeal[name]} <= {"hand", "deck", "key"}
    assert redeal["key"] != record["key"]
    assert redeal["hand"][seat] == record["hand"][seat]
    if record["pending_hazard"] >= 0:  # everybody knows that whoever is asked holds the safety
        assert redeal["hand"][record["seat"]][ID_OF[SAFETY_AGAINST[CARDS[record["pending_hazard"]]]]] == 1
    to_come = places_to_come(record, players)
    assert all(
        old == new
        for place, (old, new) in enumerate(zip(record["deck"], redeal["deck"], strict=True))
        if place not in to_come
    )


@rounds
@examples(25)
def test_a_redealt_game_can_be_played_to_its_end(table: Table, seed: int) -> None:
    moments = [games.states.copy() for games, _, _ in walk(table, seed)][:-1]
    games = new_games(table)
    games.states[:] = moments[seed % len(moments)]
    copies = redealt(games, seed % table.players, [(seed & 0xFFFFFFFF, 1)])
    for record, _ in play_on(copies, seed, mix_of(table, seed)):
        check_cards(record, table)


# A small position: the hands, the streams, what hazard waits for an answer of which seat, and who looks.
SMALL = {
    "to play": (
        PARKER_3,
        (["ROLL", "STOP"], ["DISTANCE_25"], ["ROLL"]),
        (["DISTANCE_50"], ["ROLL"], []),
        None,
        1,
    ),
    "one other": (
        PARKER_2,
        (["ROLL"], ["ROLL", "STOP"]),
        (["DISTANCE_50"], ["DISTANCE_25", "STOP"]),
        None,
        0,
    ),
    "asked": (
        PARKER_2,
        (["STOP"], ["RIGHT_OF_WAY", "ROLL"]),
        (["DISTANCE_50"], ["STOP", "REPAIRS"]),
        "STOP",
        1,
    ),
    "asking": (
        PARKER_2,
        (["STOP"], ["RIGHT_OF_WAY", "ROLL"]),
        (["DISTANCE_50"], ["STOP", "REPAIRS"]),
        "STOP",
        0,
    ),
    "limit": (
        PARKER_2,
        (["STOP"], ["ROLL", "RIGHT_OF_WAY"]),
        (["ROLL"], ["STOP", "REPAIRS"]),
        "SPEED_LIMIT",
        0,
    ),
    "four teams": (
        Table("dujardin", 4, 4),
        (["ROLL"], ["STOP"], ["DISTANCE_25"], ["ROLL", "DISTANCE_25"]),
        (["STOP"], [], ["ROLL"], []),
        None,
        2,
    ),
}


@pytest.mark.parametrize("words", ["count in first", "count in second", "both random"])
@pytest.mark.parametrize("name", SMALL)
def test_every_possible_redeal_has_its_share(name: str, words: str) -> None:
    table, hands, streams, pending, observer = SMALL[name]
    players = table.players
    games = new_games(table)
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

    number = 50 * len(shares)
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
