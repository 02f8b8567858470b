"""The game tree of a round: every decision, every card that chance deals, and what each seat knows.

The rules are the rulebook's: a step of the tree is a step of the engine, with its draws
prepared (`GameChance`). Equivalent positions are one object, whatever led to them, so that walking a tree
again costs little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import whole_number
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs.history import Keys
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import IllegalActionError, OptionError, shown
from millebornes_env.games.registry import Sheet
from millebornes_env.solving.extensive.sets import Outcome
from millebornes_env.solving.extensive.spots import (
    CHANCE,
    OVER,
    Deal,
    Draw,
    Event,
    GameChance,
    Lot,
    Move,
    Position,
    Spot,
)

BY_CHANCE: Final = -1
"""The value of `first` if the starting seat is drawn by chance."""

MOST_KEPT: Final = 150_000
"""Number of positions that a tree caches: some 200 MB."""

_CODE: Final = np.dtype("<u2")


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A history: a place in the tree, and what each seat has seen on the way to it.

    Nodes never change; a copy of one is itself.

    Attributes:
        tree: the tree of the node.
        spot: the position or the draw at the node.
        seen: the events that each seat has seen, as codes in two bytes each (`Keys`).
        public: those that everybody has seen.
        parent: the previous node; None at the root.
        action: the action or card that led here; -1 at the root.
    """

    tree: Tree
    spot: Spot
    seen: tuple[bytes, ...]
    public: bytes
    parent: Node | None = None
    action: int = -1

    def __deepcopy__(self, memo: dict[int, object]) -> Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree.node_of, (self.tree, self.history())

    @property
    def player(self) -> int:
        """The seat to act, CHANCE or OVER."""
        return self.spot.player

    @property
    def actions(self) -> tuple[int, ...]:
        """The legal actions of the player, or the outcomes of chance; empty at the end."""
        return self.spot.actions

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of chance with their probabilities; empty where a seat is to act."""
        return () if isinstance(self.spot, Position) else self.spot.outcomes

    @property
    def payoffs(self) -> tuple[float, ...]:
        """The payoff of each seat at the end; their sum is 0."""
        return self.spot.payoffs

    def child(self, action: int) -> Node:
        """Return the node that an action or a card leads to.

        Raises:
            IllegalActionError: it is not one of `actions`.
        """
        move = self.spot.moves.get(action) or self.tree.move(self.spot, action)
        seen, public = self.seen, self.public
        for event in move.events:
            if event.seat is None:
                public += event.code
                seen = tuple(one + event.code for one in seen)
            else:
                own = event.seat
                seen = (*seen[:own], seen[own] + event.code, *seen[own + 1 :])
        return Node(self.tree, move.spot, seen, public, self, action)

    def key(self, seat: int, *, compact: bool = False) -> bytes:
        """Return the key of a seat's information state (`VectorEnv.information_states`)."""
        keys = self.tree.keys
        if compact:
            return keys.compact(seat, self.public, self.spot.holdings[seat])
        return keys.full(seat, self.seen[seat])

    def text(self, seat: int, *, compact: bool = False) -> str:
        """Return the information state of a seat as text."""
        keys = self.tree.keys
        if compact:
            return keys.text(seat, self.public, self.spot.holdings[seat])
        return keys.text(seat, self.seen[seat])

    def tensor(self, seat: int, *, compact: bool = False) -> npt.NDArray[np.float32]:
        """Return the information state as float32[K] (`VectorEnv.information_states(form="tensor")`)."""
        holding = np.frombuffer(self.spot.holdings[seat], np.int8)
        row = np.zeros(self.tree.keys.tensor_size(len(holding)), np.float32)
        seen = np.frombuffer(self.public if compact else self.seen[seat], _CODE)
        self.tree.keys.write_tensor(seat, seen, holding, row)
        return row

    def path(self) -> list[Node]:
        """Return the nodes from the root to this one."""
        nodes, node = [self], self
        while node.parent is not None:
            node = node.parent
            nodes.append(node)
        return nodes[::-1]

    def history(self) -> tuple[int, ...]:
        """Return the actions and cards from the root to this one."""
        return tuple(node.action for node in self.path()[1:])


class Tree:
    """A round of a game in extensive form.

    Chance deals each hand, and then what an action has drawn; several cards drawn at once are named in the
    order of their ids, so that each hand occurs once. The tree of a full deck is far too large to
    walk; use a small deck.

    Attributes:
        edition: the rule sheet.
        rules: its rules at this table.
        players: seats at the table.
        keys: the encoder of information state keys.
        root: the root node.
        payoff_bound: upper bound on the absolute value of all payoffs.
        in_points: whether payoffs are points: the team's less the mean of the other teams'; else they are
            what the win pays (`vector_env(reward="win")`).
        outcome_names: names of the outcomes of chance.
        private_sections: the sections of observations that are hidden from other seats.
        positions: the cached positions, by their records.
        recipe: a function and its arguments, with which a pickle rebuilds the tree.
    """

    def __init__(
        self,
        edition: str | Sheet = "parker",
        *,
        players: int = 2,
        teams: int | None = None,
        first: int = 0,
        reward: str = USUAL,
        most_kept: int = MOST_KEPT,
    ) -> None:
        """Set up the root.

        Args:
            edition: name of a rule sheet, with overrides perhaps, or an `Edition`.
            players: seats at the table.
            teams: teams at the table; None for the sheet's usual way.
            first: the seat that begins; -1: drawn by chance.
            reward: "points" or "win".
            most_kept: number of positions to cache before the cache is cleared.

        Raises:
            OptionError: the game does not support chance nodes or histories.
            MilleBornesError: one of its other subclasses says what is wrong with which argument.
        """
        self.env = VectorEnv(
            1, edition, players=players, teams=teams, reward=reward, autoreset_mode="disabled"
        )
        self.edition: Any = self.env.edition
        self.rules: Any = self.env.rules
        self.players: int = self.env.players
        game = self.env.game
        self._chance: GameChance = game.hook("games.chance_nodes", "a tree of the game")
        self._history: Any = game.hook("games.history", "a tree of the game")
        self.keys = Keys(game, self.rules)
        self.private_sections = tuple(self._history.PRIVATE_SECTIONS)
        rulebook = self.env.games.rulebook
        self.in_points = self.env.reward == "points" and rulebook.is_won_by_score(self.rules)
        self.payoff_bound = float(self._chance.most_points(self.rules)) if self.in_points else 1.0
        self.outcome_names = tuple(self._chance.OUTCOMES)
        options: dict[str, Any] = {"players": players, "teams": teams, "first": first, "reward": reward}
        self.recipe: tuple[Any, ...] = partial(Tree, edition, **options, most_kept=most_kept), ()
        self._step_action = np.zeros(1, np.int64)
        self.positions: dict[bytes, Position] = {}
        self._spots: list[Spot] = []
        self._most_kept = most_kept
        self.first = self._check_first(first)
        nobody = (b"",) * self.players
        lot = Lot(self._before_deal(0)[0], self.players)
        self.root = Node(self, lot, nobody, b"")
        if self.first != BY_CHANCE:
            chosen = self.root.child(self.first)
            self.root = Node(self, chosen.spot, chosen.seen, chosen.public)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.recipe

    def _check_first(self, first: object) -> int:
        seat = whole_number(first)
        if seat is None or not BY_CHANCE <= seat < self.players:
            raise OptionError(
                f"first is {shown(first)}; it must be a seat, 0 to {self.players - 1}, or {BY_CHANCE}: drawn "
                "by chance"
            )
        return seat

    # What follows ------------------------------------------------------------------------------------------

    def move(self, spot: Spot, action: int) -> Move:
        """Return the result of an action or a card; results are cached.

        Raises:
            IllegalActionError: it is not an action of the spot.
        """
        if action not in spot.actions:
            raise IllegalActionError(self._illegal_action_message(spot, action))
        if len(self._spots) >= self._most_kept:
            self.forget()
        if isinstance(spot, Position):
            move = self._after_action(spot, int(action))
        elif isinstance(spot, Deal):
            move = self._after_card(spot, int(action))
        else:
            move = self._after_lot(int(action))
        if not spot.moves:
            self._spots.append(spot)
        spot.moves[int(action)] = move
        return move

    def _illegal_action_message(self, spot: Spot, action: object) -> str:
        if spot.player == OVER:
            return f"action {shown(action)}: the round is over, and nobody is to act"
        who = "chance" if spot.player == CHANCE else f"player_{spot.player}"
        known = ", ".join(f"{one} ({self.name_of(spot, one)})" for one in spot.actions)
        return f"{who} has no action {shown(action)} here; there are {known}"

    def forget(self) -> None:
        """Clear the cache of positions, except those that nodes hold."""
        for spot in self._spots:
            spot.moves = {}
        self._spots = []
        self.positions = {}

    def _after_action(self, spot: Position, action: int) -> Move:
        played = self._event(spot.player, action)
        before = self.record(spot)
        after = self._apply_action(before, action)
        draw = self._chance.draw_that_follows(before[0], after[0])
        if draw.size == 0:
            return Move(self._position(after), (played, *self._questions(before, after)))
        counts = self._chance.not_drawn(before[0]).tolist()
        return Move(Deal(spot, action, after.tobytes(), (draw,), counts), (played,))

    def _after_card(self, deal: Deal, card: int) -> Move:
        draw, chosen = deal.draw, (*deal.chosen, card)
        drawn = self._event(draw.seat, self.keys.actions + card)
        if len(chosen) < draw.size:
            counts = self._counts(deal, deal.hands)
            rest: Spot = Deal(deal.base, deal.action, deal.after, deal.draws, counts, deal.hands, chosen)
            return Move(rest, (drawn,))
        hands = (*deal.hands, chosen)
        if len(hands) < len(deal.draws):
            following = Deal(deal.base, deal.action, deal.after, deal.draws, self._counts(deal, hands), hands)
            return Move(following, (drawn,))
        position, questions = self._after_deal(deal, hands)
        return Move(position, (drawn, *questions))

    def _counts(self, deal: Deal, hands: tuple[tuple[int, ...], ...]) -> list[int]:
        """Count the cards of each type that are left when these hands are drawn."""
        counts: list[int] = self._chance.not_drawn(self.record(deal.base)[0]).tolist()
        for hand in hands:
            for card in hand:
                counts[card] -= 1
        return counts

    def _after_deal(self, deal: Deal, hands: tuple[tuple[int, ...], ...]) -> tuple[Position, Sequence[Event]]:
        """Return the position after all cards are drawn, and the events then seen."""
        before = self.record(deal.base).copy()
        if deal.action is None:
            for draw, hand in zip(deal.draws, hands, strict=True):
                self._chance.put_in_hand(before[0], draw.seat, hand)
            self._set_up(before)
            return self._position(before), ()
        after = np.frombuffer(deal.after, before.dtype)
        self._chance.put_on_top(before[0], after[0], hands[0])
        after = self._apply_action(before, deal.action)
        return self._position(after), self._questions(before, after)

    def _after_lot(self, first: int) -> Move:
        base, draws, events = self._before_deal(first)
        counts = self._chance.not_drawn(self.record(base)[0]).tolist()
        return Move(Deal(base, None, b"", draws, counts), events)

    # The engine --------------------------------------------------------------------------------------------

    def _before_deal(self, first: int) -> tuple[Position, Sequence[Draw], tuple[Event, ...]]:
        """Return the table before a deal after which `first` begins, the draws, and the events seen."""
        seed = 0
        self.env.reset(seed=seed)
        while int(self.env.agent_selection[0]) != first:  # the rulebook draws who begins
            seed += 1
            self.env.reset(seed=seed)
        record = self.env.get_states()
        codes = np.zeros(self._history.most_events_of_step(self.rules), np.uint16)
        count = plain(self._history.write_deal)(
            record.view(np.recarray)[0], self.rules, self.keys.actions, codes, 0
        )
        public = self.keys.seen_by(None, codes[:count]).tolist()
        draws = self._chance.take_back(record[0], self.rules)
        base = Position(record.tobytes(), CHANCE, (), (), self._holdings(record[0]))
        return base, draws, tuple(Event(code.to_bytes(_CODE.itemsize, "little"), None) for code in public)

    def record(self, spot: Position) -> StateArray:
        """Return the read-only record of a position, `STATE[1]`, for `set_states`."""
        return np.frombuffer(spot.key, self.env.games.rulebook.STATE)

    def hand(self, spot: Spot, seat: int) -> list[int]:
        """Return the cards that a seat holds, in order; while cards are drawn, those held before."""
        position = spot if isinstance(spot, Position) else spot.base
        counts = self._chance.in_hand(self.record(position)[0], seat)
        cards: list[int] = np.arange(len(counts)).repeat(counts).tolist()
        return cards

    def undrawn(self, record: StateArray) -> Counter[int]:
        """Return the undrawn cards of a record."""
        counts = self._chance.not_drawn(record[0]).tolist()
        return Counter({card: copies for card, copies in enumerate(counts) if copies})

    def _set_up(self, record: StateArray) -> None:
        """Fill the engine's buffers from a record."""
        self.env.games.states[:] = record
        self.env.games.write_decisions()

    def _apply_action(self, before: StateArray, action: int) -> StateArray:
        """Apply an action; return the new record, and leave its data in the engine's buffers."""
        games = self.env.games
        games.states[:] = before
        self._step_action[0] = action
        games.step(self._step_action)
        after: StateArray = games.states.view(np.ndarray).copy()
        return after

    def _position(self, record: StateArray) -> Position:
        """Return the position of the record in the engine's buffers, up to the order of the cards."""
        self._chance.put_in_order(record[0])
        key = record.tobytes()
        if key not in self.positions:
            buffers = self.env.games.buffers
            is_over = bool(buffers.terminations[0])
            self.positions[key] = Position(
                key,
                OVER if is_over else int(buffers.agent_selection[0]),
                () if is_over else tuple(np.flatnonzero(buffers.action_mask[0]).tolist()),
                self._payoffs() if is_over else (),
                self._holdings(record[0]),
            )
        return self.positions[key]

    def _payoffs(self) -> tuple[float, ...]:
        buffers = self.env.games.buffers
        if not self.in_points:
            return tuple(buffers.rewards[0].tolist())
        points: list[int] = buffers.final_score[0].tolist()
        others = len(points) - 1
        by_team = [own - (sum(points) - own) / others for own in points]
        return tuple(by_team[seat % len(points)] for seat in range(self.players))

    def _holdings(self, state: Any) -> tuple[bytes, ...]:
        return tuple(self._history.holding(state, seat).tobytes() for seat in range(self.players))

    # What is seen ------------------------------------------------------------------------------------------

    def _event(self, seat: int, event: int) -> Event:
        code = self.keys.code(seat, event).to_bytes(_CODE.itemsize, "little")
        return Event(code, seat if self.keys.is_event_private(event) else None)

    def _questions(self, before: StateArray, after: StateArray) -> list[Event]:
        """Return the events of a step other than the action and the cards."""
        events = self._history.decision_events(before[0], after[0])
        return [self._event(seat, self.keys.actions + event) for seat, event in events]

    def observe(self, spot: Spot, seat: int) -> npt.NDArray[np.int8]:
        """Return a seat's observation, int8[D]; while cards are drawn, its previous observation."""
        position = spot if isinstance(spot, Position) else spot.base
        games = self.env.games
        games.states[:] = self.record(position)
        row = np.zeros_like(games.buffers.observation)
        games.observe(np.array([seat], np.int32), row)
        seen: npt.NDArray[np.int8] = row[0]
        return seen

    def name_of(self, spot: Spot, action: int, player: int | None = None) -> str:
        """Return the name of an action or an outcome of chance at a spot.

        `player` is CHANCE or a seat; None: the player to act there.
        """
        if player is None:
            player = spot.player
        if player >= 0:
            return str(self.env.games.rulebook.action_name(int(action), self.rules, player))
        if isinstance(spot, Lot):
            return f"player_{action} begins"
        drawn = self.outcome_names[action]
        return f"player_{spot.draw.seat} draws {drawn}" if isinstance(spot, Deal) else drawn

    def node_of(self, history: Sequence[int]) -> Node:
        """Return the node that actions and cards lead to.

        Raises:
            IllegalActionError: one of them is not possible there.
        """
        node = self.root
        for action in history:
            node = node.child(int(action))
        return node

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes, a parent before its children."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.child(action) for action in reversed(node.actions))
