"""Positions for tests: one game, set up in the lines of our notation (docs/environment/records.md).

    position = Position("battle 0: roll", "distance 0: 2x200 100", "hand 0: 25 stop", players=3)
    assert position.can("play 25")
    position.do("play stop against team 1")

What no line says is as in the notation, but the dullest cards lie on top of the draw pile: what is drawn
changes nothing. There are methods for what reads worse in a line, such as `km(0, 675)`, `draw_pile(0)` or a
battle pile from the bottom to the top, and for a change while the game goes on. No card is ever lost or
doubled; `do` checks that. Moves are called as in a record; with two teams, a hazard names none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes import editions, rulebook
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.cards import KM, Card
from millebornes_env.games.millebornes.legality import is_legal, write_mask
from millebornes_env.games.millebornes.motion import is_moving
from millebornes_env.games.millebornes.rules import Rules, compiled_rules, rules_record
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.sections import ObservationSpec
from millebornes_env.games.millebornes.state import NO_TEAM, PHASE_NAMES, PLAY, SCORE_LINES
from millebornes_env.games.millebornes.turn import start_next_round, step
from millebornes_env.games.millebornes.winning import match_winner, round_winner
from millebornes_env.notation.lines import AND_OTHERS, CARD_WORDS, cards_named, named_line
from millebornes_env.notation.millebornes.actions import read_action, write_action
from millebornes_env.notation.millebornes.deal_rest import usual_opening
from millebornes_env.notation.millebornes.positions import read_position
from tests.oracle.beside import check_legal, check_step, oracle_of

CARDS = CARD_WORDS
DISTANCES = ("25", "50", "75", "100", "200")
BATTLE_HAZARDS = ("accident", "out_of_gas", "flat_tire", "stop")
HAZARDS = (*BATTLE_HAZARDS, "speed_limit")
BATTLE_REMEDIES = ("repairs", "gasoline", "spare_tire", "roll")
REMEDIES = (*BATTLE_REMEDIES, "end_of_limit")
SAFETIES = ("driving_ace", "extra_tank", "puncture_proof", "right_of_way")
BREAKDOWNS = (
    ("accident", "repairs", "driving_ace"),
    ("out_of_gas", "gasoline", "extra_tank"),
    ("flat_tire", "spare_tire", "puncture_proof"),
)
"""The hazards that take a remedy of their own, with it and with the safety against them."""
SAFETY_AGAINST = {hazard: safety for hazard, _, safety in BREAKDOWNS} | dict.fromkeys(
    ("stop", "speed_limit"), "right_of_way"
)

PLAYERS = (2, 3, 4, 6)
"""The numbers of seats that the parker edition has a table for."""

_SETTINGS = Settings(rulebook.MATCH, rulebook.POINTS, 2, ObservationSpec(unseen=0), punish_illegal=0)
_BATTLE_PILE = tuple(CARDS.index(name) for name in BATTLE_HAZARDS + BATTLE_REMEDIES)
_SPEED_PILE = (int(Card.SPEED_LIMIT), int(Card.END_OF_LIMIT))
_DISTANCE_PILE = tuple(CARDS.index(name) for name in DISTANCES)

# What lies on top of an untouched draw pile: first what can do nothing in most positions, safeties last.
_DULLEST_FIRST = (
    *("end_of_limit", "spare_tire", "gasoline", "repairs", "25", "50", "75"),
    *("100", "200", "roll", *HAZARDS, *SAFETIES),
)


@cache  # to check the rules of a table takes longer than to deal
def _table_of(
    name: str | editions.Edition, players: int, teams: int | None, **changes: int
) -> tuple[editions.Edition, Rules]:
    edition = editions.edition(name).replace(**changes)
    return edition, edition.table(players, teams)


@cache
def _words_of_moves(rules: Rules, seat: int) -> tuple[str, ...]:
    """Return the name of each action of the seat; with two teams, hazards name no target."""
    words = [write_action(action, rules, seat) for action in range(num_actions(rules.teams))]
    if rules.teams == 2:
        words = [said.partition(" against ")[0] for said in words]
    return tuple(f"play {said}" if said.partition(" ")[0] in CARDS else said for said in words)


class Position:
    """One game of an edition, the parker edition if none is named.

    Attributes:
        edition: with its changes.
        rules: of the table.
        state: the record; the methods below say the same in names.
        deck: how many copies of each card id this table plays with.
    """

    def __init__(
        self,
        *lines: str,
        players: int = 2,
        edition: str | editions.Edition = "parker",
        teams: int | None = None,
        seed: int = 1,
        dealt: bool = False,
        **changes: int,
    ) -> None:
        """Deal a round; unless `dealt`, take all cards back and read the lines; `changes` override rules."""
        is_shipped = edition in editions.editions()  # another one is a file, which may change
        table_of = _table_of if is_shipped else _table_of.__wrapped__
        self.edition, self.rules = table_of(edition, players, teams, **changes)
        self.games = Batch(rulebook, 1, self.rules, _SETTINGS)
        self.games.seed(seed)
        self.games.start()
        self.state = self.games.states[0]
        self.record = rules_record(self.rules)
        self._plain = self.games.states.view(np.ndarray)[0]  # the same memory; attributes of `state` are slow
        self.deck = self._all_cards()
        self._draws: dict[int, list[int]] = {}  # seat -> the cards on top of its stream
        self._pile_size: int | None = None  # None: all cards that lie nowhere else
        self._put_aside: Counter[int] = Counter()  # discarded only to make the draw pile smaller
        if not dealt:
            self.empty_hands().turn(0)
        if lines:
            self._read(lines)

    # Setting up --------------------------------------------------------------------------------------------

    def _read(self, lines: tuple[str, ...]) -> None:
        names = {line.partition(":")[0] for line in lines}
        unsaid = [] if names & {"hand 0", "to act", "dealer"} else ["hand 0: 25"]  # who plays needs a card
        text = "\n".join([*lines, *unsaid])
        state = read_position(
            text, edition=self.edition, players=self.rules.players, teams=self.rules.teams
        ).state
        for name in set(state.dtype.names) - {"key", "episode"}:
            self._plain[name] = state[name][0]
        for line in (named_line(0, text) for text in lines):
            if line.name == "stream":
                self._draws[line.owner] = cards_named(line, line.words.removesuffix(AND_OTHERS))
        if unsaid:
            self.hand(0)
        with _Pool(self):
            pass  # the dullest cards on top

    def hand(self, seat: int, *cards: str) -> Position:
        """Give the seat exactly these cards; the seat to play has drawn already."""
        with _Pool(self) as pool:
            pool.give(_expanded(self._plain["hand"][seat]))
            self._plain["hand"][seat] = 0
            for card in pool.take(cards):
                self._plain["hand"][seat, card] += 1
            self._plain["hand_count"][seat] = len(cards)
        return self

    def empty_hands(self) -> Position:
        """Take all cards in hands back into the draw pile."""
        for seat in range(self.rules.players):
            self.hand(seat)
        return self

    def battle(self, team: int, *cards: str) -> Position:
        """Lay this battle pile, from the bottom to the top."""
        pile = self._lay_pile(team, _BATTLE_PILE, cards)
        top = pile[-1] if pile else -1
        below = pile[-2] if len(pile) > 1 and CARDS[top] in BATTLE_HAZARDS else -1
        self.state.battle[team], self.state.battle_below[team] = top, below
        self.state.opening[team] = usual_opening(dict(enumerate(self._plain["tableau"][team])), top, below)
        return self

    def speed(self, team: int, *cards: str) -> Position:
        """Lay this speed pile, from the bottom to the top."""
        pile = self._lay_pile(team, _SPEED_PILE, cards)
        self.state.speed[team] = pile[-1] if pile else -1
        return self

    def km(self, team: int, total: int, *, two_hundreds: int = 0) -> Position:
        """Lay a distance pile of this length, with so many 200s in it."""
        self._lay_pile(team, _DISTANCE_PILE, ())
        with _Pool(self) as pool:
            cards = ["200"] * two_hundreds
            missing = total - 200 * two_hundreds
            for name in ("100", "75", "50", "25"):
                length = int(KM[CARDS.index(name)])
                count = min(missing // length, pool.cards[CARDS.index(name)])
                cards += [name] * count
                missing -= length * count
            if missing:
                raise ValueError(f"the cards left do not make up {total} km")
            self._lay(team, pool.take(cards))
        self.state.km[team] = total
        return self

    def safety(self, team: int, *cards: str, coup: bool = False) -> Position:
        """Lay these safeties; `coup`: they were coups fourrés."""
        with _Pool(self) as pool:
            self._lay(team, pool.take(cards))
        for name in cards:
            self.state.coup_fourre[team, SAFETIES.index(name)] = int(coup)
        return self

    def draws(self, seat: int, *cards: str) -> Position:
        """Let these cards be what the seat draws next, in this order (a change after a move undoes it)."""
        with _Pool(self):
            self._draws[seat] = [CARDS.index(name) for name in cards]
        return self

    def draw_pile(self, size: int) -> Position:
        """Leave so many cards to draw and discard the others."""
        with _Pool(self):
            self._pile_size = size
        return self

    def turn(self, seat: int) -> Position:
        """Let it be this seat's turn; it has drawn."""
        self.state.seat, self.state.phase = seat, PLAY
        return self

    def extended_by(self, team: int) -> Position:
        """Let the team have called the extension."""
        self.state.extension_team, self.state.target = team, self.rules.extended_target
        return self

    # Playing -----------------------------------------------------------------------------------------------

    def legal(self) -> set[str]:
        """The names of all legal moves; fails if the mask and the question disagree about one."""
        state, rules = for_kernels(self.games.states)[0], compiled_rules(self.rules)
        mask = np.full(num_actions(self.rules.teams), 2, np.int8)
        write_mask(state, rules, mask)
        asked = [int(is_legal(state, rules, action)) for action in range(len(mask))]
        assert asked == mask.tolist(), "the mask and is_legal disagree"
        if (oracle := oracle_of(self.games, self.edition)) is not None:
            check_legal(oracle, np.flatnonzero(mask).tolist())
        words = _words_of_moves(self.rules, self.seat)
        return {words[action] for action in np.flatnonzero(mask)}

    def plays(self) -> set[str]:
        """The legal moves that lay a card, without the word "play"."""
        return {move.removeprefix("play ") for move in self.legal() if move.startswith("play ")}

    def can(self, move: str) -> bool:
        """Return True if the move is legal."""
        action = read_action(move, self.rules, self.seat)  # a slip of the pen is an error
        return _words_of_moves(self.rules, self.seat)[action] in self.legal()

    def do(self, *moves: str) -> Position:
        """Carry out legal moves, one after the other."""
        for move in moves:
            assert self.can(move), f"{move!r} is illegal; legal are {sorted(self.legal())}"
            action, oracle = read_action(move, self.rules, self.seat), oracle_of(self.games, self.edition)
            step(self.state, self.record, action)
            if oracle is not None:
                check_step(oracle, action, self.games)
            self._draws.clear()
            self._pile_size = None if self._pile_size is None else self.pile_size
            self.check()
        return self

    def finish_trip(self, seat: int = 0) -> Position:
        """Let the seat's team, as it lies there, roll its last 25 km and end the round with it."""
        team = seat % self.rules.teams
        short = int(self.state.target) - 25
        twos = self.laid(team)["200"]
        self.battle(team, "roll").km(team, short, two_hundreds=twos).hand(seat, "25").turn(seat)
        self.do("play 25")
        return self if self.phase == "round over" else self.do("finish")

    def run_out(self) -> Position:
        """Let the cards run out with nobody at the target: one last discard ends the round."""
        self.empty_hands().draw_pile(0)
        return self.hand(self.seat, "end_of_limit").do("discard end_of_limit")

    def next_round(self) -> Position:
        """Deal the next round of the match."""
        start_next_round(self.state, self.record)
        self._draws, self._pile_size, self._put_aside = {}, None, Counter()
        return self

    def play_at_random(self, seed: int) -> Iterator[Position]:
        """Play until the round is over, laying a card whenever one can be laid; yields after each move."""
        chance = random.Random(seed)
        while self.phase != "round over":
            moves = sorted(self.legal())
            yield self.do(chance.choice([move for move in moves if "discard" not in move] or moves))

    # Looking -----------------------------------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """The seat that decides."""
        return int(self.state.seat)

    @property
    def phase(self) -> str:
        """The decision: "play", "claim", "extension", or "round over"."""
        return PHASE_NAMES[int(self.state.phase)]

    @property
    def winner(self) -> int | None:
        """The team that completed the trip."""
        return _team_or_none(self.state.winner)

    @property
    def target(self) -> int:
        """The km to complete."""
        return int(self.state.target)

    @property
    def caller(self) -> int | None:
        """The team that called the extension."""
        return _team_or_none(self.state.extension_team)

    @property
    def pile_size(self) -> int:
        """Number of cards left to draw."""
        return int(self.state.draw_pile)

    @property
    def discards(self) -> Counter[str]:
        """The discard pile, without what only `draw_pile` put there."""
        return _named(Counter(_expanded(self._plain["discard_pile"])) - self._put_aside)

    def hand_of(self, seat: int) -> list[str]:
        """The seat's cards, in the order of their ids."""
        return [CARDS[card] for card in _expanded(self._plain["hand"][seat])]

    def hand_sizes(self) -> list[int]:
        """Number of cards in each hand."""
        return self._plain["hand_count"][: self.rules.players].tolist()

    def battle_top(self, team: int) -> str | None:
        """Return the top card of the battle pile."""
        return _name_or_none(self.state.battle[team])

    def speed_top(self, team: int) -> str | None:
        """Return the top card of the speed pile."""
        return _name_or_none(self.state.speed[team])

    def km_of(self, team: int) -> int:
        """Return the team's km."""
        return int(self.state.km[team])

    def laid(self, team: int) -> Counter[str]:
        """All cards in the team's piles."""
        return _named(Counter(_expanded(self._plain["tableau"][team])))

    def coups(self, team: int) -> list[str]:
        """Its safeties that were coups fourrés."""
        return [name for name, flag in zip(SAFETIES, self.state.coup_fourre[team], strict=True) if flag]

    def is_moving(self, team: int) -> bool:
        """Return True if the team may play distance cards and be attacked."""
        return bool(is_moving(self.state, self.record, team))

    def sheet(self, team: int) -> dict[str, int]:
        """The lines of the score sheet that are not 0."""
        assert self.phase == "round over", "the round is not over"
        lines = zip(SCORE_LINES, self._plain["score_sheet"][team].tolist(), strict=True)
        return {line: points for line, points in lines if points}

    def points(self) -> list[int]:
        """Each team's points in the finished round."""
        return [int(round_score(self.state, team)) for team in range(self.rules.teams)]

    def totals(self) -> list[int]:
        """Each team's points in the match."""
        return [int(score) for score in self.state.score[: self.rules.teams]]

    def round_winner(self) -> int | None:
        """The team that did best in the finished round."""
        return _team_or_none(round_winner(self.state, self.record))

    def match_winner(self) -> int | None:
        """The team that has won the match."""
        return _team_or_none(match_winner(self.state, self.record))

    def check(self) -> None:
        """Fail if a card was lost or doubled, or if two fields of the record disagree."""
        hands = self._plain["hand"][: self.rules.players]
        assert self._all_cards() == self.deck, "a card was lost or doubled"
        streams = self._streams()
        assert Counter(_expanded(self._plain["hidden"])) == Counter(_expanded(hands.sum(axis=0))) + Counter(
            streams
        )
        assert self.pile_size == len(streams)
        assert hands.min() >= 0
        assert self.hand_sizes() == hands.sum(axis=1).tolist()
        lengths = (self._plain["tableau"][: self.rules.teams, : len(KM)] * KM.astype(int)).sum(axis=1)
        assert [self.km_of(team) for team in range(self.rules.teams)] == lengths.tolist()
        for team in range(self.rules.teams):
            if self.battle_top(team) in (None, "roll"):
                assert not self.state.opening[team], "no hazard began this pile, or a Roll lies on it"

    # Within ------------------------------------------------------------------------------------------------

    def _streams(self) -> list[int]:
        starts, ends = (self._plain[name].tolist() for name in ("stream_next", "stream_end"))
        seats = range(self.rules.players)
        return [card for seat in seats for card in self._plain["deck"][starts[seat] : ends[seat]].tolist()]

    def _all_cards(self) -> Counter[int]:
        open_cards = self._plain["tableau"][: self.rules.teams].sum(axis=0) + self._plain["discard_pile"]
        in_hands = self._plain["hand"][: self.rules.players].sum(axis=0)
        cards = Counter(_expanded(in_hands + open_cards) + self._streams())
        if (pending := int(self.state.pending_hazard)) >= 0:
            cards[pending] += 1
        return cards

    def _lay(self, team: int, cards: Iterable[int]) -> None:
        for card in cards:
            self._plain["tableau"][team, card] += 1

    def _lay_pile(self, team: int, kinds: tuple[int, ...], cards: tuple[str, ...]) -> list[int]:
        """Take up the team's cards of these kinds and lay others."""
        tableau = self._plain["tableau"][team]
        with _Pool(self) as pool:
            for card in kinds:
                pool.give([card] * int(tableau[card]))
                tableau[card] = 0
            pile = pool.take(cards)
            assert set(pile) <= set(kinds), f"{cards} do not lie on one pile"
            self._lay(team, pile)
        return pile

    def _lay_out(self, pool: Counter[int]) -> None:
        """Make the draw pile, and what is put aside, of the cards that lie nowhere else."""
        players = self.rules.players
        streams = [list(self._draws.get(seat, ())) for seat in range(players)]
        on_top = Counter(card for stream in streams for card in stream)
        _need(pool, on_top)
        pool = pool - on_top
        rest = [card for card in map(CARDS.index, _DULLEST_FIRST) for _ in range(pool[card])]
        size = len(rest) if self._pile_size is None else self._pile_size - on_top.total()
        assert 0 <= size <= len(rest), f"the draw pile cannot be of {self._pile_size} cards"
        for place, card in enumerate(rest[:size]):
            streams[place % players].append(card)
        self._put_aside = Counter(rest[size:])
        start = 0
        for seat, stream in enumerate(streams):
            self._plain["stream_next"][seat], self._plain["stream_end"][seat] = start, start + len(stream)
            self._plain["deck"][start : start + len(stream)] = stream
            start += len(stream)
        self.state.draw_pile = start
        for card, count in self._put_aside.items():
            self._plain["discard_pile"][card] += count
        self._plain["hidden"][:] = self._plain["hand"][:players].sum(axis=0)
        np.add.at(self._plain["hidden"], self._streams(), 1)


class _Pool:
    """The cards that lie nowhere else, while a position is being changed."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.cards: Counter[int] = Counter()

    def __enter__(self) -> _Pool:
        position = self.position
        for card, count in position._put_aside.items():
            position._plain["discard_pile"][card] -= count
        self.cards = Counter(position._streams()) + position._put_aside
        return self

    def __exit__(self, *_: object) -> None:
        self.position._lay_out(self.cards)

    def give(self, cards: Iterable[int]) -> None:
        self.cards.update(cards)

    def take(self, names: Iterable[str]) -> list[int]:
        cards = [CARDS.index(name) for name in names]
        _need(self.cards, Counter(cards))
        self.cards.subtract(cards)
        return cards


def _need(pool: Counter[int], wanted: Counter[int]) -> None:
    missing = wanted - pool
    if missing:
        raise ValueError(f"the deck has no more of {dict(_named(missing))}")


def _expanded(counts: np.ndarray) -> list[int]:
    return [card for card, count in enumerate(counts.tolist()) for _ in range(count)]


def _named(cards: Counter[int]) -> Counter[str]:
    return Counter({CARDS[card]: count for card, count in cards.items() if count})


def _name_or_none(card: int) -> str | None:
    return None if int(card) < 0 else CARDS[int(card)]


def _team_or_none(team: int) -> int | None:
    return None if int(team) == NO_TEAM else int(team)
