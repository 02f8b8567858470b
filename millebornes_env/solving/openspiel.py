"""A round as OpenSpiel's game `python_mille_bornes`.

    import pyspiel
    import millebornes_env.solving.openspiel  # registers the game

    game = pyspiel.load_game("python_mille_bornes(edition=mini7)")

Chance is explicit: one node for each card that is drawn, over the types of the cards not drawn; a hand is
named in the order of its cards, so that it occurs once. The rules are the rulebook's, the tree that of
`millebornes_env.solving.extensive`. This module imports pyspiel (`pip install 'millebornes-env[openspiel]'`),
which the rest of the package does not need. docs/environment/libraries.md shows it at work.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from millebornes_env.errors import MissingExtraError, OptionError, shown
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.editions import edition as find_edition
from millebornes_env.notation import write_position
from millebornes_env.notation.lines import CARD_WORDS, cards_named, line_of
from millebornes_env.solving.extensive.resample import resample
from millebornes_env.solving.extensive.spots import Position
from millebornes_env.solving.extensive.tree import Node, Tree

try:
    import pyspiel
except ModuleNotFoundError as _missing:
    raise MissingExtraError.of("millebornes_env.solving.openspiel", _missing, "openspiel") from None

NAME: Final = "python_mille_bornes"
NEUTRAL_NAME: Final = "python_road_trip"
"""The same game under a name that is no trademark."""

KEYS: Final = ("full", "compact")
"""Forms of `information_state_string`: the action-observation history, or a summary of it."""

PARAMETERS: Final[Mapping[str, Any]] = {
    "edition": "parker",
    "players": 2,
    "teams": 0,
    "deck": "",
    "rules": "",
    "first": 0,
    "reward": "usual",
    "key": "full",
}
"""Parameters of `load_game`, with their defaults.

`edition`: name of a rule sheet; `players`, `teams` (0: the usual way); `deck`: the cards of the deck instead
of the sheet's, as in positions: `3x50 2xroll stop right_of_way`; `rules`: others that are overridden, such as
`hand_limit:2 max_200:4`; `first`: the seat that begins, -1: drawn by chance; `reward`: "points" or "win";
`key`: one of `KEYS`.
"""

_TREE_PARAMETERS: Final = ("edition", "players", "teams", "deck", "rules", "first", "reward")


def _type_named(name: str) -> Any:
    """Return the type of the game under a name."""
    return pyspiel.GameType(
        short_name=name,
        long_name="Mille Bornes, one round" if name == NAME else "Road Trip, one round",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=8,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(PARAMETERS),
    )


def _parse_deck(words: str) -> dict[str, int]:
    """Return the rules for a deck of these cards, such as `3x50 2xroll stop right_of_way`.

    Raises:
        NotationError: one of the words is not a card.
    """
    if not words.strip():
        return {}
    cards = cards_named(line_of(0, "deck", words), words)
    return {f"copies_of_{CARD_WORDS[card]}": cards.count(card) for card in range(NUM_CARD_TYPES)}


def _parse_rules(words: str) -> dict[str, int]:
    """Parse rules such as `hand_limit:2 max_200:4`.

    Raises:
        OptionError: the text is invalid.
    """
    changes = {}
    for word in words.split():
        name, _, value = word.partition(":")
        if not value.isdecimal():
            raise OptionError(f"rules is {shown(words)}; it must be like 'hand_limit:2 max_200:4'")
        changes[name] = int(value)
    return changes


@functools.lru_cache(maxsize=8)
def _tree(edition: str, players: int, teams: int, deck: str, rules: str, first: int, reward: str) -> Tree:
    """Return the tree of a table; games of the same table share one, with its cached positions."""
    if "=" in edition:  # OpenSpiel could not read the name of such a game again
        raise OptionError(f"edition is {shown(edition)}; override rules by the parameter rules: 'max_200:4'")
    sheet, sides = find_edition(edition), teams or None
    changes = {**_parse_deck(deck), **_parse_rules(rules)}
    two_hundreds = changes.get("copies_of_200")
    if two_hundreds is not None and "max_200" not in changes:
        changes["max_200"] = min(sheet.table(players, sides).max_200, two_hundreds)
    tree = Tree(
        sheet.replace(**changes) if changes else sheet,
        players=players,
        teams=sides,
        first=first,
        reward=reward,
    )
    tree.recipe = _tree, (edition, players, teams, deck, rules, first, reward)
    return tree


class MilleBornesGame(pyspiel.Game):  # type: ignore[misc] # pyspiel has no types
    """One round of Mille Bornes at a table.

    Attributes:
        type: the type under which OpenSpiel knows the game.
        tree: the game tree.
        is_compact: True if information states are compact (`KEYS`).
    """

    type: Any = _type_named(NAME)

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Make the game; `pyspiel.load_game` calls this.

        Args:
            params: some of `PARAMETERS`.

        Raises:
            MilleBornesError: one of its subclasses says what is wrong with which parameter.
        """
        parameters = dict(params or {})
        options = {**PARAMETERS, **parameters}
        key = options.pop("key")
        if key not in KEYS:
            raise OptionError(f"key is {shown(key)}; it must be 'full' or 'compact'")
        self.tree = _tree(*(options[name] for name in _TREE_PARAMETERS))
        self.is_compact = key == "compact"
        tree = self.tree
        info = pyspiel.GameInfo(
            num_distinct_actions=tree.keys.actions,
            max_chance_outcomes=max(len(tree.outcome_names), tree.players),
            num_players=tree.players,
            min_utility=-tree.payoff_bound,
            max_utility=tree.payoff_bound,
            utility_sum=0.0,
            max_game_length=tree.keys.most_events,
        )
        super().__init__(self.type, info, parameters)

    def new_initial_state(self, struct: Mapping[str, Any] | None = None) -> MilleBornesState:
        """Return the root, or the state that a struct describes (`to_struct`), by its `history`."""
        state = MilleBornesState(self)
        for action in () if struct is None else struct["history"]:
            state.apply_action(action)
        return state

    def max_chance_nodes_in_history(self) -> int:
        """Return the number of cards that can be drawn, plus the lot for the starting seat."""
        return int(sum(self.tree.rules.deck)) + 1

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> MilleBornesObserver:
        """Return an observer that shows states to players.

        Args:
            iig_obs_type: `pyspiel.IIGObservationType`; with perfect recall, information states; else
                observations of the table.
            params: must be empty or None.

        Raises:
            ValueError: there are parameters.
        """
        if params:
            raise ValueError(f"an observer has no parameters; got {shown(params)}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return MilleBornesObserver(self, kind)


class MilleBornesState(pyspiel.State):  # type: ignore[misc] # pyspiel has no types
    """A place in the tree."""

    def __init__(self, game: MilleBornesGame) -> None:
        """Begin at the root; `new_initial_state` calls this."""
        super().__init__(game)
        self._node = game.tree.root

    @property
    def node(self) -> Node:
        """The node of the tree (`millebornes_env.solving.extensive`)."""
        return self._node

    def current_player(self) -> int:
        """Return the seat to act, or OpenSpiel's number for chance or the end."""
        return self._node.player

    def _legal_actions(self, player: int) -> list[int]:
        return list(self._node.actions)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the possible cards with their probabilities."""
        return [(one.card, one.probability) for one in self._node.outcomes]

    def _apply_action(self, action: int) -> None:
        self._node = self._node.child(action)

    def _action_to_string(self, player: int, action: int) -> str:
        node: Node = self._node
        return node.tree.name_of(node.spot, action, player)

    def is_terminal(self) -> bool:
        """Return True if the round is over."""
        return bool(self._node.payoffs)

    def returns(self) -> list[float]:
        """Return the payoffs at the end, and 0 for each seat before."""
        return list(self._node.payoffs) or [0.0] * self._node.tree.players

    def rewards(self) -> list[float]:
        """Return the same as `returns`: all is paid at the end."""
        return self.returns()

    def __str__(self) -> str:
        """Return the full state as a position (docs/environment/records.md), with the cards being drawn."""
        spot = self._node.spot
        if not isinstance(spot, Position):
            drawn = "; ".join(self._node.text(seat) for seat in range(self._node.tree.players))
            return f"a card is to be drawn\n{drawn}"
        tree = self._node.tree
        return write_position(tree.record(spot), tree.edition, tree.rules, key=False, checked=False)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float] | None = None) -> Any:
        """Sample a state that the player cannot distinguish from this one (`solving.extensive.resample`).

        OpenSpiel's searches in Python call this; those in C++ do not reach methods of Python.

        Args:
            player: the player to act, whose information state is kept.
            sampler: returns random numbers from 0 to 1; None: a default generator.

        Raises:
            OptionError: the player is not to act.
        """
        if player != self.current_player():
            raise OptionError(
                f"player {shown(player)} is not to act: only the information state of who is can be resampled"
            )
        words = None if sampler is None else [int(sampler() * (1 << 32)) for _ in range(2)]
        node = resample(self._node, np.random.default_rng(words))
        state = self.get_game().new_initial_state()
        for action in node.history():
            state.apply_action(action)
        return state

    # OpenSpiel's structs: dictionaries, which become JSON --------------------------------------------------

    def _to_struct(self) -> dict[str, Any]:
        return {
            "current_player": self.current_player(),
            "history": list(self._node.history()),
            "position": str(self),
        }

    def _action_to_struct(self, player: int, action: int) -> dict[str, Any]:
        return {"action": int(action), "name": self._action_to_string(player, action)}

    def _struct_to_actions(self, struct: Mapping[str, Any]) -> list[int]:
        return [int(struct["action"])]

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        tree = self._node.tree
        row = tree.observe(self._node.spot, player)
        sections = tree.env.observation_sections
        seen = {one.name: row[one.start : one.stop].tolist() for one in sections}
        return {"player": player, "information_state": self._node.text(player), "observation": seen}


class MilleBornesObserver:
    """Observer with OpenSpiel's interface: `tensor`, `dict`, `set_from` and `string_from`.

    Attributes:
        tensor: float32, written by `set_from`.
        dict: views of it by name.
    """

    def __init__(self, game: MilleBornesGame, kind: Any) -> None:
        """Allocate the tensor; `make_py_observer` calls this."""
        self._tree = game.tree
        self._is_compact = game.is_compact
        self._has_perfect_recall = bool(kind.perfect_recall)
        self._is_private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._is_public = bool(kind.public_info)
        tree = game.tree
        if self._has_perfect_recall:
            sizes = {"information_state": len(tree.root.tensor(0))}
        else:
            sizes = {"player": tree.players}
            sizes |= {one.name: one.size for one in self._sections()}
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        parts = np.split(self.tensor, np.cumsum(list(sizes.values()))[:-1])
        self.dict = dict(zip(sizes, parts, strict=True))

    def _sections(self) -> Sequence[Any]:
        """Return the sections shown: a seat's hand is private, all else is public."""
        sections = self._tree.env.observation_sections
        private = self._tree.private_sections
        return [one for one in sections if (self._is_private if one.name in private else self._is_public)]

    def set_from(self, state: MilleBornesState, player: int) -> None:
        """Write the player's view of a state into `tensor`."""
        if self._has_perfect_recall:
            self.tensor[:] = state.node.tensor(player, compact=self._is_compact)
            return
        row = self._tree.observe(state.node.spot, player)
        self.dict["player"][:] = 0
        self.dict["player"][player] = 1
        for one in self._sections():
            self.dict[one.name][:] = row[one.start : one.stop]

    def string_from(self, state: MilleBornesState, player: int) -> str:
        """Describe the player's view of a state in words."""
        if self._has_perfect_recall:
            return state.node.text(player, compact=self._is_compact)
        row = self._tree.observe(state.node.spot, player)
        parts = [f"{one.name}: {' '.join(map(str, row[one.start : one.stop]))}" for one in self._sections()]
        return "\n".join([f"player_{player}", *parts])


class RoadTripGame(MilleBornesGame):
    """The game under its neutral name."""

    type = _type_named(NEUTRAL_NAME)


for _game in (MilleBornesGame, RoadTripGame):
    pyspiel.register_game(_game.type, _game)
