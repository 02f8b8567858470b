"""`check_agent`: check that an agent follows the protocol while it plays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env import agents
from millebornes_env._util.arguments import MOST_STEPS, at_least_one, checked_seed
from millebornes_env.agents.compiled.agent import MEMORY, agent_kernels_of
from millebornes_env.agents.own_classes import make_own
from millebornes_env.agents.protocol import (
    Agent,
    Table,
    ask,
    is_compiled,
    is_state_agent,
    rounds_over,
    sees_hidden_cards,
)
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import AgentError, ConformanceError, OptionError, shown
from millebornes_env.games.registry import Sheet
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from millebornes_env.testing.tables import tables_of

Actions = npt.NDArray[np.int64]
Given = str | Path | Agent | Callable[..., Agent]
"""An agent's name, run folder or class (called with a `Table` and a seed), or an agent that was made."""

OTHER_SEEDS: Final = 3
"""Number of other seeds tried to detect an agent that draws random numbers."""
MOST_NAMED: Final = 4
"""Number of legal actions that a message names."""
LONGEST_ROUND: Final = 10_000
"""Upper bound on the decisions of a round in all games of this package."""


def check_agent(
    agent: Given,
    edition: str | Sheet = "parker",
    *,
    players: int | None = None,
    teams: int | None = None,
    seed: int = 0,
    games: int = 12,
    decisions: int = 120,
    is_random: bool | None = None,
    **shows: bool,
) -> None:
    """Check an agent at the tables of an edition, of any game.

    It plays all seats of some games. These are checked:

    * `act` returns an integer for each row, a legal action, and does not write to its arguments;
    * the same seed gives the same actions;
    * rows do not influence each other: it chooses the same if the rows come in another order, some of them
      alone. With `has_memory` it may remember, but separately for each of `slot_ids`;
    * the hidden cards change nothing: it chooses the same if they are dealt again. An agent that receives
      observations has no access to them; this concerns compiled agents and those with `act_on`. An agent
      that declares `sees_hidden_cards` may see them;
    * in a finished round it returns a legal action, or -1 if the mask allows none.

    Args:
        agent: an agent's name, run folder or class, or an agent that was made (which is copied).
        edition: name of a rule sheet, or a sheet of your own; it says which game is played.
        players: seats at the table; None: every table of the edition.
        teams: teams at the table, with `players`; None: the sheet's default for this number of players.
        seed: seed of the agent and of the games, 0 to 2**64 - 1.
        games: number of games played side by side.
        decisions: number of decisions in each game.
        is_random: True if the agent draws random numbers, so that it may choose differently if the rows come
            in another order. None: detected with other seeds, of an agent that was made with further calls.
        shows: contents of the observations: `observe_unseen`, `observe_rules`, `padded`, as for `vector_env`.

    Raises:
        ConformanceError: the agent breaks the protocol; the message says how, where, and what to do.
        MilleBornesError: the agent, edition or table does not exist.
    """
    sheet = find_edition(edition)
    first = checked_seed(seed, or_none=False)
    number = at_least_one("decisions", decisions, MOST_STEPS, OptionError)
    for seats, sides in tables_of(sheet, players, teams):
        options: dict[str, Any] = {"players": seats, "teams": sides, "seed": first, **shows}
        episodes = find_game(sheet.game).module().EPISODES
        env = vector_env(games, sheet, episode=episodes[-1], autoreset_mode="next_step", **options)
        check = _Check(agent, env, first, is_random)
        check.play(number)
        env = vector_env(games, sheet, episode=episodes[0], autoreset_mode="disabled", **options)
        check.finish_rounds(env)


@dataclass
class _Moment:
    """The inputs of the agents at one decision of each game."""

    env: VectorEnv
    number: int  # of the decision
    observations: npt.NDArray[np.int8]
    masks: npt.NDArray[np.int8]
    states: StateArray
    seats: npt.NDArray[np.int32]

    @classmethod
    def of(cls, env: VectorEnv, number: int, observations: dict[str, npt.NDArray[Any]]) -> _Moment:
        return cls(
            env,
            number,
            observations["observation"].copy(),
            observations["action_mask"].copy(),
            env.get_states().view(np.ndarray),
            env.agent_selection.copy(),
        )

    @property
    def slot_ids(self) -> npt.NDArray[np.int64]:
        """One number for each game and seat."""
        return np.arange(len(self.seats)) * self.env.players + self.seats

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Mask of the games whose round is over."""
        return rounds_over(self.env.game.module(), self.states)

    def where(self, game: int) -> str:
        """Describe the decision of a game: table, game, seat and number."""
        rules = self.env.rules
        return (
            f"{self.env.edition.label}, {rules.players} players in {rules.teams} teams, game {game}, "
            f"seat {self.seats[game]}, decision {self.number}"
        )

    def action(self, game: int, action: int) -> str:
        """Return the name of an action of the game."""
        if not 0 <= action < self.masks.shape[1]:
            return str(action)
        name = self.env.games.rulebook.action_name(action, self.env.rules, int(self.seats[game]))
        return f"{name} ({action})"


class _Check:
    """The checks of an agent at one table.

    Attributes:
        player: the agent that plays the games.
        twin: the same agent with the same seed and the same arguments.
        piecewise: the same agent with the same seed, called with some of the rows at a time.
        others: the same agent with other seeds and the same arguments. Copies of an agent that was made keep
            its seed; further calls, about slots of their own, give them other random numbers.
    """

    def __init__(self, given: Given, env: VectorEnv, seed: int, is_random: bool | None) -> None:
        self._env, self._table = env, Table.of(env)
        self._given, self._seed = given, seed
        self._is_made = not isinstance(given, (str, Path, type)) and hasattr(given, "act")
        self.player, self.twin, self.piecewise = (self._made(seed) for _ in range(3))
        self.others = [self._made((seed + more) % 2**64) for more in range(1, OTHER_SEEDS + 1)]
        self._is_random = is_random
        self._differs = ""  # message about the first different choice of `piecewise`
        self._memories = np.zeros((env.num_envs * env.players, MEMORY), np.int16)

    def _made(self, seed: int) -> Agent:
        """Make the agent again."""
        given: Any = self._given
        try:
            if isinstance(given, (str, Path)):
                return agents.make(given, self._table, seed)
            if self._is_made:
                return agents.make(copy.deepcopy(given), self._table, seed)
            made = make_own(shown(given), given, self._table, seed, {})
            return agents.make(made, self._table, seed)
        except Exception as error:
            raise ConformanceError(
                f"{shown(given)} cannot be made for {self._table.edition}, {self._env.players} players in "
                f"{self._env.teams} teams: {type(error).__name__}: {error} (an agent for certain tables "
                "only is checked there: give players= and teams=)"
            ) from error

    # Playing ------------------------------------------------------------------------------------------------

    def play(self, decisions: int) -> None:
        """Play across rounds and compare the agents."""
        observations, _ = self._env.reset()
        for number in range(decisions):
            moment = _Moment.of(self._env, number, observations)
            actions = self._asked(self.player, moment)
            self._compare_twin(moment, actions)
            self._compare_pieces(moment, actions)
            self._compare_redeal(moment, actions)
            observations = self._env.step(np.where(actions == SKIP, 0, actions)).observations
        if self._differs and not self._is_random:
            raise ConformanceError(self._differs)

    def finish_rounds(self, env: VectorEnv) -> None:
        """Play rounds to their ends, where no decision is left."""
        observations, _ = env.reset()
        agent = self._made(self._seed)
        for number in range(LONGEST_ROUND):
            moment = _Moment.of(env, number, observations)
            actions = self._asked(agent, moment)
            if moment.over.all():
                return
            observations = env.step(actions).observations

    # Asking -------------------------------------------------------------------------------------------------

    def _asked(
        self, agent: Agent, moment: _Moment, rows: slice = slice(None), first_slot: int = 0
    ) -> Actions:
        """Return the actions that an agent chooses, after checking them."""
        slot_ids = moment.slot_ids[rows] + first_slot
        handed = (moment.observations[rows].copy(), moment.masks[rows].copy(), slot_ids.copy())
        states = moment.states[rows].copy()
        games = np.arange(len(moment.seats))[rows]
        try:
            actions = ask(agent, *handed, lambda: states, self._table.rulebook)
        except AgentError as error:
            raise ConformanceError(f"{error} [{moment.where(int(games[0]))}]") from None
        except Exception as error:
            raise self._failed(
                moment,
                int(games[0]),
                f"raised {type(error).__name__} when asked about {len(games)} rows: {error}",
            ) from error
        same = (
            np.array_equal(handed[0], moment.observations[rows])
            and np.array_equal(handed[1], moment.masks[rows])
            and np.array_equal(handed[2], slot_ids)
            and states.tobytes() == moment.states[rows].tobytes()
        )
        if not same:
            raise self._failed(
                moment,
                int(games[0]),
                "wrote to its arguments; let it work on a copy (`observations.copy()`)",
            )
        self._check_legal(moment, games, actions)
        return actions

    def _check_legal(self, moment: _Moment, games: npt.NDArray[np.int64], actions: Actions) -> None:
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            mask = moment.masks[game]
            if 0 <= action < len(mask) and mask[action]:
                continue
            if moment.over[game]:
                if action == SKIP:
                    continue
                raise self._failed(
                    moment,
                    game,
                    f"chose {action} although the round is over and the mask allows nothing; return -1 "
                    "there, for example np.where(action_masks.any(axis=1), actions, -1)",
                )
            legal = [moment.action(game, one) for one in np.flatnonzero(mask).tolist()]
            legal[MOST_NAMED:] = ["..."] * (len(legal) > MOST_NAMED)
            raise self._failed(
                moment,
                game,
                f"chose {moment.action(game, action)}, which is illegal; legal were {', '.join(legal)}: "
                "choose only where action_masks is 1",
            )

    def _failed(self, moment: _Moment, game: int, what: str) -> ConformanceError:
        return ConformanceError(f"{shown(self.player.name)} {what} [{moment.where(game)}]")

    # Comparing ----------------------------------------------------------------------------------------------

    def _compare_twin(self, moment: _Moment, actions: Actions) -> None:
        again = self._asked(self.twin, moment)
        if np.array_equal(again, actions):
            return
        game = int((again != actions).argmax())
        raise self._failed(
            moment,
            game,
            f"chose {moment.action(game, int(actions[game]))}, and made and asked again in the same way "
            f"{moment.action(game, int(again[game]))}: all its random numbers must come from its seed, and "
            "two agents must not share what they remember",
        )

    def _compare_pieces(self, moment: _Moment, actions: Actions) -> None:
        if self._is_made:
            for other in self.others:
                self._asked(other, moment, first_slot=len(self._memories))
        others = [self._asked(other, moment) for other in self.others]
        if self._is_random is None and any(not np.array_equal(other, actions) for other in others):
            self._is_random = True
        middle = len(actions) // 2
        again = actions.copy()
        for rows in (slice(middle, None), slice(1, middle), slice(0, min(1, middle))):
            if len(actions[rows]):
                again[rows] = self._asked(self.piecewise, moment, rows)
        if self._differs or np.array_equal(again, actions):
            return
        game = int((again != actions).argmax())
        self._differs = str(
            self._failed(
                moment,
                game,
                f"chose {moment.action(game, int(actions[game]))} in a batch of {len(actions)} rows, and "
                f"{moment.action(game, int(again[game]))} for the same row in a smaller batch: rows must not "
                "influence each other, and what it remembers it must keep for each of `slot_ids` (an agent "
                "that draws random numbers so seldom that other seeds changed nothing is checked with "
                "is_random=True)",
            )
        )

    def _compare_redeal(self, moment: _Moment, actions: Actions) -> None:
        """Compare the actions in the games as they are, and with the hidden cards dealt again."""
        compiled = is_compiled(self.player)
        if sees_hidden_cards(self.player) or not (compiled or is_state_agent(self.player)):
            return
        redealt = self._env.determinize(moment.seats, seed=moment.number)
        draws = np.random.default_rng([self._seed % 2**32, moment.number]).integers(2**32, size=len(actions))
        one, other = (self._chosen_from(states, moment, draws) for states in (moment.states, redealt))
        if compiled:
            self._memories[moment.slot_ids] = one[:, 1:]
        different = (one != other).any(axis=1) & ~moment.over
        if different.any():
            game = int(different.argmax())
            raise self._failed(
                moment,
                game,
                f"chose {moment.action(game, int(one[game, 0]))}, and "
                f"{moment.action(game, int(other[game, 0]))} after the cards that its seat cannot see were "
                "dealt again (or its memory differs): let it read only its own hand, the piles, the counts "
                "and `hidden`, or declare that it cheats (`sees_hidden_cards = True`)",
            )

    def _chosen_from(
        self, states: StateArray, moment: _Moment, draws: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return an agent's actions from the game states, and its memory afterwards, int64[N, ...]."""
        agent: Any = self.player
        if not is_compiled(agent):
            agent = self._made(self._seed)
            chosen: Actions = np.asarray(agent.act_on(states.copy(), moment.seats, moment.slot_ids))
            return chosen[:, np.newaxis]
        memories = self._memories[moment.slot_ids]
        chosen = np.zeros(len(states), np.int64)
        asked = np.flatnonzero(~moment.over)
        here, some = memories[asked], np.zeros(len(asked), np.int64)
        agent_kernels_of(self._table.rulebook).choose_each(
            agent.address,
            for_kernels(states[asked]),
            for_kernels(self._table.rulebook.rules_array(self._env.rules))[0],
            moment.seats[asked],
            here,
            agent.options,
            draws[asked],
            some,
        )
        chosen[asked], memories[asked] = some, here
        return np.column_stack([chosen, memories])
