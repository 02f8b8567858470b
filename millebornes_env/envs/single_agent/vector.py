"""N games as a `gymnasium.vector.VectorEnv`: one learner each, agents in all other seats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from millebornes_env._util.arguments import checked_seed, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env.envs.arrays import checked_actions
from millebornes_env.envs.options import autoreset_mode
from millebornes_env.envs.rendering import ALL_MODES, ANSI, HUMAN, RGB_ARRAY, checked_mode, rendered
from millebornes_env.envs.single_agent.env import SingleAgentEnv
from millebornes_env.envs.single_agent.games import MASK, LearnerGames, Observation, reject_unknown
from millebornes_env.envs.single_agent.opponents import OpponentSpec


class Pictures(Sequence[Any]):
    """Pictures of N games, rendered on first access."""

    def __init__(self, render: Callable[[int], Any], num_games: int) -> None:
        """Store the function that renders a game as it is now, and the number of games."""
        self._render, self._num_games = render, num_games
        self._rendered: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._num_games

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[game] for game in range(len(self))[index]]
        game = range(len(self))[index]
        if game not in self._rendered:
            self._rendered[game] = self._render(game)
        return self._rendered[game]


Step = tuple[
    Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
]


class SingleAgentVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """N games of Mille Bornes, or of another game, with one learner each; for `gymnasium.make_vec`.

    One compiled loop steps all games, including compiled agents in the other seats. Other agents are called
    with batches of all their decisions. Steps, rewards and infos are those of `SingleAgentEnv`, in arrays
    with a row per game. The end of an episode depends on Gymnasium's `autoreset_mode`:

    * SAME_STEP: the next episode begins in the step that ends one. `infos["final_obs"][i]` is the last
      observation of learner i; `infos["final_info"]` has `won`, `final_score`, `seat` and `illegal_action`,
      each with its mask (`_won` ...).
    * NEXT_STEP: the next step begins the next episode with a reward of 0, whatever the action (the mask is
      all 1).
    * DISABLED: `reset(options={"reset_mask": bool[N]})` begins the next episode.

    With the last two, `won`, `final_score` and `illegal_action` are in `infos` itself. Infos have the same
    keys after every call; where no episode has ended, `won` is nan and the others are 0. If the games draw
    sheets, `infos["sheet"]` has the number of each game's sheet, and `final_info` that of the last episode's.

    Attributes:
        games: the games and their opponents.
        autoreset_mode: same as in `metadata`; Gymnasium's own vector environments have this attribute, and
            TorchRL reads it.
    """

    metadata: dict[str, Any] = {
        "render_modes": [mode for mode in ALL_MODES if mode != HUMAN],
        "render_fps": 1,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponent: OpponentSpec = "random",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        num_threads: int = 1,
        copy: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Create N games that are stepped together.

        Args:
            num_envs: number of games, N.
            opponent: as in `SingleAgentEnv`.
            autoreset_mode: Gymnasium's `AutoresetMode`, or its name.
            num_threads: number of CPU threads that share the games, as in `vector_env`.
            copy: return new arrays from each step; with False, each step overwrites the arrays of the last
                one, which saves a few microseconds.
            render_mode: "ansi": `render` returns a text for each game; "svg": SVG texts; "rgb_array": pixels
                (needs the extra `pictures`). Pictures are rendered on access: `render()[0]`.
            **options: other options of `SingleAgentEnv`. With `seat=None`, the learner of game i has the seat
                `(i + episode) % players`.

        Raises:
            AgentError: no such opponent, or it does not play this game.
            OptionError: (also a `TypeError`) unknown option, or an invalid value.
            MilleBornesError: an argument is invalid; the subclass and the message say which one and why.
        """
        reject_unknown(options, type(self), SingleAgentEnv)
        mode = _mode(autoreset_mode)
        self.games = LearnerGames(num_envs, mode, opponent, num_threads=num_threads, **options)
        vector = self.games.vector
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.metadata["render_modes"] = vector.metadata["render_modes"]
        if render_mode is not None:
            checked_mode(render_mode, vector.game, type(self).metadata["render_modes"])
        self.render_mode = render_mode
        self.num_envs = vector.num_envs
        self.single_observation_space = self.games.observation_space
        self.single_action_space = vector.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copies = flag("copy", copy)
        self._everywhere, self._nowhere = np.ones(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        self._guard = Guard(reentrant=False)  # an opponent must not step this environment

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin episodes and play until the learners' first decisions.

        Args:
            seed: 0 to 2**64 - 1; it and the actions determine the games and the opponents' random numbers.
                None continues with the next episodes (at first, of a random seed).
            options: `{"reset_mask": bool[N]}` and `{"positions": [...]}`, as in `vector_env`.

        Returns:
            Observations and infos.

        Raises:
            OptionError: invalid seed, unknown option, or a mask of the wrong shape.
            AgentError: an opponent failed.
            CallError: after `close`.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.games.reset(seed, options, lambda: self.np_random)
        return self.games.observation(self._copies), self._infos(self._nowhere)

    @alone
    def set_opponent(self, opponent: OpponentSpec) -> None:
        """Replace the opponents, for example in self-play; a partner that was given stays.

        Args:
            opponent: as in `SingleAgentEnv`.

        Raises:
            AgentError: no such opponent, or it does not play this game.
            MilleBornesError: the opponent is invalid; the message says why.
        """
        self.games.set_opponent(opponent)

    @alone
    def step(self, actions: npt.ArrayLike) -> Step:
        """Apply the learners' actions, then the opponents' until every learner decides again.

        Args:
            actions: integers [N].

        Returns:
            Observations; rewards float64[N] since the last decision; terminations bool[N]; truncations
            bool[N], always False; infos.

        Raises:
            ActionError: the actions are not N integers.
            IllegalActionError: (or `ActionError`) an illegal action with `illegal_action="error"`; no game
                has been stepped.
            AgentError: an opponent failed; call `reset`.
            CallError: before the first `reset`, after `close`, or in a game that is over (no autoreset).
        """
        games, learners = self.games, self.games.learners
        games.step(games.without_negative(checked_actions(actions, self.num_envs)))
        observation = games.observation(self._copies)
        rewards, over, never = learners.each["reward"], learners.each["terminated"], games.buffers.truncations
        if self._copies:
            rewards, over, never = rewards.copy(), over.copy(), never.copy()
        return observation, rewards, over, never, self._infos(over)

    def _infos(self, over: npt.NDArray[np.bool_]) -> dict[str, Any]:
        mask, seat = self.games.buffers.action_mask, self.games.learners.each["seat"]
        if self._copies:
            mask, seat = mask.copy(), seat.copy()
        everywhere = self._everywhere.copy()
        shown = {MASK: mask, "seat": seat}
        if self.games.vector.draws_sheets:
            shown["sheet"] = self.games.vector.games.game_rules.sheet.copy()
        return {**shown, **{f"_{name}": everywhere for name in shown}, **self._ends(over)}

    def _ends(self, over: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos about episodes that ended in this step."""
        learners, ended = self.games.learners, over.copy()
        final: dict[str, Any] = {
            "won": np.where(ended, learners.each["won"], np.nan),
            "final_score": learners.final_score * ended[:, np.newaxis],
            "illegal_action": learners.each["illegal"] & ended,
        }
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            final["seat"] = learners.each["final_seat"] * ended
            if self.games.vector.draws_sheets:
                final["sheet"] = learners.each["final_sheet"] * ended
            final |= {f"_{name}": ended for name in final}
            observations = np.empty(self.num_envs, object)  # of None
            which = np.flatnonzero(ended)
            if which.size:
                for game, seen in zip(which.tolist(), self.games.final_observations(which), strict=True):
                    observations[game] = seen
            return {"final_obs": observations, "_final_obs": ended, "final_info": final, "_final_info": ended}
        return {**final, **{f"_{name}": ended for name in final}}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learners' action masks, bool[N, A]."""
        masks: npt.NDArray[np.bool_] = self.games.buffers.action_mask.astype(np.bool_)
        return masks

    def legal_actions(self, game: int = 0) -> dict[int, str]:
        """Return the ids and names of the legal actions of a game's learner; empty once the game has ended.

        Raises:
            OptionError: no such game.
            CallError: before the first `reset`.
        """
        return self.games.vector.legal_actions(game)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of an observation (`VectorEnv.columns`)."""
        return self.games.vector.columns

    def section(self, name: str) -> slice:
        """Return the columns of a section of an observation (`VectorEnv.section`)."""
        return self.games.vector.section(name)

    def render(self) -> Any:
        """Return each table, all hands shown, as a tuple of texts or as `Pictures`; None without a mode.

        `Pictures` renders on access: Gymnasium's `RecordVideo` only reads game 0, which takes about 30 ms.
        """
        vector, mode = self.games.vector, self.render_mode
        if mode is None:
            return None
        vector._check_ready("render")
        if mode == RGB_ARRAY:
            checked_mode(RGB_ARRAY, vector.game, vector.metadata["render_modes"])
        states, sheets = vector.get_states().view(np.recarray), vector.games.game_rules.sheet.tolist()

        def render(game: int) -> Any:
            return rendered(vector.game, states[game], vector.rules_of_sheet(sheets[game]), mode)

        pictures = Pictures(render, vector.num_envs)
        return tuple(pictures) if mode == ANSI else pictures

    def close_extras(self, **kwargs: Any) -> None:
        """Close the games; later calls raise `CallError`."""
        if "games" in vars(self):  # Gymnasium before 1.4 also calls this after a failed constructor
            self.games.vector.close()


_mode = autoreset_mode
