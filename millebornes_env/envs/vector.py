"""`vector_env`: N games stepped together, with arrays for all inputs and outputs.

Names follow Gymnasium (`num_envs`, `single_observation_space`, autoreset modes), semantics follow PettingZoo:
games are turn-based, and each row of a batch is a decision of the seat in `agent_selection`.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from millebornes_env._util.arguments import at_least_one, checked_index, checked_seed, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import NO_GAME, Batch, new_buffers
from millebornes_env.engine.kernels import SKIP, Buffers, key_of_seed
from millebornes_env.engine.layout import Section
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs import arrays
from millebornes_env.envs import options as check
from millebornes_env.envs.history import History, HistoryMixin
from millebornes_env.envs.illegal_action import illegal_action_error
from millebornes_env.envs.rendering import HUMAN, ViewMixin, modes_of
from millebornes_env.envs.spaces import spaces_of_one
from millebornes_env.errors import CallError, OptionError
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game
from millebornes_env.games.variants import Sheets, Split, sheets_of

Observations = dict[str, npt.NDArray[Any]]
"""`observation` int8[N, D], `action_mask` int8[N, A] and `agent_selection` int32[N]."""

Infos = dict[str, Any]
"""Arrays by name, each with a mask `_name`, bool[N]: True for the games in which it is valid."""


class Step(NamedTuple):
    """The results of a step; the arrays belong to the environment and are overwritten by the next step."""

    observations: Observations
    rewards: npt.NDArray[np.float32]
    terminations: npt.NDArray[np.bool_]
    truncations: npt.NDArray[np.bool_]
    infos: Infos


class VectorEnv(ViewMixin, HistoryMixin):
    """N games of Mille Bornes, or of another game, in one object.

    Each game waits for one seat's decision. `step` applies one action per game and returns the observations
    and action masks of the seats that act next. `step` allocates nothing: **the returned arrays are
    overwritten by the next call**, so copy what you keep.

    Use an environment from one Python thread at a time: overlapping calls raise `CallError`. With
    `num_threads`, the environment splits its games among its own threads. A process forked later falls back
    to one thread, with a warning; start processes with "spawn" (docs/environment/environments.md).

    Attributes:
        num_envs: number of games, N.
        edition: rule sheet, or the `games.variants.Split` that games draw their sheets from.
        game: registry entry of the game.
        rules: rules of this table; if games draw sheets, the largest values (`rules_of` has a game's own).
        players: seats at the table, S.
        teams: teams at the table, T; the team of a seat is `seat % teams`.
        possible_agents: names of the seats, `player_0` ...
        observation_spec: options of the observation.
        observation_sections: the layout of an observation (name, start, size, high, meaning, owner).
        columns: name of each number in an observation.
        state_sections: the layout of `state()`.
        single_observation_space: space of one game: `observation` int8[D], `action_mask` int8[A] and
            `agent_selection`.
        single_action_space: `Discrete(A)`.
        metadata: `autoreset_mode` and `render_modes`.
        games: engine that holds the games.
        history: events of the games (`envs.history.History`); None without `history=True`.
    """

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        num_envs: int = 1,
        edition: Sheets = "parker",
        *,
        players: int = 2,
        teams: int | None = None,
        episode: str = check.USUAL,
        reward: str = check.USUAL,
        seed: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        observe_unseen: bool = True,
        observe_rules: bool | None = None,
        padded: bool = False,
        illegal_action: str = "error",
        num_threads: int = 1,
        buffers: Buffers | None = None,
        history: bool = False,
    ) -> None:
        """Create N games that are stepped together.

        Args:
            num_envs: number of games, N.
            edition: name of a rule sheet (`editions()` lists those of Mille Bornes), path of your own sheet,
                or an `Edition`; the sheet determines the game. With a split ("variants-v1:train",
                docs/research/variants.md), a list of sheets, or a function from a number to a sheet, each
                game draws one of the sheets whenever an episode begins, with its own key.
            players: seats at the table.
            teams: teams at the table; None for the sheet's default at this number of players.
            episode: "round", one deal to its scoring; "match", rounds until a team has 5,000 points; or
                "usual", the game's default, here "round". Other games have other episodes and rewards.
            reward: "points", at the end of each round the team's points minus the other teams' mean, in
                thousands; "win", at the end of the episode 1 to the winner and -1 shared by the others
                (shared wins: docs/agents/training.md); or "usual", the game's default, here "points".
            seed: seed of a `reset()` without one; None for a random seed.
            autoreset_mode: as in Gymnasium. SAME_STEP begins the next episode in the step that ends one,
                NEXT_STEP in the step after it; with DISABLED, call `reset(options={"reset_mask": ...})`.
            observe_unseen: append the counts of unseen cards to the observation.
            observe_rules: append the table's rules to the observation, so that one network can learn several
                editions; None: only if the games draw sheets.
            padded: use the layout of the largest table (8 seats, 4 teams) for observations, masks and
                `state()`, with zeros for missing seats and teams, so that one network fits all tables.
            illegal_action: "error" raises an error that names the game, seat and action; "terminate" ends
                the game with a reward of -1 to the seat that acted.
            num_threads: number of CPU threads that share the games, up to 1,024; results do not depend on it.
            buffers: your own arrays for steps to write to (shapes: `engine.batch.new_buffers`); no two may
                share memory.
            history: record the events of each game, for `information_states`
            (docs/research/hidden_information.md).

        Raises:
            TypeError: unknown option.
            MilleBornesError: an argument is invalid; the subclass and the message say which one and why.
        """
        self.num_envs = at_least_one("num_envs", num_envs, check.MAX_NUM_ENVS, OptionError)
        self.edition: Any = sheets_of(edition)  # Any: each game has classes of its own
        self.draws_sheets = isinstance(self.edition, Split)
        self.rules: Any = self.edition.table(players, teams)
        records = self.edition.records(players, teams) if self.draws_sheets else None
        game, rulebook = self.game, self.game.module()
        self.players, self.teams = self.rules.players, self.rules.teams
        self.possible_agents = [f"player_{seat}" for seat in range(self.players)]
        mode = check.autoreset_mode(autoreset_mode)
        self.observation_spec = game.observation_spec(
            observe_unseen=observe_unseen,
            observe_rules=self.draws_sheets if observe_rules is None else observe_rules,
            padded=padded,
        )
        self.settings = check.settings(
            rulebook,
            episode=episode,
            reward=reward,
            mode=mode,
            observation_spec=self.observation_spec,
            illegal_action=illegal_action,
        )
        self.episode = rulebook.EPISODES[self.settings.episode]
        self.reward = rulebook.REWARDS[self.settings.reward]
        self.metadata: dict[str, Any] = {"name": f"{game.name}_v0", "autoreset_mode": mode}
        self.metadata["render_modes"] = [mode for mode in modes_of(game) if mode != HUMAN]
        self.observation_version = game.version()
        spec, sections = self.observation_spec, cast("Any", rulebook)  # accepts sections of any class
        self.observation_sections: tuple[Section, ...] = tuple(sections.sections(self.rules, spec))
        self.state_sections: tuple[Section, ...] = tuple(sections.full_state_sections(self.rules, spec))
        self._next_seed = None if seed is None else checked_seed(seed)
        threads = at_least_one("num_threads", num_threads, check.MAX_THREADS, OptionError)
        check.check_memory(rulebook, self.num_envs, self.rules, self.settings)
        try:
            actions = rulebook.action_count(self.rules, self.observation_spec)
            spaces = spaces_of_one(self.observation_sections, actions, self.players)
            self.single_observation_space, self.single_action_space = spaces
            own = new_buffers(rulebook, self.num_envs, self.rules, self.settings)
            if buffers is not None:
                own = arrays.checked_buffers(buffers, own)
                # NumPy refuses to resize an array that is weakly referenced; kernels write to its memory.
                self._pins = [weakref.ref(array) for array in buffers]
            self.games = Batch(rulebook, self.num_envs, self.rules, self.settings, own, threads, records)
            has_history = flag("history", history)
            self.history = History(game, self.rules, self.num_envs) if has_history else None
        except MemoryError:
            raise check.too_many_games(self.num_envs, "need more memory than there is") from None
        self._actions_like = np.broadcast_to(np.int64(0), self.num_envs)
        self._sampling_key = (0, 0)
        self._samples_drawn = 0
        self._bind_buffers()
        self._was_reset = False
        self.closed = False
        self._guard = Guard()

    # Made when they are asked for: the bounds of all numbers take two thirds of the memory of the games.
    @functools.cached_property
    def observation_space(self) -> gymnasium.Space[Any]:
        """Space of the observations of all games."""
        return batch_space(self.single_observation_space, self.num_envs)

    @functools.cached_property
    def action_space(self) -> gymnasium.Space[Any]:
        """Space of the actions of all games."""
        return batch_space(self.single_action_space, self.num_envs)

    def _bind_buffers(self) -> None:
        # Views: reshaping an array that a step returned must not change the array that kernels write to.
        buffers = Buffers._make(array.view() for array in self.games.buffers)
        self._observations: Observations = {
            "observation": buffers.observation,
            "action_mask": buffers.action_mask,
            "agent_selection": buffers.agent_selection,
        }
        ended = buffers.terminations
        self._infos: Infos = {
            "final_score": buffers.final_score,
            "_final_score": ended,
            "final_winner": buffers.final_winner,
            "_final_winner": ended,
            "final_obs": buffers.final_observation,
            "_final_obs": ended,
        }
        if self.draws_sheets:
            _, _, sheet, final_sheet = self.games.game_rules
            all_games = np.ones(self.num_envs, np.bool_)
            self._infos |= {"sheet": sheet.view(), "_sheet": all_games}
            self._infos |= {"final_sheet": final_sheet.view(), "_final_sheet": ended}
        self._step = Step(
            self._observations, buffers.rewards, buffers.terminations, buffers.truncations, self._infos
        )

    @property
    def game(self) -> Game:
        """Registry entry of the game."""
        return find_game(self.edition.game)

    @alone
    def rules_of(self, game: int = 0) -> Any:
        """Return the rules of a game, which can differ from other games' only if the games draw sheets.

        Raises:
            OptionError: no such game.
        """
        number = self.games.game_rules.sheet[checked_index("game", game, self.num_envs)]
        return self.rules_of_sheet(int(number))

    def rules_by_game(self, states: StateArray) -> list[tuple[Any, npt.NDArray[np.int64]]]:
        """Return the rules of records, each with the indices of the records that follow them."""
        sheets = self.games.sheets_of(states)
        each = ((number, np.flatnonzero(sheets == number)) for number in set(sheets.tolist()))
        return [(self.rules_of_sheet(number), games) for number, games in each]

    def sheet(self, number: int) -> Any:
        """Return a sheet that games draw, by its number in `infos["sheet"]`.

        If the games do not draw sheets, the only one is returned for every number.
        """
        return self.edition.sheet(number) if self.draws_sheets else self.edition

    def rules_of_sheet(self, number: int) -> Any:
        """Return the rules of such a sheet at this table."""
        return self.sheet(number).table(self.players, self.teams) if self.draws_sheets else self.rules

    def _sheet_of_one(self) -> dict[str, int]:
        """Return the number of the first game's sheet as an info, if games draw sheets."""
        return {"sheet": int(self.games.game_rules.sheet[0])} if self.draws_sheets else {}

    @property
    def agent_selection(self) -> npt.NDArray[np.int32]:
        """Seat to act in each game, int32[N]."""
        return self._observations["agent_selection"]

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin a new episode in all games, or in selected ones.

        Args:
            seed: 0 to 2**64 - 1; it and the actions determine all later results. With None, the first call
                uses the constructor's seed or a random one; later calls continue with each game's next
                episode.
            options: `{"reset_mask": bool[N]}` begins new episodes only where it is True.
                `{"positions": [...]}` begins at positions instead of a deal: one for each game to reset, or a
                single one for all, as text (docs/environment/records.md) or `notation.Position`. If a
                position has no key, the game keeps its own, so its later episodes do not change.

        Returns:
            Observations and infos, as from `step`.

        Raises:
            OptionError: invalid seed or mask, unknown option, positions of another table, or positions for a
                game without a text notation.
            NotationError: a text is not a valid position.
            CallError: after `close`, or if the first reset has a mask.
        """
        self._check_open()
        if self.draws_sheets and options is not None and "positions" in options:
            raise OptionError(
                f"the games draw their sheets from {self.edition.name!r}, so they cannot begin at positions: "
                f"make an environment with one sheet, such as edition={self.sheet(0).label!r}"
            )
        request = check.reset_options(
            options, self.num_envs, check.Table(self.game, self.edition, self.rules)
        )
        if seed is not None:
            seed = checked_seed(seed)
            if not request.chosen.all():
                raise OptionError("a seed resets all games: give either seed or reset_mask, not both")
        elif not self._was_reset:
            seed = self._next_seed
            if seed is None:
                seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if not self._was_reset and not request.chosen.all():
            raise CallError("the first reset must reset all games: call reset() without a reset_mask")
        if seed is not None:
            self.games.seed(seed)
            self._sampling_key = key_of_seed(seed)
            self._samples_drawn = 0
        self.games.start(request.chosen)
        if request.positions:
            request.write_positions(self.games.states)
            self.games.write_decisions()
        if self.history is not None:
            self.history.begin(self.games, request.chosen, is_dealt=not request.positions)
        self._was_reset = True
        return self._observations, self._infos

    @alone
    def step(self, actions: npt.ArrayLike) -> Step:
        """Apply one action in every game.

        Args:
            actions: integers [N]; -1 leaves a game as it is, with no reward.

        Returns:
            Observations of the seats that act next; rewards float32[N, S] of all seats in this step;
            terminations bool[N], True where the episode ended in this step; truncations bool[N], always
            False; infos: `final_score` int16[N, T], `final_winner` int8[N] (the team, or -1 if shared; see
            `Batch.win_shares`) and `final_obs` int8[N, S, D], valid where `terminations` is True. If games
            draw sheets, also `sheet` int32[N], the number of each game's sheet, and `final_sheet` int32[N],
            that of the episode that ended.

        Raises:
            ActionError: the actions are not N integers, or an id is out of range.
            IllegalActionError: the rules forbid an action. After either error, no game has been stepped.
            CallError: before the first `reset`, after `close`, in a game that has ended (autoreset disabled),
                or during another call of this environment (as in all methods that read or change the games).
        """
        self._check_ready("step")
        checked = arrays.checked_actions(actions, self.num_envs)
        illegal = self.games.step(checked)
        if illegal != NO_GAME:
            state, action = self.games.states[illegal], int(np.asarray(actions)[illegal])
            names = self.possible_agents
            rules = self.rules_of(illegal)
            raise illegal_action_error(self.games.rulebook, state, rules, names, action, illegal)
        if self.history is not None:
            self.history.record(self.games, checked)
        return self._step

    @alone
    def sample_actions(self, out: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Sample a uniformly random legal action for each game; -1 (no step) where a game has ended.

        The result depends only on the seed, the number of calls and the states.

        Args:
            out: C-contiguous int64[N] to write to; None for a new array.

        Raises:
            OptionError: `out` is not such an array.
            CallError: before the first `reset`.
        """
        self._check_ready("sample_actions")
        target = None if out is None else arrays.checked_output("out", out, self._actions_like)
        self._samples_drawn += 1
        sampled = self.games.sample(self._sampling_key, self._samples_drawn, target)
        return sampled if out is None else out

    @alone
    def observe(self, seats: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the observations of the given seats, in or out of turn.

        Args:
            seats: one seat for all games, or integers [N].

        Returns:
            int8[N, D].

        Raises:
            OptionError: no such seat.
            CallError: before the first `reset`.
        """
        self._check_ready("observe")
        observation = np.zeros_like(self.games.buffers.observation)
        checked = arrays.checked_seats(seats, self.num_envs, self.players)
        self.games.observe(checked, observation)
        return observation

    @alone
    def determinize(self, seats: npt.ArrayLike, seed: int = 0) -> StateArray:
        """Resample everything that is hidden from one seat of each game.

        Other hands and the draw pile are dealt again from the cards that the seat cannot see. All consistent
        deals are equally probable; inferences from the other seats' play are ignored. The deals of later
        rounds are new, too, except where games draw their sheets, with the same key as their deals.

        Args:
            seats: one seat for all games, or integers [N]; `env.agent_selection` for the seats to act.
            seed: seed of the deals, 0 to 2**64 - 1.

        Returns:
            `STATE[N]`, for `set_states` of an environment of the same table. This environment is unchanged.

        Raises:
            OptionError: no such seat, or an invalid seed.
            CallError: before the first `reset`.
        """
        self._check_ready("determinize")
        checked = arrays.checked_seats(seats, self.num_envs, self.players)
        return self.games.determinize(checked, key_of_seed(checked_seed(seed, or_none=False)))

    @alone
    def state(self) -> npt.NDArray[np.int8]:
        """Return the full state, including hidden cards and the draw pile, for privileged critics.

        Returns:
            int8[N, K] from the viewpoint of the seat to act; `state_sections` is the layout.

        Raises:
            CallError: before the first `reset`.
            OptionError: games draw sheets, and observations neither show the rules nor are padded.
        """
        self._check_ready("state")
        spec = self.observation_spec
        if self.draws_sheets and not (spec.padded or spec.rules):
            raise OptionError(
                "state() has no common layout for games that draw sheets: make the environment with "
                "observe_rules=True or padded=True"
            )
        return self.games.full_states()

    @alone
    def get_states(self) -> StateArray:
        """Return a copy of all game records, `STATE[N]`, for `set_states`."""
        self._check_ready("get_states")
        return self.games.states.copy()

    @alone
    def set_states(self, states: StateArray, history: History | None = None) -> Observations:
        """Continue from records that `get_states` of an environment of the same table returned.

        Args:
            states: `STATE[N]`; with autoreset SAME_STEP, no game in it may have ended.
            history: `env.history.copy()`, taken with the states; None: with `history=True`, information
                states begin here.

        Returns:
            Observations of the new states.

        Raises:
            StateError: not such an array, or a record is not a valid state of this table.
            OptionError: the game has no audit to check the records with; or the history is of other games, or
                this environment has none.
            CallError: after `close`.
        """
        self._check_open()
        checked = arrays.checked_states(states, self.num_envs, self.game, self.rules_by_game, self.settings)
        restored = None if history is None else self._checked_history(history)
        self.games.load(checked)
        if restored is not None:
            self.history = restored.copy_for(self.games)
        elif self.history is not None:
            self.history.begin(self.games, np.ones(self.num_envs, np.bool_), is_dealt=False)
        self._was_reset = True
        return self._observations

    @alone
    def clone(self) -> VectorEnv:
        """Return an independent copy of the environment and all its games."""
        return copy.deepcopy(self)

    @alone
    def __deepcopy__(self, memo: dict[int, object]) -> VectorEnv:
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        copied.games = self.games.clone()
        copied.history = None if self.history is None else self.history.copy_for(copied.games)
        copied.metadata = dict(self.metadata)
        for space in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
            if space in vars(self):
                setattr(copied, space, copy.deepcopy(vars(self)[space]))
        copied._guard = Guard()
        copied._bind_buffers()
        return copied

    @alone
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pins"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._bind_buffers()
        if self.history is not None:
            self.history.remember(self.games)

    def close(self) -> None:
        """Close the environment; later calls raise `CallError`."""
        self.closed = True

    def _check_ready(self, method: str) -> None:
        if self.closed or not self._was_reset:
            self._check_open()
            raise CallError(f"{method}() was called before reset(): call reset() first")

    def _check_open(self) -> None:
        if self.closed:
            raise CallError("the environment is closed: make a new one")


vector_env = VectorEnv
"""Create N games that are stepped together; the arguments are those of `VectorEnv`."""

__all__ = ["SKIP", "Infos", "Observations", "Step", "VectorEnv", "vector_env"]
