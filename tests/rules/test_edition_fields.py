"""The effect of overriding each field of `Rules`; `test_edition_errors.py` has the refusals.

The docstring of a test begins with the field that it is about.
"""

from __future__ import annotations

from millebornes_env.games.millebornes.cards import COUNTS
from tests.each import each
from tests.support import BREAKDOWNS, CARDS, DISTANCES, HAZARDS, SAFETIES, Position

# The table ------------------------------------------------------------------------------------------------


@each("players", [2, 3, 4, 6])
def test_players(players: int) -> None:
    """players: how many hands are dealt, and how many seats the turn goes round."""
    position = Position(players=players, dealt=True)
    assert position.rules.players == players
    assert [int(count) > 0 for count in position.state.hand_count] == [seat < players for seat in range(8)]


def test_teams() -> None:
    """teams: how many tableaux there are, and so how many targets a hazard has."""
    for players, targets in ((3, 2), (4, 1), (6, 2)):
        position = Position("hand 0: speed_limit", players=players)
        assert position.rules.teams == targets + 1
        assert len(position.plays()) == targets


@each("size", [1, 5, 8])
def test_hand_limit(size: int) -> None:
    """hand_limit: the cards dealt to each seat, here besides the one that the first has drawn."""
    position = Position(players=3, dealt=True, hand_limit=size)
    assert sorted(position.hand_sizes()) == [size, size, size + 1]
    assert position.pile_size == 101 - 3 * size - 1


# The deck -------------------------------------------------------------------------------------------------


@each("card", range(len(CARDS)))
@each("players", [2, 4])
def test_copies_of_a_card(card: int, players: int) -> None:
    """copies_of_<card>: how many of it the deck has, at every table, whatever the sheet takes out there."""
    name = CARDS[card]
    full = {f"copies_of_{other.lower().removeprefix('distance_')}": int(n) for other, n in _full_deck()}
    fewer = int(COUNTS[card]) - 1
    position = Position(players=players, **{**full, "max_200": 2, f"copies_of_{name}": fewer})
    assert position.deck.total() == 105
    assert [position.deck[other] for other in range(19)] == [
        int(count) - (other == card) for other, count in enumerate(COUNTS)
    ]
    assert position.pile_size == 105


def _full_deck() -> list[tuple[str, int]]:
    return list(zip(CARDS, COUNTS.tolist(), strict=True))


# The trip -------------------------------------------------------------------------------------------------


def test_target() -> None:
    """target: the km that complete the trip."""
    position = Position("battle 0: roll", target=500).km(0, 475).hand(0, *DISTANCES)
    assert position.plays() == {"25"}
    assert position.do("play 25").phase == "extension"


def test_extended_target() -> None:
    """extended_target: the km after the call; 0 means that nobody can call."""
    position = Position("battle 0: roll", "hand 0: 25", extended_target=1200).km(0, 675)
    assert position.do("play 25", "extend").target == 1200
    position = Position("battle 0: roll", "hand 0: 25", extended_target=0).km(0, 675)
    assert position.do("play 25").phase == "round over"
    position = Position("battle 0: roll", "hand 0: 25", players=4, extended_target=1200).km(0, 975)
    assert position.do("play 25").phase == "extension"


def test_exact_finish() -> None:
    """exact_finish: with 0 a card may pass the goal, counts in full and completes the trip."""
    position = Position("battle 0: roll", players=4, exact_finish=0).km(0, 950).hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)
    position.do("play 100")
    assert (position.phase, position.winner, position.sheet(0)["distance"]) == ("round over", 0, 1050)


@each(("km", "phase"), [(650, "extension"), (675, "extension"), (950, "round over")])
def test_beyond_the_target_too_the_extension_is_called(km: int, phase: str) -> None:
    """exact_finish: with 0 who passes 700 may extend as well, if the longer trip is not done yet (E44)."""
    position = Position("battle 0: roll", exact_finish=0, target=700).km(0, 600).km(0, km)
    assert position.hand(0, "75").do("play 75").phase == phase


@each("cap", [0, 1, 3, 4])
def test_max_200(cap: int) -> None:
    """max_200: how many 200s a team may lay."""
    position = Position("battle 0: roll", players=4, max_200=cap)
    for laid in range(4):
        position.km(0, 200 * laid, two_hundreds=laid).hand(0, "200")
        assert position.can("play 200") == (laid < cap)


# Moving ---------------------------------------------------------------------------------------------------


def test_start_needs_roll() -> None:
    """start_needs_roll: with 0 everybody rolls from the start, can be attacked, and has no use for a Roll."""
    position = Position(start_needs_roll=0).hand(0, *DISTANCES, *HAZARDS, "roll")
    assert position.plays() == {*DISTANCES, *HAZARDS}
    assert position.do("play flat_tire").battle_top(1) == "flat_tire"
    assert not position.is_moving(1)


@each("safety", SAFETIES)
def test_any_safety_starts(safety: str) -> None:
    """any_safety_starts: with 1 every safety replaces the first Roll, but none replaces a later one (E31)."""
    position = Position("hand 0: 25", any_safety_starts=1)
    assert not position.plays()
    assert position.safety(0, safety).plays() == {"25"}
    moves_again = safety == "right_of_way"
    assert position.battle(0, "roll", "accident", "repairs").is_moving(0) == moves_again


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_roll_after_remedy(hazard: str, remedy: str, safety: str) -> None:
    """roll_after_remedy: with 0 a remedy restarts the car, opens it to attack, takes no Roll (E25, E55)."""
    position = Position(f"battle 0: {hazard} on roll", f"hand 0: {remedy} 25 roll", roll_after_remedy=0)
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(0)
    assert position.plays() == {"25"}
    assert position.turn(1).hand(1, "stop").plays() == {"stop"}


def test_without_roll_after_remedy_a_stop_still_takes_a_roll() -> None:
    """roll_after_remedy: with 0, Roll remains the answer to a Stop and the start."""
    position = Position("battle 0: stop on roll", "hand 0: roll 25", roll_after_remedy=0)
    assert position.plays() == {"roll"}
    assert position.battle(0).plays() == {"roll"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_roll_after_safety(hazard: str, remedy: str, safety: str) -> None:
    """roll_after_safety: with 0 the cured hazard is discarded and what lay beneath it shows again (E22)."""
    position = Position(
        f"battle 0: {hazard} on roll", f"hand 0: {safety} {remedy} 25 roll", roll_after_safety=0
    )
    position.do(f"play {safety}")
    assert position.discards == {hazard: 1}
    assert position.battle_top(0) == "roll"
    assert position.laid(0) == {"roll": 1, safety: 1}
    assert position.plays() == {"25"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_hazard_opens_pile(hazard: str, remedy: str, safety: str) -> None:
    """hazard_opens_pile: with 1 a hazard may be the first card; remedy and Roll follow as usual."""
    position = Position(f"hand 1: {remedy} roll 25", hazard_opens_pile=1).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)
    assert position.do(f"play {hazard}").battle_top(1) == hazard
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(1)
    assert position.plays() == {"roll"}
    assert position.do("play roll").is_moving(1)


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_opening_remedy_starts(hazard: str, remedy: str, safety: str) -> None:
    """opening_remedy_starts: with 1 the remedy on an opening hazard starts the car without a Roll."""
    position = Position(
        f"hand 0: {hazard}", f"hand 1: {remedy} 25", hazard_opens_pile=1, opening_remedy_starts=1
    )
    position.do(f"play {hazard}", f"play {remedy}").turn(1)
    assert position.plays() == {"25"}


def test_opening_remedy_starts_only_there() -> None:
    """opening_remedy_starts: with 1, after a Roll has been laid every later remedy needs another one."""
    position = Position("hand 0: accident", "hand 1: repairs", hazard_opens_pile=1, opening_remedy_starts=1)
    position.do("play accident", "play repairs").hand(0, "flat_tire")
    position.hand(1, "spare_tire", "25").do("play flat_tire", "play spare_tire").turn(1)
    assert not position.can("play 25")
    position = Position(opening_remedy_starts=1).battle(0, "roll", "accident", "repairs")
    assert not position.is_moving(0)


def test_opening_stop_takes_a_roll() -> None:
    """opening_remedy_starts: with 1, a Stop that began the pile is answered by a Roll, which starts (E30)."""
    position = Position("hand 0: stop", "hand 1: roll", hazard_opens_pile=1, opening_remedy_starts=1)
    assert position.do("play stop").plays() == {"roll"}
    assert position.do("play roll").is_moving(1)


def test_attack_needs_roll() -> None:
    """attack_needs_roll: with 1 who rolls on a mere remedy is safe, but not from a Limit (E55)."""
    remedied = ("roll", "accident", "repairs")
    position = Position(attack_needs_roll=1, roll_after_remedy=0).battle(1, *remedied).hand(0, *HAZARDS)
    assert position.is_moving(1)
    assert position.plays() == {"speed_limit"}
    assert position.safety(1, "right_of_way").plays() == {"accident", "out_of_gas", "flat_tire"}
    position = Position("battle 1: roll", attack_needs_roll=1, roll_after_remedy=0).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


def test_attack_needs_roll_where_nothing_is_needed_to_start() -> None:
    """attack_needs_roll: with 1 an empty pile is safe too, unless a hazard may open it (E55)."""
    position = Position(attack_needs_roll=1, start_needs_roll=0).hand(0, *HAZARDS)
    assert position.is_moving(1)
    assert position.plays() == {"speed_limit"}
    position = Position(attack_needs_roll=1, start_needs_roll=0, hazard_opens_pile=1).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


def test_one_hazard_at_a_time() -> None:
    """one_hazard_at_a_time: with 1 a Limit keeps battle hazards away, and they keep it away (E29)."""
    position = Position("battle 1: roll", one_hazard_at_a_time=1).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)
    assert not position.speed(1, "speed_limit").plays()
    assert position.speed(1, "speed_limit", "end_of_limit").plays() == set(HAZARDS)
    assert not position.battle(1, "roll", "flat_tire").plays()
    assert position.battle(1, "roll", "flat_tire", "spare_tire").plays() == {"speed_limit"}


def test_a_hazard_that_a_safety_has_cancelled_keeps_none_away() -> None:
    """one_hazard_at_a_time: with 1, a cured hazard that lies there still counts as a remedy (E22, E29)."""
    position = Position("battle 1: flat_tire on roll", "safeties 1: puncture_proof", one_hazard_at_a_time=1)
    assert position.hand(0, *HAZARDS).plays() == {"speed_limit"}


# Playing and the empty draw pile --------------------------------------------------------------------------


def test_discard_only_if_stuck() -> None:
    """discard_only_if_stuck: with 1 nothing may be discarded while a card of the hand can be laid."""
    position = Position("hand 0: 25 stop", players=3, discard_only_if_stuck=1)
    assert position.legal() == {"discard 25", "discard stop"}
    assert position.battle(2, "roll").legal() == {"play stop against team 2"}
    assert position.battle(2).battle(0, "roll").legal() == {"play 25"}
    assert position.hand(0, "extra_tank").legal() == {"play extra_tank"}


@each("safety", SAFETIES)
def test_discard_safeties(safety: str) -> None:
    """discard_safeties: with 0 a safety can be laid, as ever, but not thrown away (E21)."""
    position = Position(f"hand 0: {safety} stop", discard_safeties=0)
    assert position.legal() == {f"play {safety}", "discard stop"}
    assert position.hand(0, safety).do(f"play {safety}").laid(0) == {safety: 1}


@each("players", [2, 3])
def test_when_pile_is_empty(players: int) -> None:
    """when_pile_is_empty: with 1 the round ends with the turn in which the last card was drawn."""
    position = Position("hand 0: stop stop", players=players, when_pile_is_empty=1).draw_pile(1)
    position.do("discard stop").hand(1, "roll", "stop")
    assert position.pile_size == 0
    assert (position.phase, position.seat) == ("play", 1)
    assert position.do("play roll").phase == "round over"
    assert position.winner is None


def test_a_trip_completed_in_that_last_turn_counts() -> None:
    """when_pile_is_empty: with 1 one can still arrive in the turn of the last card."""
    position = Position(when_pile_is_empty=1).draw_pile(0).finish_trip(0)
    assert (position.winner, position.sheet(0)["delayed_action"]) == (0, 300)


@each(("plays_out", "phase"), [(0, "round over"), (1, "play")])
def test_play_out_after_extension(plays_out: int, phase: str) -> None:
    """play_out_after_extension: with 1 an extended round goes on with the empty pile, others do not (E34)."""
    rules = {"when_pile_is_empty": 1, "play_out_after_extension": plays_out}
    position = Position("hand 0: stop", "hand 1: stop", **rules).extended_by(1).draw_pile(0)
    assert position.do("discard stop").phase == phase
    position = Position("hand 0: stop", "hand 1: stop", **rules).draw_pile(0)
    assert position.do("discard stop").phase == "round over"


@each(("ends", "phase"), [(0, "play"), (1, "round over")])
def test_end_when_stuck(ends: int, phase: str) -> None:
    """end_when_stuck: with 1 the round ends, without a winner, when nobody holds a card that can be laid."""
    position = Position("hand 0: roll roll", "hand 1: stop", end_when_stuck=ends).draw_pile(0)
    assert position.do("play roll").phase == "play"
    position.hand(0, "repairs").hand(1, "25", "gasoline").do("discard gasoline")
    assert (position.phase, position.winner, position.hand_sizes()) == (phase, None, [1, 1])


@each("card", ["25", "gasoline", "roll", "speed_limit", "extra_tank"])
@each("holder", range(4))
def test_nobody_is_stuck_while_one_card_can_be_laid(holder: int, card: str) -> None:
    """end_when_stuck: with 1 one such card in any hand is enough, whoever is next."""
    position = Position(players=4, end_when_stuck=1).draw_pile(0)
    for seat in range(4):
        position.hand(seat, "repairs", *[card] * (seat == holder))
    piles = {"25": ("roll",), "gasoline": ("roll", "out_of_gas")}
    position.battle(holder % 2, *piles.get(card, ())).do("discard repairs")
    assert position.phase == "play"


def test_nobody_is_stuck_while_there_are_cards_to_draw() -> None:
    """end_when_stuck: with 1 who draws the last card has the turn, and the round ends with it."""
    position = Position("hand 0: stop stop", "hand 1: stop", end_when_stuck=1).draw_pile(1)
    assert position.do("discard stop").phase == "play"
    assert position.do("discard stop").phase == "round over"


def test_replay_after_safety_when_empty() -> None:
    """replay_after_safety_when_empty: with 0 a safety is the turn when no card is left to draw (E17)."""
    position = Position("hand 0: extra_tank roll", replay_after_safety_when_empty=0).draw_pile(0)
    assert position.hand(1, "stop").do("play extra_tank").seat == 1
    assert position.hand_of(0) == ["roll"]


def test_replay_after_claim_when_empty() -> None:
    """replay_after_claim_when_empty: with 0 the turn goes to the left of the attacker (E15, E16)."""
    position = Position(
        "battle 2: roll",
        "hand 0: flat_tire stop",
        "hand 1: stop",
        "hand 2: puncture_proof roll",
        players=3,
        replay_after_claim_when_empty=0,
    )
    position.draw_pile(0).do("play flat_tire against team 2", "claim")
    assert (position.seat, position.coups(2)) == (1, ["puncture_proof"])
    assert position.battle_top(2) == "roll"


@each(("players", "follows", "next_seat"), [(3, 0, 1), (3, 1, 0), (4, 0, 1), (4, 1, 0)])
def test_turn_follows_claim_when_empty(players: int, follows: int, next_seat: int) -> None:
    """turn_follows_claim_when_empty: with 1 the left of the responder is next, not of the attacker (E16)."""
    rules = {"replay_after_claim_when_empty": 0, "turn_follows_claim_when_empty": follows}
    responder, team = players - 1, (players - 1) % Position(players=players).rules.teams
    position = Position(f"battle {team}: roll", players=players, **rules).draw_pile(0)
    for seat in range(players):
        position.hand(seat, "stop")
    position.hand(0, "flat_tire", "stop").hand(responder, "puncture_proof", "roll")
    attack = "play flat_tire" if position.rules.teams == 2 else f"play flat_tire against team {team}"
    assert position.do(attack, "claim").seat == next_seat
