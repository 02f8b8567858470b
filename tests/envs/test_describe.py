"""The view of one seat, in words. The texts below were checked by hand: paste none unread."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import VectorEnv, edition, editions, millebornes_v0, vector_env
from millebornes_env.agents.protocol import Table
from millebornes_env.play.terminal.cards import HumanAgent
from millebornes_env.render.millebornes.seat import describe_seat
from tests.support import Position

SEEN_FROM_SEAT_1 = f"""\
trip: 700 km  |  57 cards to draw
you               [{21 * "="}>{19 * "."}]  375 km  stopped
                  battle: Out of gas    speed: limited to 50  200s: 1 of 2
                  safeties: Driving ace, Puncture proof (coup fourré)
opponent          [>{40 * "."}]    0 km  stopped
                  battle: empty         speed: no limit       200s: 0 of 2
                  safeties: none
hands: opponent: 2 cards
your hand: 75 km (2), Flat tire
discarded: 100 km (3), 200 km (3), Accident (2), Out of gas, Flat tire, Stop (4), Speed limit (2), Gasoline, \
Roll (13), Extra tank
not seen yet: 25 km (10), 50 km (10), 75 km (7), 100 km (8), Repairs (6), Gasoline (5), Spare tire (6), \
End of limit (6), Right of way
Your turn. You are stopped, and need: Gasoline."""


def env_in(position: Position, **options: bool) -> VectorEnv:
    env = vector_env(1, players=position.rules.players, autoreset_mode="disabled", seed=1, **options)
    env.set_states(position.games.states)
    return env


def a_turn() -> Position:
    position = Position(
        "battle 1: out_of_gas on roll",
        "speed 1: speed_limit",
        "safeties 1: driving_ace puncture_proof!",
        "hand 0: 25 right_of_way gasoline",
        "hand 1: 2x75",
        "stream 1: flat_tire ...",
    )
    return position.km(1, 375, two_hundreds=1).draw_pile(58).do("discard gasoline")


def test_a_seat_is_told_what_it_sees() -> None:
    assert env_in(a_turn()).describe(1) == SEEN_FROM_SEAT_1


def test_the_cards_not_seen_are_told_only_if_the_observation_shows_them() -> None:
    assert "not seen yet" not in env_in(a_turn(), observe_unseen=False).describe(1)


def test_all_seats_are_told_about_a_claim() -> None:
    position = Position("battle 1: roll", "hand 0: stop", "hand 3: right_of_way", players=4).do("play stop")
    questions = [env_in(position).describe(seat).splitlines()[-1] for seat in range(4)]
    assert questions == [
        "Stop is laid against opponents, and opponent 2 may claim a coup fourré.",
        "Stop is laid against your team, and partner may claim a coup fourré.",
        "Stop is laid against opponents, and opponent 1 may claim a coup fourré.",
        "Stop is laid against your team, and you hold the Right of way. Claim the coup fourré?",
    ]


def test_all_seats_are_told_about_the_end_of_the_trip() -> None:
    position = Position("battle 1: roll", "to act: seat 1", "hand 1: 25 roll", players=3).km(1, 675)
    position.do("play 25")
    questions = [env_in(position).describe(seat).splitlines()[-1] for seat in range(3)]
    assert questions == [
        "Opponent 1 has done 700 km, and may extend the trip to 1000 km.",
        "You have done 700 km. Extend the trip to 1000 km?",
        "Opponent 2 has done 700 km, and may extend the trip to 1000 km.",
    ]
    env = env_in(position.do("finish"))
    assert [env.describe(seat).splitlines()[-1] for seat in range(3)] == ["The round is over."] * 3


@pytest.mark.parametrize(("name", "padded"), [*((name, False) for name in editions()), ("dujardin", True)])
def test_hidden_cards_change_nothing(name: str, padded: bool) -> None:
    """At every table of every edition: other hands and the draw pile are dealt anew."""
    for players, teams in edition(name).tables:
        options = {"players": players, "teams": teams, "padded": padded, "observe_rules": padded}
        env, other = (vector_env(4, name, seed=5, **options) for _ in range(2))
        env.reset()
        changed = False
        for step in range(45):
            if step % 20 == 4:
                for seat in range(players):
                    redealt = env.determinize(seat, seed=step)
                    changed |= (redealt["deck"] != env.get_states()["deck"]).any()
                    other.set_states(redealt)
                    for game in range(4):
                        assert env.describe(seat, game) == other.describe(seat, game)
            env.step(env.sample_actions())
        assert changed


def test_all_faces_and_the_person_at_the_terminal_are_told_the_same() -> None:
    position = a_turn()
    env = env_in(position)
    single = millebornes_v0.env()
    single.reset(seed=1)
    single.vector.set_states(position.games.states)
    for seat in range(2):
        assert single.describe(f"player_{seat}") == single.describe(seat) == env.describe(seat)
    row = env.observe(1)[0]
    assert describe_seat(row, env.observation_sections, env.rules) == env.describe(1)
    table = HumanAgent(Table.of(env))._view(row[np.newaxis]).table()
    assert env.describe(1).startswith("\n".join(table))
