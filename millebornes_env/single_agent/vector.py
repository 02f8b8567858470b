"""N games as a `gymnasium.vector.VectorEnv`: one learner in each, agents in all other seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from millebornes_env.envs.arrays import checked_actions
from millebornes_env.envs.guard import Guard, alone
from millebornes_env.envs.options import USUAL, autoreset_mode, checked_seed, flag, one_of
from millebornes_env.games import Sheet
from millebornes_env.single_agent.games import MASK, Choices, LearnerGames, Observation, refuse_unknown
from millebornes_env.single_agent.opponents import Given

Step = tuple[
    Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
]


class SingleAgentVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """N games of Mille Bornes, or of another game, one learner in each; for `gymnasium.make_vec`.

    All games are stepped in one compiled loop, the compiled agents in the other seats, too; agents of other
    kinds are asked about all their decisions at once. Steps, rewards and infos are those of `SingleAgentEnv`,
    in arrays with a row for each game. What comes with the end of an episode depends on `autoreset_mode`, in
    Gymnasium's words:

    * SAME_STEP: the next episode begins in the step that ends one. `infos["final_obs"][i]` is what learner i
      saw at the end, `infos["final_info"]` has `won`, `final_score`, `seat` and `illegal_action`, each with
      its mask (`_won` ...).
    * NEXT_STEP: the next step begins it, whatever the action (all are legal there), with a reward of 0.
    * DISABLED: `reset(options={"reset_mask": bool[N]})` begins it.

    In the last two, `won`, `final_score` and `illegal_action` stand in `infos` itself.

    Attributes:
        games: the games, with the opponents.
        autoreset_mode: as `metadata` says it; Gymnasium's own vector environments have it here too, and
            TorchRL looks for it.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        num_envs: int = 1,
        opponent: Given = "random",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        num_threads: int = 1,
        copy: bool = True,
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
        """Make N games that are stepped together.

        Args:
            num_envs: N.
            opponent: as in `SingleAgentEnv`, as all that are not explained here.
            autoreset_mode: Gymnasium's `AutoresetMode`, or its name.
            num_threads: CPU threads to share the games among, as in `vector_env`.
            copy: whether each step returns arrays of its own; False saves a few microseconds, and what a step
                returned is overwritten by the next.
            partner: as there.
            seat: the learner's in all games; None: game i has seat `(i + episode) % players`.
            edition: as there.
            players: as there.
            teams: as there.
            episode: as there.
            reward: as there.
            observe_mask: as there.
            scaled: as there.
            observe_unseen: as there.
            observe_rules: as there.
            padded: as there.
            illegal_action: as there.
            render_mode: "ansi": `render` returns a text for each game.
            **unknown: options that there are not.

        Raises:
            UnknownAgentError: there is no such opponent, or it does not play this game.
            OptionError: an option that there is not, or with a value that it cannot have.
            MilleBornesError: one of its other subclasses says what is wrong with which argument.
        """
        refuse_unknown(unknown, type(self))
        mode = _mode(autoreset_mode)
        self.games = LearnerGames(
            num_envs,
            mode,
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
            num_threads,
        )
        vector = self.games.vector
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode
        if render_mode is not None:
            one_of("render_mode", render_mode, self.metadata["render_modes"])
            vector.game.part("draw", "render")
        self.render_mode = render_mode
        self.num_envs = vector.num_envs
        self.single_observation_space = self.games.observation_space
        self.single_action_space = vector.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copies = flag("copy", copy)
        self._everywhere = np.ones(self.num_envs, np.bool_)
        self._guard = Guard(reentrant=False)  # an opponent that steps this environment is refused

    @alone
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin episodes, up to the learners' first decisions.

        Args:
            seed: 0 to 2**64 - 1: the games, the opponents' random numbers and all that follows are a function
                of it and of the plays. None: the next episodes; the first time, those of a seed drawn.
            options: `{"reset_mask": bool[N]}` and `{"positions": [...]}`, as in `vector_env`.

        Returns:
            Observations and infos.

        Raises:
            SeedError: the seed is not one.
            OptionError: an unknown option, or a mask of the wrong shape.
            OpponentError: an opponent failed.
            ClosedError: the environment was closed.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.games.reset(seed, options, lambda: self.np_random)
        return self.games.observation(self._copies), self._infos()

    @alone
    def step(self, actions: npt.ArrayLike) -> Step:
        """Carry out the learners' actions, and the others' until every learner decides again.

        Args:
            actions: integers [N].

        Returns:
            Observations; rewards float64[N] since the last decision; terminations bool[N]; truncations
            bool[N], never; infos.

        Raises:
            ActionShapeError: the actions are not N integers.
            IllegalActionError: (or `ActionRangeError`) with `illegal_action="error"`, an illegal one; no game
                has been stepped.
            OpponentError: an opponent failed; call `reset`.
            ResetNeededError: before the first `reset`; or in a game that is over, with autoreset DISABLED.
            ClosedError: the environment was closed.
        """
        games, learners = self.games, self.games.learners
        games.step(games.without_negative(checked_actions(actions, self.num_envs)))
        observation = games.observation(self._copies)
        rewards, over, never = learners.each["reward"], learners.each["terminated"], games.buffers.truncations
        if self._copies:
            rewards, over, never = rewards.copy(), over.copy(), never.copy()
        infos = self._infos()
        if over.any():
            self._tell_ends(infos, over)
        return observation, rewards, over, never, infos

    def _infos(self) -> dict[str, Any]:
        mask, seat = self.games.buffers.action_mask, self.games.learners.each["seat"]
        if self._copies:
            mask, seat = mask.copy(), seat.copy()
        return {
            MASK: mask,
            f"_{MASK}": self._everywhere.copy(),
            "seat": seat,
            "_seat": self._everywhere.copy(),
        }

    def _tell_ends(self, infos: dict[str, Any], over: npt.NDArray[np.bool_]) -> None:
        """Add to the infos what is told of episodes that ended in this step."""
        learners, ended = self.games.learners, over.copy()
        told: dict[str, Any] = {
            "won": learners.each["won"] * ended,
            "final_score": learners.final_score.copy(),
            "illegal_action": learners.each["illegal"] & ended,
        }
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            told["seat"] = learners.each["final_seat"].copy()
            final = np.empty(self.num_envs, object)  # of None
            which = np.flatnonzero(ended)
            for game, seen in zip(which.tolist(), self.games.final_observations(which), strict=True):
                final[game] = seen
            infos |= {"final_obs": final, "_final_obs": ended}
            infos |= {"final_info": {**told, **{f"_{name}": ended for name in told}}, "_final_info": ended}
        else:
            infos |= {**told, **{f"_{name}": ended for name in told}}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[N, A]: what each learner may do."""
        masks: npt.NDArray[np.bool_] = self.games.buffers.action_mask.astype(np.bool_)
        return masks

    def render(self) -> tuple[str, ...] | None:
        """Each table as text, all hands shown, with `render_mode="ansi"`; else None."""
        if self.render_mode is None:
            return None
        return tuple(self.games.vector.render(game) for game in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Refuse all further use."""
        if "games" in vars(self):  # Gymnasium before 1.4 closes what could not be made, too
            self.games.vector.close()


_mode = autoreset_mode
