"""Parsing of positions: from lines to a record (see `notation.read_position`).

`Reader` parses the lines one kind after the other, tracks every named card, completes the position and checks
it. All errors name the line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from millebornes_env._util.texts import closest, shortened
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.audit.fields import may_lie_at_speed, may_lie_in_battle
from millebornes_env.games.millebornes.cards import (
    DRIVING_ACE,
    KM,
    NO_CARD,
    is_battle_hazard,
    is_distance,
    is_hazard,
    is_safety,
    safety_against,
)
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import (
    BY_HAZARD,
    BY_ROLL,
    CLAIM,
    HAZARD_AGAIN,
    NO_SEAT,
    NO_TEAM,
    PHASE_NAMES,
    PLAY,
    ROUND_OVER,
    SCORE_LINES,
    StateArray,
    new_states,
)
from millebornes_env.notation.header import MOST_EPISODES, read_chance
from millebornes_env.notation.lines import (
    AND_OTHERS,
    CARD_WORDS,
    Line,
    cards_named,
    check_names,
    number_in,
    number_of,
    seat_of,
    team_named,
    without_others,
    without_remark,
)
from millebornes_env.notation.millebornes.deal_rest import deal_rest, lay_out, usual_opening
from millebornes_env.notation.millebornes.position_checks import check_position

LINE_NAMES: Final = {
    **dict.fromkeys(("edition", "table", "key", "episode", "round", "dealer", "scores"), ""),
    **dict.fromkeys(("to act", "pending", "extension", "winner"), ""),
    **dict.fromkeys(("battle", "speed", "distance", "safeties", "covered"), "team"),
    "hand": "seat",
    "discard pile": "",
    "stream": "seat",
    "score sheet": "team",
}
"""The names of lines in order, with "seat" or "team" if there is one line for each."""

OPENING_WORDS: Final = {
    BY_ROLL: "opened by a roll",
    BY_HAZARD: "opened by a hazard",
    HAZARD_AGAIN: "opened by a hazard and attacked again",
}
"""The words for `state.opening` if it does not follow from the cards of the pile."""

_OPENINGS: Final = {words: opening for opening, words in OPENING_WORDS.items()}

TOP_UNKNOWN: Final = "top unknown"
"""The remark for a discard pile whose top card is unknown."""

COUP_FOURRE: Final = "!"
"""The suffix of a safety that was claimed as a coup fourré."""

MOST_POINTS: Final = int(np.iinfo(np.int16).max)
_MOST_POINTS_IN_PLAY: Final = 12_000
"""Leaves space for a round's points: no goal is above 10,000, and no round brings 20,000."""


class Reader:
    """A parser for the lines of one position.

    Attributes:
        rules: the table's rules.
        lines: the lines by key (`hand 0`), including edition and table.
        states: `STATE[1]`, the record.
    """

    def __init__(self, lines: Mapping[str, Line], rules: Rules) -> None:
        """Check the names of the lines."""
        self.rules = rules
        self.lines = lines
        check_names(lines.values(), LINE_NAMES, rules)
        self.states: StateArray = new_states(1)
        self._state: Any = self.states[0]
        self._cards_by_line: list[tuple[Line, Counter[int]]] = []

    def read(self) -> StateArray:
        """Return the record that the lines describe."""
        self._clear()
        self._read_chance()
        for team in range(self.rules.teams):
            self._read_team(team)
        self._read_pending()
        self._read_discard_pile()
        hands, open_hands = self._read_lists("hand")
        streams, open_streams = self._read_lists("stream")
        open_streams += [seat for seat in range(self.rules.players) if f"stream {seat}" not in self.lines]
        self._read_to_act(hands)
        named = sum((cards for _, cards in self._cards_by_line), Counter[int]())
        deal_rest(
            *(self.lines, self.rules, self._state, named), hands, open_hands, streams, sorted(open_streams)
        )
        lay_out(self.lines, self.rules, self._state, hands, streams)
        self._read_extension()
        self._read_scores()
        check_position(self.lines, self.rules, self._state)
        problem = first_violation(self.states, self.rules)
        if problem is not None:
            raise NotationError(f"the lines of this position are inconsistent: {problem[1]}")
        return self.states

    # The single lines --------------------------------------------------------------------------------------

    def _clear(self) -> None:
        state, players, teams = self._state, self.rules.players, self.rules.teams
        state.target = self.rules.target
        state.extension_team = state.winner = state.pending_team = NO_TEAM
        state.pending_hazard = state.discard_top = NO_CARD
        state.attacker = NO_SEAT
        state.battle[:teams] = state.battle_below[:teams] = state.speed[:teams] = NO_CARD
        state.deck[:] = NO_CARD
        state.dealer = players - 1

    def _read_chance(self) -> None:
        state = self._state
        state.key[:], state.episode = read_chance(self.lines)
        state.round_number = number_in(self.lines, "round", 1, MOST_EPISODES, 1) - 1
        dealer = self.lines.get("dealer")
        if dealer is not None:
            state.dealer = seat_of(dealer, dealer.words.lower().removeprefix("seat "), self.rules)

    def _cards(self, line: Line, allowed: Callable[[int], bool], pile: str) -> list[int]:
        """Return the cards of a line after adding them to the team's tableau."""
        cards = cards_named(line, line.words)
        self._add_to_tableau(line, cards, allowed, pile)
        return cards

    def _add_to_tableau(
        self, line: Line, cards: list[int], allowed: Callable[[int], bool], pile: str
    ) -> None:
        self._count(line, cards)
        for card in cards:
            if not allowed(card):
                raise line.error(f"{CARD_WORDS[card]} cannot be {pile}")
            self._state.tableau[line.owner, card] += 1

    def _count(self, line: Line, cards: Iterable[int]) -> None:
        """Record the cards of a line; raise if there are more of one than in the deck."""
        counts = Counter(cards)
        self._cards_by_line.append((line, counts))
        for card in counts:
            uses = [(user, of_line[card]) for user, of_line in self._cards_by_line if of_line[card]]
            total, copies = sum(count for _, count in uses), self.rules.deck[card]
            if total > copies:
                where = ", ".join(
                    f"{count} in {user.label!r}" + (f" (line {user.number})" if user.number else "")
                    for user, count in uses
                )
                raise line.error(
                    f"too many of a card: {total} {CARD_WORDS[card]}, and the deck of this table has "
                    f"{copies}. There are: {where}"
                )

    def _read_team(self, team: int) -> None:
        line = self.lines.get(f"distance {team}")
        if line is not None:
            cards = self._cards(line, is_distance, "on a distance pile")
            self._state.km[team] = sum(int(KM[card]) for card in cards)
        line = self.lines.get(f"safeties {team}")
        if line is not None:
            self._read_safeties(line, team)
        line = self.lines.get(f"covered {team}")
        if line is not None:
            self._cards(
                line, lambda card: not is_distance(card) and not is_safety(card), "under another card"
            )
        line = self.lines.get(f"speed {team}")
        if line is not None:
            cards = self._cards(line, may_lie_at_speed, "on a speed pile")
            if len(cards) > 1:
                raise line.error(f"name the card on top only; those under it belong in 'covered {team}'")
            self._state.speed[team] = cards[0] if cards else NO_CARD
        self._read_battle(team)

    def _read_safeties(self, line: Line, team: int) -> None:
        cards = []
        for word in line.words.replace(",", " ").split():
            named = cards_named(line, word.removesuffix(COUP_FOURRE))
            cards += named
            if word.endswith(COUP_FOURRE):
                if len(named) != 1 or not is_safety(named[0]):
                    raise line.error(f"{COUP_FOURRE!r} must directly follow the safety that was claimed")
                self._state.coup_fourre[team, named[0] - DRIVING_ACE] = 1
        self._add_to_tableau(line, cards, is_safety, "among the safeties")

    def _read_battle(self, team: int) -> None:
        line = self.lines.get(f"battle {team}")
        if line is None:
            return
        words, remark = without_remark(line)
        if remark and remark not in _OPENINGS:
            raise line.error(
                f"({shortened(remark)}) is not a remark for a battle pile; "
                f"the remarks are ({') ('.join(_OPENINGS)})"
            )
        top_words, on, below_words = f" {words} ".partition(" on ")
        top = self._cards(line._replace(words=top_words), may_lie_in_battle, "on a battle pile")
        under = self._cards(line._replace(words=below_words), may_lie_in_battle, "on a battle pile")
        if len(top) > 1 or len(under) > 1 or (on and not (top and under)):
            raise line.error(
                f"write a battle pile as 'roll' or 'stop on roll', and cards under these in 'covered {team}'"
            )
        state = self._state
        state.battle[team] = top[0] if top else NO_CARD
        state.battle_below[team] = under[0] if under else NO_CARD
        if under and not is_battle_hazard(top[0]):
            raise line.error(
                f"only the card under a hazard is named; write '{CARD_WORDS[top[0]]}', and "
                f"{CARD_WORDS[under[0]]} in 'covered {team}'"
            )
        tableau = {card: int(count) for card, count in enumerate(state.tableau[team])}
        state.opening[team] = usual_opening(tableau, int(state.battle[team]), int(state.battle_below[team]))
        if remark:
            state.opening[team] = _OPENINGS[remark]

    def _read_lists(self, name: str) -> tuple[list[list[int]], list[int]]:
        """Return the cards of each seat's line of that name, and the seats whose list ends with `...`."""
        lists: list[list[int]] = [[] for _ in range(self.rules.players)]
        open_seats = []
        for seat in range(self.rules.players):
            line = self.lines.get(f"{name} {seat}")
            if line is None:
                continue
            words, is_open = without_others(line)
            open_seats += [seat] * is_open
            lists[seat] = cards_named(line, words)
            self._count(line, lists[seat])
        return lists, open_seats

    def _read_pending(self) -> None:
        line = self.lines.get("pending")
        if line is None:
            return
        result = re.fullmatch(r"(\S+) by seat (\S+) against team (\S+)", line.words.lower())
        if result is None:
            raise line.error("write a pending hazard as 'stop by seat 0 against team 1'")
        cards = cards_named(line, result[1])
        if len(cards) != 1 or not is_hazard(cards[0]):
            raise line.error(f"{shown(result[1])} is not one hazard")
        self._count(line, cards)
        state = self._state
        state.pending_hazard = cards[0]
        state.attacker = seat_of(line, result[2], self.rules)
        state.pending_team = team_named(line, result[3], self.rules)
        if int(state.attacker) % self.rules.teams == int(state.pending_team):
            raise line.error(f"seat {state.attacker} is of team {state.pending_team} itself")
        if state.tableau[state.pending_team, safety_against(cards[0])]:
            safety = CARD_WORDS[safety_against(cards[0])]
            raise line.error(f"team {state.pending_team} has laid {safety}: the hazard cannot be laid")

    def _read_to_act(self, hands: list[list[int]]) -> None:
        state, line = self._state, self.lines.get("to act")
        waiting = int(state.pending_hazard) != NO_CARD
        state.seat = (int(state.dealer) + 1) % self.rules.players
        state.phase = CLAIM if waiting else PLAY
        if waiting:
            safety = safety_against(int(state.pending_hazard))
            members = range(int(state.pending_team), self.rules.players, self.rules.teams)
            holders = [seat for seat in members if safety in hands[seat]]
            state.seat = holders[0] if holders else int(state.pending_team)
        if line is None:
            return
        result = re.fullmatch(
            r"seat (?P<seat>\S+?)(?:, *(?P<phase>.+))?|(?P<over>round over)(?:, *last seat (?P<last>\S+))?",
            line.words.lower(),
        )
        if result is None:
            raise line.error("expected 'seat 0, play' (or claim, or extension), or 'round over, last seat 0'")
        if result["over"]:
            state.phase = ROUND_OVER
            state.seat = seat_of(line, result["last"] or "0", self.rules)
            return
        state.seat = seat_of(line, result["seat"], self.rules)
        if result["phase"]:
            names = PHASE_NAMES[:ROUND_OVER]
            if result["phase"] not in names:
                hint = closest(result["phase"], names)
                raise line.error(
                    f"the decision is play, claim or extension, not {shown(result['phase'])}.{hint}"
                )
            state.phase = PHASE_NAMES.index(result["phase"])

    def _read_discard_pile(self) -> None:
        line = self.lines.get("discard pile")
        if line is None:
            return
        words, remark = without_remark(line)
        if remark not in {"", TOP_UNKNOWN}:
            raise line.error(
                f"({shortened(remark)}) is not a remark for a discard pile; the only one is ({TOP_UNKNOWN})"
            )
        cards = cards_named(line, words.replace(AND_OTHERS, " "))
        self._count(line, cards)
        for card in cards:
            self._state.discard_pile[card] += 1
        if cards and not remark:
            self._state.discard_top = cards[-1]

    def _read_extension(self) -> None:
        line, state = self.lines.get("extension"), self._state
        if line is not None:
            if not self.rules.extended_target:
                raise line.error("there is no extension at this table")
            state.extension_team = team_named(line, line.words.lower().removeprefix("team "), self.rules)
            state.target = self.rules.extended_target
        line = self.lines.get("winner")
        if line is not None:
            team = team_named(line, line.words.lower().removeprefix("team "), self.rules)
            if int(state.phase) != ROUND_OVER:
                raise line.error("nobody has won before the end: write 'to act: round over'")
            if int(state.km[team]) < int(state.target):
                raise line.error(
                    f"team {team} has {int(state.km[team])} of {int(state.target)} km; only a team that has "
                    "completed the trip is named (leave the line out if the cards have run out)"
                )
            state.winner = team

    def _read_scores(self) -> None:
        line, state = self.lines.get("scores"), self._state
        if line is not None:
            words = line.words.replace(",", " ").split()
            if len(words) != self.rules.teams:
                raise line.error(f"there are {len(words)} scores; the table has {self.rules.teams} teams")
            most = MOST_POINTS if int(state.phase) == ROUND_OVER else _MOST_POINTS_IN_PLAY
            for team, word in enumerate(words):
                state.score[team] = number_of(line, word, f"the score of team {team}", 0, most)
        for team in range(self.rules.teams):
            line = self.lines.get(f"score sheet {team}")
            if line is not None:
                self._read_score_sheet(line)

    def _read_score_sheet(self, line: Line) -> None:
        if int(self._state.phase) != ROUND_OVER:
            raise line.error("the score sheet is filled in at the end: write 'to act: round over'")
        seen = set()
        for item in line.words.lower().split(","):
            result = re.fullmatch(r"\s*(\S+)\s+(\S+)\s*", item)
            if result is None:
                raise line.error(
                    f"{shown(item.strip())} is not an item; expected 'distance 700, safeties 100'"
                )
            if result[1] not in SCORE_LINES or result[1] in seen:
                twice = result[1] in seen
                hint = " It is there twice." if twice else closest(result[1], SCORE_LINES)
                raise line.error(
                    f"{shown(result[1])} must be one of {', '.join(SCORE_LINES)}, once each.{hint}"
                )
            seen.add(result[1])
            points = number_of(line, result[2], result[1], 0, MOST_POINTS)
            self._state.score_sheet[line.owner, SCORE_LINES.index(result[1])] = points
