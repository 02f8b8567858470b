"""`vector_env`: N games at once, an array for everything.

Gymnasium's words (`num_envs`, `single_observation_space`, autoreset modes) with PettingZoo's meaning: the
games are turn-based, and each row of a batch is the decision of the seat named in `agent_selection`.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env._util.arguments import checked_seed, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import NO_GAME, Batch, new_buffers
from millebornes_env.engine.kernels import SKIP, Buffers, key_of_seed
from millebornes_env.engine.layout import Section
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs import arrays
from millebornes_env.envs import options as check
from millebornes_env.envs.history import History, HistoryMixin
from millebornes_env.envs.illegal_action import illegal_action_error
from millebornes_env.envs.in_words import DescribeMixin
from millebornes_env.envs.rendering import HUMAN, RenderMixin, modes_of
from millebornes_env.envs.spaces import batched, spaces_of_one
from millebornes_env.errors import CallError, OptionError
from millebornes_env.games.registry import Game, Sheet
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game

Observations = dict[str, npt.NDArray[Any]]
"""`observation` int8[N, D], `action_mask` int8[N, A] and `agent_selection` int32[N]."""

Infos = dict[str, Any]
"""Arrays by name, with a boolean `_name` beside each that says in which games it is valid."""


class Step(NamedTuple):
    """The results of a step; the arrays belong to the environment and are overwritten by the next step."""

    observations: Observations
    rewards: npt.NDArray[np.float32]
    terminations: npt.NDArray[np.bool_]
    truncations: npt.NDArray[np.bool_]
    infos: Infos


class VectorEnv(RenderMixin, DescribeMixin, HistoryMixin):
    """N games of Mille Bornes, or of another game, in one object.

    Each game waits for one seat's decision. `step` takes an action for every game, carries it out and returns
    what the seat that decides next sees and may do. Nothing is allocated in `step`: **the arrays that it
    returns are overwritten by the next call**, so copy what you keep.

    One environment serves one Python thread at a time: a call that comes while another is under way raises
    `CallError`. `num_threads` shares the games of one environment among threads of its own; in a
    process that was forked after that, it is taken as 1, with a warning: start processes with "spawn"
    (docs/threads.md).

    Attributes:
        num_envs: number of games, N.
        edition: the rule sheet that is played.
        game: its game's entry in the table of games.
        rules: its rules at this table.
        players: seats at the table, S.
        teams: teams at the table, T; the team of a seat is `seat % teams`.
        possible_agents: the seats' names, `player_0` ...
        observation_spec: what an observation shows.
        observation_sections: the layout of an observation (name, start, size, high, meaning, owner).
        columns: a name for each number of an observation.
        state_sections: the layout of `state()`.
        single_observation_space: of one game: `observation` int8[D], `action_mask` int8[A] and
            `agent_selection`.
        single_action_space: `Discrete(A)`.
        observation_space: of the batch.
        action_space: of the batch.
        metadata: `autoreset_mode` and `render_modes`.
        games: the engine.
        history: the events of the games (`envs.history.History`); None without `history=True`.
    """

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        num_envs: int = 1,
        edition: str | Sheet = "parker",
        *,
        players: int = 2,
        teams: int | None = None,
        episode: str = check.USUAL,
        reward: str = check.USUAL,
        seed: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        observe_unseen: bool = True,
        observe_rules: bool = False,
        padded: bool = False,
        illegal_action: str = "error",
        num_threads: int = 1,
        buffers: Buffers | None = None,
        history: bool = False,
    ) -> None:
        """Make N games that are stepped together.

        Args:
            num_envs: number of games, N.
            edition: name of a rule sheet (`editions()` lists Mille Bornes'), the path of one of your own,
                or an `Edition`. The sheet says which game is played.
            players: seats at the table.
            teams: teams at the table; None for the sheet's default with this number of players.
            episode: "round", one deal to its scoring, or "match", rounds until a team has 5,000 points;
                "usual" is the game's usual one, here "round". Other games have other episodes and rewards.
            reward: "points", at the end of each round the team's points less the mean of the other teams', in
                thousands; or "win", at the end of the episode 1 to the winner and -1 shared by the others
                (a shared win: docs/training.md). "usual" is the game's usual one, "points".
            seed: what `reset()` without a seed starts from; None draws one by chance.
            autoreset_mode: as in Gymnasium: SAME_STEP begins the next episode in the step that ends one,
                NEXT_STEP in the step after it, DISABLED leaves it to `reset(options={"reset_mask": ...})`.
            observe_unseen: append the counts of the cards not in sight to the observation.
            observe_rules: append the table's rules to it, so that one network can learn several editions.
            padded: give observations, masks and `state()` the layout of the largest table (8 seats, 4 teams),
                with zeros where this one has no seat or team, so that one network fits all tables.
            illegal_action: "error" raises one that names the game, the seat and the play; "terminate" ends
                the game with a reward of -1 to the offender.
            num_threads: CPU threads to share the games among, up to 1,024; results do not depend on it.
            buffers: arrays of your own that steps write to (`engine.batch.new_buffers` shows the shapes);
                no two may share memory.
            history: keep the events of each game, for `information_states` (docs/hidden_information.md).

        Raises:
            TypeError: an option that does not exist.
            MilleBornesError: one of its subclasses says what is wrong with which argument.
        """
        self.num_envs = check.checked_num_envs(num_envs)
        self.edition: Any = find_edition(edition)  # Any: each game has classes of its own
        self.rules: Any = self.edition.table(players, teams)
        game, rulebook = self.game, self.game.module()
        self.players, self.teams = self.rules.players, self.rules.teams
        self.possible_agents = [f"player_{seat}" for seat in range(self.players)]
        mode = check.autoreset_mode(autoreset_mode)
        self.observation_spec = game.observation_spec(
            observe_unseen=observe_unseen, observe_rules=observe_rules, padded=padded
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
        spec, sections = self.observation_spec, cast("Any", rulebook)  # sections of any class do
        self.observation_sections: tuple[Section, ...] = tuple(sections.sections(self.rules, spec))
        self.state_sections: tuple[Section, ...] = tuple(sections.full_state_sections(self.rules, spec))
        self._next_seed = None if seed is None else checked_seed(seed)
        threads = check.checked_num_threads(num_threads)
        check.check_memory(rulebook, self.num_envs, self.rules, self.settings)
        try:
            self._make_spaces(rulebook.action_count(self.rules, self.observation_spec))
            ours = new_buffers(rulebook, self.num_envs, self.rules, self.settings)
            if buffers is not None:
                ours = arrays.checked_buffers(buffers, ours)
                # NumPy resizes no array, whose memory kernels write to, that is weakly referenced.
                self._pins = [weakref.ref(array) for array in buffers]
            self.games = Batch(rulebook, self.num_envs, self.rules, self.settings, ours, threads)
            is_kept = flag("history", history)
            self.history = History(game, self.rules, self.num_envs) if is_kept else None
        except MemoryError:
            raise check.too_many_games(self.num_envs, "need more memory than there is") from None
        self._actions_like = np.broadcast_to(np.int64(0), self.num_envs)
        self._sampling_key = (0, 0)
        self._samples_drawn = 0
        self._bind_buffers()
        self._was_reset = False
        self.closed = False
        self._guard = Guard()

    def _make_spaces(self, actions: int) -> None:
        spaces = spaces_of_one(self.observation_sections, actions, self.players)
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space, self.action_space = batched(spaces, self.num_envs)

    def _bind_buffers(self) -> None:
        # Views: who gives an array that a step returned another shape does not change what kernels write to.
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
        self._step = Step(
            self._observations, buffers.rewards, buffers.terminations, buffers.truncations, self._infos
        )

    @property
    def game(self) -> Game:
        """The game's entry in the table of games."""
        return find_game(self.edition.game)

    @property
    def agent_selection(self) -> npt.NDArray[np.int32]:
        """The seat that decides in each game, int32[N]."""
        return self._observations["agent_selection"]

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin a new episode in every game, or in those chosen.

        Args:
            seed: 0 to 2**64 - 1: the games and all that follows are a function of it and of the plays.
                None: the first time the constructor's seed, or one drawn by chance; later the next episodes
                of the same games.
            options: `{"reset_mask": bool[N]}` begins new episodes in those games only.
                `{"positions": [...]}`: where they begin instead of with a deal, one position for each of
                them or one alone for all, as text (docs/notation.md) or `notation.Position`. A position
                without a key keeps the game's own, so that the episodes that follow are the game's.

        Returns:
            Observations and infos, as from `step`.

        Raises:
            OptionError: the seed is not one; an unknown option, a mask of the wrong shape, or positions that
                are not the table's; or positions were given, but the game has no text notation.
            NotationError: a text is not a valid position.
            CallError: after `close`.
        """
        self._check_open()
        request = check.reset_options(
            options, self.num_envs, check.Table(self.game, self.edition, self.rules)
        )
        if seed is not None:
            seed = checked_seed(seed)
            if not request.chosen.all():
                raise OptionError("a seed restarts all games: give either seed or reset_mask, not both")
        elif not self._was_reset:
            seed = self._next_seed
            if seed is None:
                seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if not self._was_reset and not request.chosen.all():
            raise CallError("the first reset begins all games: call reset() without a reset_mask")
        if seed is not None:
            self.games.seed(seed)
            self._sampling_key = key_of_seed(seed)
            self._samples_drawn = 0
        self.games.start(request.chosen)
        if request.positions:
            request.set_up(self.games.states)
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
            Observations of the seats that decide next; rewards float32[N, S] of this step to every seat;
            terminations bool[N], whether the episode ended in this step; truncations bool[N], never;
            infos: `final_score` int16[N, T], `final_winner` int8[N] (team, -1: shared:
            `Batch.win_shares`) and `final_obs` int8[N, S, D], valid where `terminations`.

        Raises:
            ActionError: the actions are not N integers.
            IllegalActionError: an action that the rules do not allow (or `ActionError`, one that names
                no play); no game has been stepped.
            CallError: before the first `reset`, after `close`, in a game that has ended (autoreset disabled),
                or during another call of this environment (as all methods that read or change the games).
        """
        self._check_ready("step")
        checked = arrays.checked_actions(actions, self.num_envs)
        illegal = self.games.step(checked)
        if illegal != NO_GAME:
            state, action = self.games.states[illegal], int(np.asarray(actions)[illegal])
            names = self.possible_agents
            raise illegal_action_error(self.games.rulebook, state, self.rules, names, action, illegal)
        if self.history is not None:
            self.history.record(self.games, checked)
        return self._step

    @alone
    def sample_actions(self, out: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Sample a legal action for each game, uniformly; -1 (no step) where a game has ended.

        They are a function of the seed and of the number of calls.

        Args:
            out: int64[N] to write to, C-contiguous; None makes a new array.

        Raises:
            OptionError: `out` is no such array.
            CallError: before the first `reset`.
        """
        self._check_ready("sample_actions")
        target = None if out is None else arrays.checked_output("out", out, self._actions_like)
        self._samples_drawn += 1
        sampled = self.games.sample(self._sampling_key, self._samples_drawn, target)
        return sampled if out is None else out

    @alone
    def observe(self, seats: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the observations of the given seats, whether it is their turn or not.

        Args:
            seats: one seat for all games, or integers [N].

        Returns:
            int8[N, D].

        Raises:
            OptionError: a seat that the table does not have.
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

        The cards that the seat cannot see, other hands and the draw pile, are dealt again; every consistent
        deal is equally probable. What the seat might infer from how others played is not considered.

        Args:
            seats: one seat for all games, or integers [N]; `env.agent_selection` for those that decide.
            seed: of the deals, 0 to 2**64 - 1.

        Returns:
            `STATE[N]`, for `set_states` of an environment of the same table; this one is not changed.

        Raises:
            OptionError: a seat that the table does not have; or the seed is not one.
            CallError: before the first `reset`.
        """
        self._check_ready("determinize")
        checked = arrays.checked_seats(seats, self.num_envs, self.players)
        return self.games.determinize(checked, key_of_seed(checked_seed(seed, or_none=False)))

    @alone
    def state(self) -> npt.NDArray[np.int8]:
        """Return the full state, including hidden cards and the draw pile, for privileged critics.

        Returns:
            int8[N, K], seen from the seat that decides; `state_sections` is the layout.

        Raises:
            CallError: before the first `reset`.
        """
        self._check_ready("state")
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
            states: `STATE[N]`; games that have ended only where they wait (not with autoreset SAME_STEP).
            history: what `env.history.copy()` was there; None: with `history=True`, keys begin here.

        Returns:
            The observations there.

        Raises:
            StateError: not such an array, or a record that no game of this table can be in.
            OptionError: the game has no audit to check them with; or a history of other games, or where the
                environment keeps none.
            CallError: after `close`.
        """
        self._check_open()
        checked = arrays.checked_states(states, self.num_envs, self.game, self.rules, self.settings)
        kept = None if history is None else self._checked_history(history)
        self.games.states[:] = checked
        self.games.write_decisions()
        if kept is not None:
            self.history = kept.copy_for(self.games)
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
            setattr(copied, space, copy.deepcopy(getattr(self, space)))
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
            raise CallError("the environment was closed: make a new one")


vector_env = VectorEnv
"""Make N games that are stepped together; the arguments are those of `VectorEnv`."""

__all__ = ["SKIP", "Infos", "Observations", "Step", "VectorEnv", "vector_env"]
