"""Mille Bornes on the terminal: the agent `human`, a person who types actions, and sessions of rounds.

Actions, table and score sheet use one set of names from the person's point of view: "you", "partner",
"opponent", numbered to the left if there are several.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import check_masks, check_ranges, checked_rows, checked_slot_ids
from millebornes_env.agents.millebornes.observation_reader import read_observation, starts_of
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    Table,
    fill_no_ops,
    one_or_many,
)
from millebornes_env.agents.registry import register
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    action_name,
    card_of,
    discard_action,
    is_discard,
    num_actions,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    KM,
    NO_CARD,
    is_distance,
    is_hazard,
    safety_against,
)
from millebornes_env.games.millebornes.reasons import reason_against
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, NO_TEAM, State, new_states
from millebornes_env.play.terminal.person import SEAT, Menu, Person
from millebornes_env.play.terminal.session import Session
from millebornes_env.render.millebornes.seat import Numbers, SeatText
from millebornes_env.render.millebornes.text import draw_score_sheet
from millebornes_env.render.names import YOU, Names, is_plural

_ANSWERS: Final = {
    CLAIM_COUP_FOURRE: ("claim the coup fourré", "coup fourré", "yes"),
    PASS: ("let the hazard stand", "pass", "no"),
    EXTEND: ("extend the trip", "yes"),
    FINISH: ("finish the trip", "no"),
}


class HumanAgent(Person, BaseAgent):
    """A person who plays Mille Bornes by typing; `kept` is the hand and the draw pile after each decision."""

    name = "human"
    is_person = True  # cannot be asked for a trial decision
    game = "millebornes"
    has_memory = True
    help_text = """\
Type the number of an action, or its name or the beginning of it: roll, 25, stop, discard 25, d 25.
Name a card that is not in the list to see why it cannot be played.
hint: the choice of a strong agent; undo: back to your last decision; q: stop playing;
?: this text, and the cards that have been seen.
Points of a match are shown in 50s, rounded down. Opponents are counted to the left: opponent 1 is next."""

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Play at a table; `seed` is not used, but every agent takes one."""
        super().__init__(table, seed)
        self.names = Names(table.rules.players, table.rules.teams)
        self._starts = starts_of(table, counts_unseen=False)

    def choose(self, env: VectorEnv, observations: dict[str, npt.NDArray[Any]]) -> int:
        """Ask for an action in an environment of one game; see `Person.choose`."""
        return int(self.act(observations["observation"], observations["action_mask"], np.array([SEAT]))[0])

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Ask for the action of each row in turn; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            slot_ids: int64[N]; shown if there are several rows.

        Raises:
            KeyboardInterrupt: the person wants to stop, or the input has ended.
            UndoRequest: the person wants to take back the last decision (only if `can_undo`).
            AgentError: an argument has a wrong shape or type, or values that are impossible at the table.
        """
        observations = checked_rows(self.name, observations, self._table.sections[-1].stop)
        check_masks(self.name, action_masks, len(observations), self._table.num_actions)
        slot_ids = None if slot_ids is None else checked_slot_ids(self.name, slot_ids, len(observations))
        check_ranges(self.name, self._table, observations)
        action_masks = np.asarray(action_masks)
        actions: Actions = np.zeros(len(observations), np.int64)
        ended = np.zeros(len(observations), np.bool_)
        kept = dict(self.kept)
        for number in range(len(observations)):
            row, mask = observations[number : number + 1], action_masks[number : number + 1]
            slot_id = number if slot_ids is None else int(slot_ids[number])
            view = self._view(row)
            if not (view.numbers["phase"].any() and mask.any()):
                ended[number] = True
                continue
            if len(observations) > 1:
                self.say(f"\nRow {number}" + (f", slot {slot_id}" if slot_ids is not None else ""))
            lines = [*view.table(self._drawn(view, slot_id)), view.question()]
            actions[number] = self._ask(row, mask, "\n".join(lines), self._read_back(row), slot_id)
            kept[slot_id] = _after(view, int(actions[number]))
        fill_no_ops(action_masks, actions, ended)
        self.kept = kept
        return actions

    @alone
    def forget(self) -> None:
        """Clear the memory of all slots for new matches."""
        self.kept = {}

    def words(self, action: int, seat: int = SEAT) -> str:
        """Return the name of an action."""
        return action_words(action, self.names, seat)

    def _menu(self, mask: Masks) -> Menu:
        """List plays before discards, then by card, the same card against several opponents together."""
        legal = np.flatnonzero(mask[0]).tolist()
        legal.sort(key=lambda action: (is_discard(action), card_of(action), opponent_of(action)))
        return {action: self.words(action) for action in legal}

    def _has_numbers(self, menu: Menu) -> bool:
        return False

    def _help(self, row: Observations, table: str, menu: Menu) -> None:
        self.say("\n".join([self.help_text, *self._view(row).cards_seen()]))

    def _meant(self, answer: str, actions: Iterable[int]) -> list[int]:
        """Return the actions that a typed name, or the beginning of one, may mean.

        Accents do not matter, and each word may be shortened ("d 25", "sp t"). Digits alone ("25") mean the
        km of a distance card.
        """
        if answer.isdecimal():
            return [one for one in actions if is_distance(one) and answer == str(KM[one])]
        return [one for one in actions if any(_begins(name, answer) for name in _names_of(one, self.names))]

    def _tried(self, answer: str, menu: Menu) -> list[int]:
        return self._meant(answer, sorted(set(range(num_actions(self.names.teams))) - _ANSWERS.keys()))

    def _reason(self, state: State, action: int, menu: Menu) -> str:
        card = card_of(action)
        discard = f" ('discard {CARD_NAMES[card]}' is possible)" if discard_action(card) in menu else ""
        return why_not(state, self._table.rules, action, self.names) + discard

    def _drawn(self, view: SeatText, slot_id: int) -> Numbers | None:
        """Return the cards drawn since the last decision in this round; None if this is the first."""
        if slot_id not in self.kept:
            return None
        hand, pile = self.kept[slot_id]
        drawn: Numbers = view.numbers["hand"] - hand
        is_same_round = int(view.numbers["draw_pile"][0]) <= pile and (drawn >= 0).all()
        return drawn if is_same_round else None

    def _read_back(self, row: Observations) -> State:
        """Return the game as the person knows it, with the person in seat 0."""
        state: State = new_states(1)[0]
        plain(read_observation)(row[0], self._starts, rules_record(self._table.rules), state)
        return state

    def _view(self, row: Observations) -> SeatText:
        return SeatText(row[0], self._table.sections, self._table.rules)


register("human", HumanAgent)


def _after(view: SeatText, action: int) -> tuple[Numbers, int]:
    """Return the hand and the draw pile after a decision."""
    hand, card = view.numbers["hand"].copy(), card_of(action)
    if action == CLAIM_COUP_FOURRE:
        card = safety_against(ACCIDENT + int(view.numbers["pending_hazard"].argmax()))
    if card != NO_CARD:
        hand[card] -= 1
    return hand, int(view.numbers["draw_pile"][0])


class CardSession(Session):
    """Rounds or matches of a person in seat 0 against an agent in all other seats."""

    person_class = HumanAgent

    def _greet(self) -> None:
        """Print nothing: the table names the players."""

    def _describe_action(self, seat: int, action: int) -> None:
        if seat and action != PASS:  # a declined coup fourré is hidden
            self.person.say(f"{self.person.names.seat(seat)}: {self.person.words(action, seat)}")

    def _describe_step(self, before: Any, is_over: bool) -> None:
        """Show the score sheet at the end of a round, and the points of the match."""
        state, number = self.env.games.states[0], int(before["round_number"])
        if is_over or int(state.round_number) != number:
            sheet = draw_score_sheet(state, self.env.rules, self.person.names.all_teams())
            self.person.say(f"\nRound {number + 1} is over.\n\n{sheet}")
        if not is_over and int(state.round_number) != number:
            self.person.say(f"\nPoints of the match: {self._listed(state.score)}")

    def _result(self, winner: int) -> str:
        """Describe the winner and the margin in points, or in km for editions without points."""
        counts_points, state = self.env.rules.count_points, self.env.games.states[0]
        unit, amounts = ("points", state.score) if counts_points else ("km", state.km)
        totals = [int(amount) for amount in amounts[: self.env.teams]]
        standing = sentence_case(f"{unit}: ") + self._listed(totals)
        if winner == NO_TEAM:
            return f"Nobody wins alone. {standing}."
        lead = totals[winner] - max(totals[:winner] + totals[winner + 1 :])
        name = self.person.names.team(winner)
        verb = "win" if is_plural(name) else "wins"
        margin = f" by {lead} {unit}" if lead > 0 else ""
        return f"{sentence_case(name)} {verb}{margin}. {standing}."


# Words ------------------------------------------------------------------------------------------------------


def sentence_case(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def action_words(action: int, names: Names, offset: int = 0) -> str:
    """Return the name of an action: "play 200 km", "Stop against opponent 2".

    Args:
        action: a legal id of the table.
        names: names of the players.
        offset: seat of the player, counted to the left of the person.
    """
    card = card_of(action)
    if card == NO_CARD or is_discard(action) or not is_hazard(card):
        return action_name(action, names.teams)
    target = target_team(names.teams, offset % names.teams, opponent_of(action))
    return f"{CARD_NAMES[card]} against {names.team(target)}"


def _names_of(action: int, names: Names) -> tuple[str, ...]:
    """Return all names of an action that a person may type."""
    card = card_of(action)
    if card == NO_CARD:
        return _ANSWERS[action]
    if is_discard(action):
        return (f"discard {CARD_NAMES[card]}",)
    if not is_hazard(card):
        return CARD_NAMES[card], f"play {CARD_NAMES[card]}"
    opponent = opponent_of(action) + 1
    against = f"{CARD_NAMES[card]} against {names.team(opponent)}"
    short = f"{CARD_NAMES[card]} {names.team(opponent)}"
    return against, f"play {against}", short, f"play {short}", f"{CARD_NAMES[card]} {opponent}"


def _begins(name: str, answer: str) -> bool:
    """Return True if the answer is a prefix of the name, or its words are prefixes of the name's words."""
    if _key(name).startswith(_key(answer)):
        return True
    typed, words = answer.split(), name.split()
    pairs = zip(words, typed, strict=False)
    return len(typed) <= len(words) and all(_key(word).startswith(_key(part)) for word, part in pairs)


def _key(text: str) -> str:
    """Return the text without accents, capital letters and spaces."""
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter) and not letter.isspace())


def why_not(state: State, rules: Rules, action: int, names: Names) -> str:
    """Return why an action is not legal, addressed to the person.

    Args:
        state: the game as the person knows it, with the person in seat 0.
        rules: rules of the table.
        action: an id of the table that is not legal now.
        names: names of the players.
    """
    if int(state.phase) == CLAIM:
        return "first claim the coup fourré or let the hazard stand"
    if int(state.phase) == EXTENSION:
        return "first extend or finish the trip"
    reason = reason_against(state, rules, action).replace("the hand holds no", "you hold no")
    return re.sub(r"\bteam (\d)( is| has|'s)?", lambda match: _with_names(match, names), reason)


def _with_names(match: re.Match[str], names: Names) -> str:
    """Turn "team 0 is" into "you are", and "team 1's" into "opponent's"."""
    name, after = names.team(int(match[1])), match[2] or ""
    if after == "'s":
        return "your" if name == YOU else f"{name}'" if is_plural(name) else f"{name}'s"
    if is_plural(name):
        after = {" is": " are", " has": " have"}.get(after, after)
    return name + after
