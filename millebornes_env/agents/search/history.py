"""Plays of the others since a seat's own decisions, reconstructed from its observations.

An agent is asked only when its seat is to decide. So it remembers the game as it knew it at its last
decision and what it did there, and at the next one looks for the plays of the others that lead from one to
the other: of every play it is tried whether the rules allow it, and whether in the end all that everybody can
see is as it is seen now. For two players one such reading is left nearly always. Where others discard after
each other, nobody has told who discarded what, and several readings may be left: a belief then takes one of
them by lot for each redeal.

The seat is seat 0 here, as in `kernels`. Cards that it does not see are where `lay_out_hidden_cards` has
put them; who plays a card is given it first (`let_hold`), so that the rulebook itself plays the game on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.engine.numba.compiling import for_kernels, kernel, plain, rule
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    PASS,
    card_of,
    discard_action,
    is_discard,
    opponent_of,
    play_action,
    target_team,
)
from millebornes_env.games.millebornes.cards import NO_CARD, NUM_CARD_TYPES, is_hazard, safety_against
from millebornes_env.games.millebornes.legality import is_discardable, is_legal
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, compiled_rules
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, OFFSETS, row_shape_of, sections, start_of
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    NO_SEAT,
    PLAY,
    ROUND_OVER,
    Int8Array,
    State,
    StateArray,
    new_states,
)
from millebornes_env.games.millebornes.turn import step

OWN: Final = 0
"""The seat that remembers."""

MAX_INTERPRETATIONS: Final = 8
"""Most readings that are used; with more of them, the others' plays are ignored."""
_MAX_DEPTH: Final = 12
"""Plays between two own decisions: seven others play once, and again after a safety."""
_MOST_TRIES: Final = 1_000
"""Plays that are tried between two own decisions."""


class Interpretation(NamedTuple):
    """A possible sequence of the others' E events between two own decisions, the oldest first.

    An event is a decision of a seat with a hidden hand. In its record that seat is to decide, and its hand is
    arbitrary. PASS means that a hazard was laid and not parried by a holder of the safety.
    """

    states: StateArray  # [E] the game as everybody could see it
    actions: Int64Array  # [E] what was done


def interpretation_of(events: Sequence[tuple[StateArray, int]]) -> Interpretation:
    """Put events together, each with the game before it, STATE[1]."""
    games = np.concatenate([game for game, _ in events]) if events else new_states(0).view(np.ndarray)
    return Interpretation(for_kernels(games), np.array([action for _, action in events], np.int64))


PlayWindow = tuple[Interpretation, ...]
"""All readings of what lies between two own decisions, 1 to MAX_INTERPRETATIONS."""


class Remembered(NamedTuple):
    """A seat's memory of its last decision, and earlier plays of the others as far as they are readable."""

    root: StateArray
    action: int
    windows: tuple[PlayWindow, ...]


class ObservationHistory:
    """Memory of the seats that an agent plays, by slot; it is cleared with each new round.

    The plays of others between two own decisions are looked for.
    """

    def __init__(self, rules: Rules) -> None:
        """Remember nothing yet, at a table of these rules."""
        self._last: dict[int, Remembered] = {}
        self._rules = compiled_rules(rules)
        self._teams, self._players = rules.teams, rules.players
        self._path = for_kernels(new_states(_MAX_DEPTH + 2))  # the last is for what might have been
        self._rows = np.zeros((2, sections(rules)[-1].stop), np.int8)
        self._found: list[Interpretation] = []
        self._tries = 0

    def look(self, slot: int, root: StateArray, window: int) -> tuple[PlayWindow, ...]:
        """Return the others' plays up to now, the newest window first.

        The game as the seat knows it now is STATE[1]; plays since so many own decisions are looked for.
        """
        last = self._last.get(slot)
        if last is None or int(root["phase"][0]) == ROUND_OVER:
            return ()
        if int(root["draw_pile"][0]) > int(last.root["draw_pile"][0]):  # it never grows in a round
            return ()
        newest = self._interpretations(last.root, last.action, root)
        return (newest, *last.windows)[:window] if newest else ()

    def note(self, slot: int, root: StateArray, action: int, windows: tuple[PlayWindow, ...]) -> None:
        """Remember a decision in the game as the seat knew it, STATE[1], and the windows found by `look`."""
        if int(root["phase"][0]) != ROUND_OVER:
            self._last[slot] = Remembered(root.copy(), action, windows)

    def forget(self) -> None:
        """Forget all slots."""
        self._last.clear()

    def forget_slots(self, slots: Iterable[int]) -> None:
        """Forget some slots."""
        for slot in slots:
            self._last.pop(slot, None)

    def _interpretations(self, start: StateArray, action: int, end: StateArray) -> PlayWindow:
        """Return all readings from an own decision and its action to the next; none if there are too many."""
        own = plain(card_shown_by)(start[0], action)
        shown = start["hidden"][0].astype(np.int64) - end["hidden"][0]
        if own != NO_CARD:
            shown[own] -= 1
        if shown.min() < 0 or shown.sum() > _MAX_DEPTH:
            return ()
        left = Counter({card: int(shown[card]) for card in np.flatnonzero(shown).tolist()})
        self._found, self._tries = [], 0
        self._path[0] = start[0]
        for events in self._plays(0, action, is_own=True):
            self._go_on(1, left, events, end)
        return (
            tuple(self._found)
            if len(self._found) <= MAX_INTERPRETATIONS and self._tries < _MOST_TRIES
            else ()
        )

    def _go_on(
        self, depth: int, left: Counter[int], events: list[tuple[StateArray, int]], end: StateArray
    ) -> None:
        """Try all plays from here on that show the cards that are left."""
        here = self._path[depth]
        if int(here["phase"]) == ROUND_OVER or int(here["seat"]) == OWN:
            if not +left and looks_like(self._path, depth, end, self._rules, self._rows):
                self._found.append(interpretation_of(events))
            return
        if depth >= _MAX_DEPTH or self._tries >= _MOST_TRIES or len(self._found) > MAX_INTERPRETATIONS:
            return
        for action in self._worth_trying(here, left):
            card = plain(card_shown_by)(here, action)
            if card != NO_CARD:
                left[card] -= 1
            for more in self._plays(depth, action):
                self._go_on(depth + 1, left, events + more, end)
            if card != NO_CARD:
                left[card] += 1

    def _worth_trying(self, here: np.void, left: Counter[int]) -> list[int]:
        """The actions that show a card that is left, or none."""
        phase = int(here["phase"])
        if phase == CLAIM:
            return [CLAIM_COUP_FOURRE] if left[safety_against(int(here["pending_hazard"]))] > 0 else []
        if phase == EXTENSION:
            return [EXTEND]
        actions = []
        for card in sorted(+left):
            opponents = self._teams - 1 if is_hazard(card) else 1
            actions += [play_action(card, opponent) for opponent in range(opponents)]
            actions.append(discard_action(card))
        return actions

    def _plays(self, depth: int, action: int, is_own: bool = False) -> Iterator[list[tuple[StateArray, int]]]:
        """Play an action from here in each way that it can go, to the next place of the path; its events.

        A hazard that is laid against a side with a hidden hand stands, or a seat is asked and parries it
        next. Who is asked and lets it stand shows no more than who is not asked: PASS is an event for each
        who may hold the safety.
        """
        path, here = self._path, self._path[depth]
        own_event = [] if is_own else [(path[depth : depth + 1].copy(), action)]
        card = card_of(action)
        is_attack = int(here["phase"]) == PLAY and card != NO_CARD and not is_discard(action)
        if is_attack and is_hazard(card):
            yield from self._attacks(depth, action, own_event, is_own)
        elif self._try(depth, depth + 1, action, NO_SEAT, NO_CARD, is_own):
            yield own_event

    def _attacks(
        self, depth: int, action: int, own_event: list[tuple[StateArray, int]], is_own: bool
    ) -> Iterator[list[tuple[StateArray, int]]]:
        path, here = self._path, self._path[depth]
        safety, attacker = safety_against(card_of(action)), int(here["seat"])
        victims = target_team(self._teams, attacker % self._teams, opponent_of(action))
        events = list(own_event)
        asks_own = victims == OWN and int(here["hand"][OWN, safety]) > 0
        if not asks_own:
            for victim in range(victims, self._players, self._teams):
                if victim == OWN or not self._try(depth, depth + 1, action, victim, safety, is_own):
                    continue
                if int(path["phase"][depth + 1]) == CLAIM and int(path["seat"][depth + 1]) == victim:
                    events.append((path[depth + 1 : depth + 2].copy(), PASS))
                    yield list(own_event)  # it parries: the next play
        if not self._try(depth, depth + 1, action, NO_SEAT, NO_CARD, is_own):
            return
        if int(path["phase"][depth + 1]) == CLAIM and int(path["seat"][depth + 1]) != OWN:
            path[_MAX_DEPTH + 1] = path[depth + 1]
            self._try(_MAX_DEPTH + 1, depth + 1, PASS, NO_SEAT, NO_CARD, True)
        yield events

    def _try(self, source: int, target: int, action: int, holder: int, safety: int, is_own: bool) -> bool:
        self._tries += 1
        return bool(try_play(self._path, source, target, self._rules, action, holder, safety, is_own))


# Compiled ---------------------------------------------------------------------------------------------------


@rule
def card_shown_by(state: State, action: int) -> int:
    """The card that an action takes from the hand of who decides, or NO_CARD."""
    if action == CLAIM_COUP_FOURRE:
        return safety_against(int(state.pending_hazard))
    return card_of(action)


@kernel
def looks_like(path: StateArray, place: int, end: StateArray, rules: RulesRecord, rows: Int8Array) -> bool:
    """Return True if the public parts of two states are equal; the own hand and the unseen cards are ignored.

    The first is `path[place]`, the second `end[0]`; `rows` is scratch, int8[2, D].
    """
    for number in range(2):
        game = path[place] if number == 0 else end[0]
        write_observation(game, rules, OWN, DEFAULT_SPEC, rows[number])
    shape = row_shape_of(rules, DEFAULT_SPEC)
    for at in range(start_of(OFFSETS.hand, shape) + NUM_CARD_TYPES, start_of(OFFSETS.unseen, shape)):
        if rows[0, at] != rows[1, at]:
            return False
    return True


@kernel
def try_play(
    games: StateArray,
    source: int,
    target: int,
    rules: RulesRecord,
    action: int,
    holder: int,
    safety: int,
    is_own: bool,
) -> bool:
    """Play an action of who decides in one game, and write what comes of it to another place.

    Args:
        games: STATE[M].
        source: the game's place.
        target: where the game goes to; anything is there if the play cannot be.
        rules: the table's.
        action: what is played.
        holder: a hidden seat that is to hold the safety, or NO_SEAT.
        safety: that safety.
        is_own: whether the hand is as it is; a hidden seat is given what it plays.

    Returns:
        Whether the play can be.
    """
    games[target] = games[source]
    game = games[target]
    card = card_shown_by(game, action)
    if not is_own and card != NO_CARD and not let_hold(game, rules, int(game.seat), card):
        return False
    if holder != NO_SEAT and not let_hold(game, rules, holder, safety):
        return False
    if is_discard(action):  # whether it may discard, its hand decides
        if int(game.phase) != PLAY or not is_discardable(rules, card):
            return False
    elif not is_legal(game, rules, action):
        return False
    step(game, rules, action)
    return True


@rule
def let_hold(game: State, rules: RulesRecord, seat: int, card: int) -> bool:
    """Let a hidden seat hold a card, in exchange for another one, if the card is hidden; whether it does."""
    if int(game.hand[seat, card]) > 0:
        return True
    given = 0
    while given < NUM_CARD_TYPES and int(game.hand[seat, given]) == 0:
        given += 1
    if given == NUM_CARD_TYPES or not takes_from_elsewhere(game, rules, seat, card, given):
        return False
    game.hand[seat, given] = int(game.hand[seat, given]) - 1
    game.hand[seat, card] = int(game.hand[seat, card]) + 1
    return True


@rule
def takes_from_elsewhere(game: State, rules: RulesRecord, seat: int, card: int, given: int) -> bool:
    """Put a card in the place of one that is hidden elsewhere; whether there is one."""
    for other in range(1, rules.players):
        if other != seat and int(game.hand[other, card]) > 0:
            game.hand[other, card] = int(game.hand[other, card]) - 1
            game.hand[other, given] = int(game.hand[other, given]) + 1
            return True
    for stream in range(rules.players):
        for place in range(int(game.stream_next[stream]), int(game.stream_end[stream])):
            if int(game.deck[place]) == card:
                game.deck[place] = given
                return True
    return False
