"""One game as a `gymnasium.Env`: one learner, agents in all other seats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env._util.arguments import action_number, checked_seed
from millebornes_env._util.guard import Guard, alone
from millebornes_env._util.texts import print_text
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.rendering import ALL_MODES, HUMAN, checked_mode, modes_of
from millebornes_env.envs.single_agent.games import MASK, LearnerGames, Observation, reject_unknown
from millebornes_env.envs.single_agent.opponents import OpponentSpec
from millebornes_env.errors import ActionError, shown
from millebornes_env.games.variants import Sheets

_FAR = 2**31  # larger than any action id, and fits into int64


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """One game of Mille Bornes, or of another game, in which one seat learns; for `gymnasium.make`.

    A step leads from a decision of the learner to its next one or to the end of the episode; agents play the
    other seats inside `step`. The reward is the sum of the learner's rewards in between. Observations are
    those of `vector_env` for the learner's seat. `info` has

    * `action_mask`: int8[A], 1 for legal actions; all 1 after the end of the episode, where the action is
      ignored (wrappers that reset one step later still sample one);
    * `seat`: seat of the learner;
    * `won`: 1, 0, or 1 / k if k teams share the win; nan before the end of the episode;
    * `final_score`: int16[T], points of all teams; 0 before the end of the episode;
    * `illegal_action`: True if an illegal action of the learner ended the episode;
    * `sheet`: number of the rule sheet, only if the games draw sheets.

    Attributes:
        games: the game and its opponents.
    """

    metadata: dict[str, Any] = {"render_modes": ALL_MODES, "render_fps": 1}

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        opponent: OpponentSpec = "random",
        *,
        partner: Any = None,
        seat: int | None = None,
        edition: Sheets = "parker",
        players: int = 2,
        teams: int | None = None,
        episode: str = USUAL,
        reward: str = USUAL,
        observe_mask: bool = False,
        scaled: bool = False,
        observe_unseen: bool = True,
        observe_rules: bool | None = None,
        padded: bool = False,
        illegal_action: str = "terminate",
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        """Create the environment.

        Args:
            opponent: player of the other seats: an agent; a spec for `agents.load`, such as "strategist" or
                the path of a run folder; a function from observations int8[N, D] and masks int8[N, A] to
                actions [N]; a model with `predict(observation, action_masks=...)`, such as MaskablePPO, which
                gets observations in the learner's format; or a list with one of these for each other seat,
                from the learner's left on, or for each other team.
            partner: player of the other seats in the learner's team; None for the (first) opponent.
            seat: learner's seat, 0 to `players` - 1; None cycles through the seats from episode to episode,
                so that the learner learns all of them and no seat's advantage biases the results.
            edition: as in `vector_env`: a rule sheet, or a split or list from which each episode draws one.
            players: seats at the table.
            teams: teams at the table; None for the sheet's default.
            episode: as in `vector_env`.
            reward: as in `vector_env`.
            observe_mask: return observations as dictionaries of `observation` and `action_mask`.
            scaled: return observations as float32, each number divided by its maximum.
            observe_unseen: as in `vector_env`.
            observe_rules: as in `vector_env`.
            padded: as in `vector_env`.
            illegal_action: "terminate" ends the episode with a reward of -1, because Gymnasium allows any
                action of the action space; "error" raises an error that names the action.
            render_mode: "ansi": `render` returns text; "human": the table is printed after every step; "svg":
                `render` returns SVG text; "rgb_array": pixels. Without the extra `pictures`, only `render`
                raises, not the constructor, because Stable-Baselines3 always sets "rgb_array".
            **unknown: unknown options, which raise an error.

        Raises:
            AgentError: no such opponent, or it does not play this game.
            OptionError: (also a `TypeError`) unknown option, or an invalid value.
            MilleBornesError: an argument is invalid; the subclass and the message say which one and why.
        """
        reject_unknown(unknown, type(self))
        self.games = LearnerGames(
            1,
            AutoresetMode.DISABLED,
            opponent,
            partner=partner,
            seat=seat,
            edition=edition,
            players=players,
            teams=teams,
            episode=episode,
            reward=reward,
            observe_mask=observe_mask,
            scaled=scaled,
            observe_unseen=observe_unseen,
            observe_rules=observe_rules,
            padded=padded,
            illegal_action=illegal_action,
        )
        vector = self.games.vector
        if render_mode is not None:
            checked_mode(render_mode, vector.game, ALL_MODES)
        # Includes the chosen mode even if it is unsupported: Gymnasium's checker looks for it.
        modes = [mode for mode in ALL_MODES if mode == render_mode or mode in modes_of(vector.game)]
        self.metadata = {**self.metadata, "render_modes": modes}
        self.render_mode = render_mode
        self.observation_space = self.games.observation_space
        self.action_space = gymnasium.spaces.Discrete(int(vector.single_action_space.n))
        self._actions = np.zeros(1, np.int64)
        self._guard = Guard(reentrant=False)  # an opponent must not step this environment

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode and play until the learner's first decision.

        Args:
            seed: 0 to 2**64 - 1; it and the actions determine the episodes and the opponents' random numbers.
                None continues with the next episode (at first, of a random seed).
            options: `{"positions": text}` begins at a position, as in `vector_env`.

        Returns:
            The observation and the info.

        Raises:
            OptionError: invalid seed, or unknown option.
            AgentError: an opponent failed.
            CallError: after `close`.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.games.reset(seed, options, lambda: self.np_random)
        if self.render_mode == "human":
            self._print()
        return self._observation(), self._info()

    @alone
    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action, then the opponents' until the learner decides again.

        Args:
            action: action id, also as an array of one element.

        Returns:
            Observation, reward, terminated, truncated (always False), info.

        Raises:
            ActionError: the action is not a whole number.
            IllegalActionError: (or `ActionError`) an illegal action with `illegal_action="error"`; nothing
                has changed.
            AgentError: an opponent failed; call `reset`.
            CallError: before the first `reset`, after the end of an episode, or after `close`.
        """
        number = action_number(action)
        if number is None:
            raise ActionError(f"the action is {shown(action)}; it must be a whole number, such as 0")
        games, actions = self.games, self._actions
        actions[0] = min(max(number, -_FAR), _FAR)
        games.step(actions if number >= 0 else games.without_negative(actions))
        if self.render_mode == "human":
            self._print()
        learners = games.learners
        over = bool(learners.each["terminated"][0])
        return self._observation(), float(learners.each["reward"][0]), over, False, self._info(over)

    def _observation(self) -> Observation:
        observed = self.games.observation()
        if isinstance(observed, dict):
            return {name: rows[0] for name, rows in observed.items()}
        return observed[0]

    def _info(self, over: bool = False) -> dict[str, Any]:
        games, learners = self.games, self.games.learners
        return {
            MASK: games.buffers.action_mask[0].copy(),
            "seat": int(learners.each["seat"][0]),
            "won": float(learners.each["won"][0]) if over else math.nan,
            "final_score": learners.final_score[0].copy() if over else np.zeros(games.vector.teams, np.int16),
            "illegal_action": over and bool(learners.each["illegal"][0]),
            **games.vector._sheet_of_one(),
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's action mask, bool[A]; MaskablePPO of sb3-contrib calls this method."""
        masks: npt.NDArray[np.bool_] = self.games.buffers.action_mask[0].astype(np.bool_)
        return masks

    def legal_actions(self) -> dict[int, str]:
        """Return the ids and names of the learner's legal actions; empty once the episode is over."""
        return self.games.vector.legal_actions()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of an observation (`VectorEnv.columns`)."""
        return self.games.vector.columns

    def section(self, name: str) -> slice:
        """Return the columns of a section of an observation (`VectorEnv.section`)."""
        return self.games.vector.section(name)

    def describe(self) -> str:
        """Describe the learner's observation in words.

        Raises:
            OptionError: this game does not support descriptions.
        """
        return self.games.vector.describe(int(self.games.learners.each["seat"][0]))

    def render(self) -> Any:
        """Return the table, all hands shown, as text, SVG or pixels; None for "human" or without a mode.

        Raises:
            MissingExtraError: pixels without the extra `pictures`.
            CallError: before the first `reset`.
        """
        if self.render_mode in (None, HUMAN):
            return None
        return self.games.vector.render(mode=self.render_mode)

    def _repr_html_(self) -> str | None:
        """Return the table as SVG for notebooks."""
        return self.games.vector._repr_html_()

    def _print(self) -> None:
        print_text(self.games.vector.render())

    def close(self) -> None:
        """Close the environment; later calls raise `CallError`."""
        self.games.vector.close()
