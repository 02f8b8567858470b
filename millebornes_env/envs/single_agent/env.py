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
from millebornes_env.envs.single_agent.games import MASK, Choices, LearnerGames, Observation, refuse_unknown
from millebornes_env.envs.single_agent.opponents import Given
from millebornes_env.errors import ActionError, shown
from millebornes_env.games.registry import Sheet

_FAR = 2**31  # no action has so large an id, and every int64 array takes it


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """One game of Mille Bornes, or of another game, in which one seat learns; for `gymnasium.make`.

    A step leads from a decision of the learner to its next one, or to the end: the other seats are played by
    agents inside of `step`. The reward is the sum of all that the learner got in between. Observations are
    those of `vector_env`, seen from the learner's seat. `info` has

    * `action_mask`: int8[A], 1 where an action is legal; all 1 when the episode is over, for an action does
      not count there (wrappers that reset one step later ask for one all the same);
    * `seat`: the learner's;
    * `won`: 1, 0, or 1 / k where k teams share the win; nan until the episode is over;
    * `final_score`: int16[T], the points of all teams; 0 until then;
    * `illegal_action`: True if an illegal action of the learner ended the episode.

    Attributes:
        games: the game, with its opponents.
    """

    metadata: dict[str, Any] = {"render_modes": ALL_MODES, "render_fps": 1}

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        opponent: Given = "random",
        *,
        partner: Any = None,
        seat: int | None = None,
        edition: str | Sheet = "parker",
        players: int = 2,
        teams: int | None = None,
        episode: str = USUAL,
        reward: str = USUAL,
        observe_mask: bool = False,
        scaled: bool = False,
        observe_unseen: bool = True,
        observe_rules: bool = False,
        padded: bool = False,
        illegal_action: str = "terminate",
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        """Make the environment.

        Args:
            opponent: who plays the other seats: an agent, or what `agents.load` makes one of, such as
                "strategist" or the path of a run folder; or a function of observations int8[N, D] and masks
                int8[N, A] that returns actions [N]; or a model whose `predict` takes `action_masks`, such as
                MaskablePPO, which sees what the learner sees; or a list with one for each other seat, from
                the learner's left on, or with one for each other team.
            partner: who plays the other seats of the learner's team; None: as the opponents (the first).
            seat: the learner's, 0 to `players` - 1; None: another one in each episode, one after the other,
                so that every seat is learned and none has an advantage in the mean.
            edition: name or path of a rule sheet, or an `Edition`; the sheet says which game is played.
            players: seats at the table.
            teams: teams at the table; None for the sheet's usual way.
            episode: as in `vector_env`.
            reward: as in `vector_env`.
            observe_mask: observations are dictionaries of `observation` and `action_mask`.
            scaled: observations are float32, each number divided by its largest value.
            observe_unseen: as in `vector_env`, as the next two.
            observe_rules: as there.
            padded: as there.
            illegal_action: "terminate": it ends the episode with a reward of -1, for every action of the
                action space may be tried in Gymnasium; "error" raises one that names the play.
            render_mode: "ansi": `render` returns the table as text; "human": it is printed after every step;
                "svg": `render` returns a picture, "rgb_array" its pixels (which takes the extra `pictures`:
                Stable-Baselines3 asks for this mode always, so it is `render` that misses the extra).
            **unknown: options that do not exist; they raise an `OptionError`.

        Raises:
            AgentError: there is no such opponent, or it does not play this game.
            OptionError: (a `TypeError`, too) an option that does not exist, or has a value it cannot have.
            MilleBornesError: one of its other subclasses says what is wrong with which argument.
        """
        refuse_unknown(unknown, type(self))
        self.games = LearnerGames(
            1,
            AutoresetMode.DISABLED,
            Choices(
                opponent=opponent,
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
            ),
        )
        vector = self.games.vector
        if render_mode is not None:
            checked_mode(render_mode, vector.game, ALL_MODES)
        # With the mode that it was made with: Gymnasium's checker wants to find it there.
        modes = [mode for mode in ALL_MODES if mode == render_mode or mode in modes_of(vector.game)]
        self.metadata = {**self.metadata, "render_modes": modes}
        self.render_mode = render_mode
        self.observation_space = self.games.observation_space
        self.action_space = gymnasium.spaces.Discrete(int(vector.single_action_space.n))
        self._actions = np.zeros(1, np.int64)
        self._guard = Guard(reentrant=False)  # an opponent that steps this environment raises

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode, up to the learner's first decision.

        Args:
            seed: 0 to 2**64 - 1: the episodes and the opponents' random numbers are a function of it and of
                the plays. None: the next episode; the first time, that of a seed drawn by chance.
            options: `{"positions": text}`: where the episode begins, as in `vector_env`.

        Returns:
            The observation and the info.

        Raises:
            OptionError: the seed is not one; or an unknown option.
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
            action: its id, or an array of one element that has it.

        Returns:
            Observation, reward, whether the episode has ended, False (none is cut short), info.

        Raises:
            ActionError: the action is no whole number.
            IllegalActionError: (or `ActionError`) with `illegal_action="error"`, an illegal one; nothing
                has happened.
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
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's action mask, bool[A]; MaskablePPO of sb3-contrib calls this method."""
        masks: npt.NDArray[np.bool_] = self.games.buffers.action_mask[0].astype(np.bool_)
        return masks

    def legal_actions(self) -> dict[int, str]:
        """Return the ids of what the learner may do, with their names; none once the episode is over."""
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
        """Return the table, all hands shown, as text, picture or pixels; None if printed, or without a mode.

        Raises:
            MissingExtraError: pixels, without the extra `pictures`.
            CallError: before the first `reset`.
        """
        if self.render_mode in (None, HUMAN):
            return None
        return self.games.vector.render(mode=self.render_mode)

    def _repr_html_(self) -> str | None:
        """Return the table as a picture for notebooks."""
        return self.games.vector._repr_html_()

    def _print(self) -> None:
        print_text(self.games.vector.render())

    def close(self) -> None:
        """Close the environment; later calls raise `CallError`."""
        self.games.vector.close()
