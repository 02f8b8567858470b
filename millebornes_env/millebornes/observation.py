"""What a seat sees: a row of small integers, laid out in named sections.

`sections()` is the table of the layout; each section is written by the function of the same name below, in
the same order. Teams and seats are counted from the observer: its own first, then to the left.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from millebornes_env.compile import rule
from millebornes_env.millebornes.actions import around
from millebornes_env.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_HAZARDS,
    NUM_SAFETIES,
)
from millebornes_env.millebornes.motion import is_limited, is_moving, team_of
from millebornes_env.millebornes.rules import Rules, deck_size
from millebornes_env.millebornes.state import (
    HAZARD_AGAIN,
    MAX_SEATS,
    MAX_TEAMS,
    NO_TEAM,
    ROUND_OVER,
    Int8Array,
    State,
)

OBSERVATION_VERSION: Final = 2
"""Goes up when a trained agent would see different numbers."""

NUM_BATTLE_TOPS: Final = 9
"""Nothing, the four battle hazards, the three other remedies and Roll."""
SCORE_UNIT: Final = 50
MAX_INT8: Final = 127
NUM_RULES: Final = len(Rules._fields)
MOST_BEYOND_TARGET: Final = 7
"""25s that a 200 can go beyond the target where the finish need not be exact."""

BATTLE_TOPS: Final = (
    "nothing",
    "accident",
    "out of gas",
    "flat tire",
    "stop",
    "repairs",
    "gasoline",
    "spare tire",
    "roll",
)


class Section(NamedTuple):
    """A stretch of the observation.

    Attributes:
        name: what code calls it.
        start: index of its first number.
        size: how many numbers.
        high: the largest value that a number can have (the smallest is always 0).
        meaning: what the numbers say.
    """

    name: str
    start: int
    size: int
    high: int
    meaning: str

    @property
    def stop(self) -> int:
        """One past the index of its last number."""
        return self.start + self.size


class View(NamedTuple):
    """What an observation shows, as ints that compiled code takes by value."""

    unseen: int = 1  # 1: with the counts of unseen cards
    rules: int = 0  # 1: with the table's rules
    padded: int = 0  # 1: with room for MAX_SEATS and MAX_TEAMS, so that all tables have the same layout


USUAL_VIEW: Final = View()


def sections(rules: Rules, view: View = USUAL_VIEW) -> tuple[Section, ...]:
    """The layout of the observation at a table.

    Args:
        rules: the table's rules.
        view: what the observation shows. Where it is padded, the numbers of seats and teams that the table
            does not have are 0, and the bounds are those of all tables.

    Returns:
        The sections in order; together they cover the observation without a gap.
    """
    seats, teams = shown_seats(rules, view), shown_teams(rules, view)
    copies = MAX_INT8 if view.padded else max(rules.deck)
    longest = max(rules.target, rules.extended_target) // 25
    farthest = longest if rules.exact_finish else longest + MOST_BEYOND_TARGET
    if view.padded:
        longest = farthest = MAX_INT8
    layout = [
        ("hand", NUM_CARD_TYPES, copies, "cards in the own hand, by card type"),
        ("discard_pile", NUM_CARD_TYPES, copies, "cards on the discard pile, by card type"),
        ("draw_pile", 1, DECK_SIZE, "cards left to draw"),
        ("phase", 3, 1, "what is to be decided: play, claim, extension (all 0: the round is over)"),
        ("to_act", seats, 1, "the seat that decides, from the own seat to the left"),
        ("pending_hazard", NUM_HAZARDS, 1, "the hazard that waits for an answer: accident ... speed limit"),
        ("target", 1, longest, "km to complete, in 25s"),
        ("extension", teams, 1, "the team that called the extension"),
        ("battle", teams * NUM_BATTLE_TOPS, 1, "top of each battle pile: " + ", ".join(BATTLE_TOPS)),
        ("opening", teams, HAZARD_AGAIN, "1: a hazard began the pile; 2: another lies on its remedy"),
        ("moving", teams, 1, "whether the team is rolling"),
        ("limited", teams, 1, "whether a speed limit shows"),
        ("km", teams, farthest, "km travelled, in 25s"),
        ("two_hundreds", teams, MAX_INT8 if view.padded else rules.max_200, "200s laid"),
        ("safeties", teams * NUM_SAFETIES, 1, "safeties laid: driving ace ... right of way"),
        ("coups_fourres", teams * NUM_SAFETIES, 1, "those of them laid as coups fourrés"),
        ("hand_counts", seats, MAX_INT8 if view.padded else rules.hand_limit + 1, "cards in each hand"),
        ("score", teams, MAX_INT8, "points of the match's finished rounds, in 50s rounded down, at most 127"),
    ]
    if view.unseen:
        layout.append(("unseen", NUM_CARD_TYPES, copies, "cards not in sight, by card type"))
    if view.rules:
        layout.append(("rules", NUM_RULES, MAX_INT8, "the table's rules, in the order and units of `Rules`"))
    table: list[Section] = []
    start = 0
    for name, size, high, meaning in layout:
        table.append(Section(name, start, size, high, meaning))
        start += size
    return tuple(table)


def full_state_sections(rules: Rules, view: View = USUAL_VIEW) -> tuple[Section, ...]:
    """The layout of a row with everything: the observation of the seat that decides, then what it cannot see.

    Args:
        rules: the table's rules.
        view: what the observation shows.

    Returns:
        The sections in order, those of the observation first.
    """
    table = list(sections(rules, view))
    others = (shown_seats(rules, view) - 1) * NUM_CARD_TYPES
    streams = shown_seats(rules, view) * longest_stream(rules, view)
    for name, size, high, meaning in (
        ("other_hands", others, table[0].high, "cards in each other hand, by card type, to the left"),
        ("streams", streams, NUM_CARD_TYPES, "cards to come in each seat's stream, in order: card + 1, or 0"),
    ):
        table.append(Section(name, table[-1].stop, size, high, meaning))
    return tuple(table)


@rule
def shown_seats(rules: Rules, view: View) -> int:
    """For how many seats an observation has room."""
    return MAX_SEATS if view.padded == 1 else rules.players


@rule
def shown_teams(rules: Rules, view: View) -> int:
    """For how many teams an observation has room."""
    return MAX_TEAMS if view.padded == 1 else rules.teams


@rule
def longest_stream(rules: Rules, view: View) -> int:
    """For how many cards of a seat's stream a full state has room: what is left after the deal."""
    if view.padded == 1:
        return DECK_SIZE // 2
    return deck_size(rules) // rules.players + 1 - rules.hand_limit


@rule
def observation_size(rules: Rules, view: View) -> int:
    """How many numbers an observation has at this table (a test compares it with `sections`)."""
    fixed = 2 * NUM_CARD_TYPES + 1 + 3 + NUM_HAZARDS + 1
    by_team = 1 + NUM_BATTLE_TOPS + 5 + 2 * NUM_SAFETIES + 1
    by_seat = 2
    appended = NUM_CARD_TYPES * view.unseen + NUM_RULES * view.rules
    return fixed + by_seat * shown_seats(rules, view) + by_team * shown_teams(rules, view) + appended


@rule
def write_observation(state: State, rules: Rules, seat: int, view: View, row: Int8Array) -> None:
    """Write what the seat sees.

    Args:
        state: the game.
        rules: the table's rules.
        seat: the observer, whether it is its turn or not.
        view: what the observation shows.
        row: int8[observation_size], overwritten.
    """
    seats, teams = shown_seats(rules, view), shown_teams(rules, view)
    row[:] = 0
    at = 0
    at = write_hand(state, seat, row, at)
    at = write_discard_pile(state, row, at)
    at = write_draw_pile(state, row, at)
    at = write_phase(state, row, at)
    at = write_to_act(state, rules, seat, seats, row, at)
    at = write_pending_hazard(state, row, at)
    at = write_target(state, row, at)
    at = write_extension(state, rules, seat, teams, row, at)
    at = write_tableaux(state, rules, seat, teams, row, at)
    at = write_hand_counts(state, rules, seat, seats, row, at)
    at = write_score(state, rules, seat, teams, row, at)
    if view.unseen == 1:
        at = write_unseen(state, seat, row, at)
    if view.rules == 1:
        write_rules(rules, row, at)


@rule
def relative_team(rules: Rules, seat: int, team: int) -> int:
    """How many teams to the left of the observer's the team is."""
    return around(team - team_of(rules, seat) + rules.teams, rules.teams)


@rule
def write_hand(state: State, seat: int, row: Int8Array, at: int) -> int:
    """Section `hand`; returns where the next section starts, as all of these do."""
    for card in range(NUM_CARD_TYPES):
        row[at + card] = state.hand[seat, card]
    return at + NUM_CARD_TYPES


@rule
def write_discard_pile(state: State, row: Int8Array, at: int) -> int:
    """Section `discard_pile`."""
    for card in range(NUM_CARD_TYPES):
        row[at + card] = state.discard_pile[card]
    return at + NUM_CARD_TYPES


@rule
def write_draw_pile(state: State, row: Int8Array, at: int) -> int:
    """Section `draw_pile`."""
    row[at] = state.draw_pile
    return at + 1


@rule
def write_phase(state: State, row: Int8Array, at: int) -> int:
    """Section `phase`."""
    phase = int(state.phase)
    if phase != ROUND_OVER:
        row[at + phase] = 1
    return at + ROUND_OVER


@rule
def write_to_act(state: State, rules: Rules, seat: int, room: int, row: Int8Array, at: int) -> int:
    """Section `to_act`, with room for so many seats."""
    if int(state.phase) != ROUND_OVER:
        row[at + around(int(state.seat) - seat + rules.players, rules.players)] = 1
    return at + room


@rule
def write_pending_hazard(state: State, row: Int8Array, at: int) -> int:
    """Section `pending_hazard`."""
    hazard = int(state.pending_hazard)
    if hazard != NO_CARD:
        row[at + hazard - ACCIDENT] = 1
    return at + NUM_HAZARDS


@rule
def write_target(state: State, row: Int8Array, at: int) -> int:
    """Section `target`."""
    row[at] = in_25s(int(state.target))
    return at + 1


@rule
def write_extension(state: State, rules: Rules, seat: int, room: int, row: Int8Array, at: int) -> int:
    """Section `extension`, with room for so many teams."""
    caller = int(state.extension_team)
    if caller != NO_TEAM:
        row[at + relative_team(rules, seat, caller)] = 1
    return at + room


@rule
def write_tableaux(state: State, rules: Rules, seat: int, room: int, row: Int8Array, at: int) -> int:
    """Sections `battle`, `opening`, `moving`, `limited`, `km`, `two_hundreds` and both of safeties."""
    opening_at = at + room * NUM_BATTLE_TOPS
    moving_at = opening_at + room
    limited_at = moving_at + room
    km_at = limited_at + room
    two_hundreds_at = km_at + room
    safeties_at = two_hundreds_at + room
    coups_at = safeties_at + room * NUM_SAFETIES
    teams = int(rules.teams)
    own = team_of(rules, seat)
    for place in range(teams):
        team = around(own + place, teams)
        row[at + place * NUM_BATTLE_TOPS + battle_top_code(int(state.battle[team]))] = 1
        row[opening_at + place] = state.opening[team]
        row[moving_at + place] = 1 if is_moving(state, rules, team) else 0
        row[limited_at + place] = 1 if is_limited(state, team) else 0
        row[km_at + place] = in_25s(int(state.km[team]))
        row[two_hundreds_at + place] = state.tableau[team, DISTANCE_200]
        for safety in range(NUM_SAFETIES):
            row[safeties_at + place * NUM_SAFETIES + safety] = state.tableau[team, DRIVING_ACE + safety]
            row[coups_at + place * NUM_SAFETIES + safety] = state.coup_fourre[team, safety]
    return coups_at + room * NUM_SAFETIES


@rule
def in_25s(km: int) -> int:
    """`km // 25` for multiples of 25 up to 25,000, without a division: 25 * 41 is just over 1,024."""
    return km * 41 >> 10


@rule
def battle_top_code(card: int) -> int:
    """The place of a battle pile's top card in `BATTLE_TOPS`: the Speed Limit, never there, is left out."""
    if card == NO_CARD:
        return 0
    if card < ACCIDENT + NUM_HAZARDS - 1:
        return card - ACCIDENT + 1
    return card - ACCIDENT


@rule
def write_hand_counts(state: State, rules: Rules, seat: int, room: int, row: Int8Array, at: int) -> int:
    """Section `hand_counts`, with room for so many seats."""
    for place in range(rules.players):
        row[at + place] = state.hand_count[around(seat + place, rules.players)]
    return at + room


@rule
def write_score(state: State, rules: Rules, seat: int, room: int, row: Int8Array, at: int) -> int:
    """Section `score`, with room for so many teams."""
    own = team_of(rules, seat)
    for place in range(rules.teams):
        team = around(own + place, rules.teams)
        row[at + place] = min(int(state.score[team]) // SCORE_UNIT, MAX_INT8)
    return at + room


@rule
def write_unseen(state: State, seat: int, row: Int8Array, at: int) -> int:
    """Section `unseen`: what lies in the other hands and in the draw pile."""
    for card in range(NUM_CARD_TYPES):
        row[at + card] = int(state.hidden[card]) - int(state.hand[seat, card])
    return at + NUM_CARD_TYPES


@rule
def write_rules(rules: Rules, row: Int8Array, at: int) -> int:
    """Section `rules`: the numbers of `Rules.observed`."""
    for place in range(NUM_RULES):
        row[at + place] = rules.observed[place]
    return at + NUM_RULES


@rule
def write_hidden_cards(state: State, rules: Rules, seat: int, view: View, row: Int8Array, at: int) -> int:
    """Sections `other_hands` and `streams` of the full state, from `at` on; `row` is zero there."""
    end_of_hands = at + (shown_seats(rules, view) - 1) * NUM_CARD_TYPES
    for place in range(1, rules.players):
        other = around(seat + place, rules.players)
        for card in range(NUM_CARD_TYPES):
            row[at + card] = state.hand[other, card]
        at += NUM_CARD_TYPES
    at = end_of_hands
    for place in range(rules.players):
        other = around(seat + place, rules.players)
        first = int(state.stream_next[other])
        left = int(state.stream_end[other]) - first
        for step in range(left):
            row[at + step] = int(state.deck[first + step]) + 1
        at += longest_stream(rules, view)
    return at
