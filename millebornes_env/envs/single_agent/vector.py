"""N games as a `gymnasium.vector.VectorEnv`: one learner in each, agents in all other seats."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from millebornes_env._util.arguments import checked_seed, flag
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs.arrays import checked_actions
from millebornes_env.envs.options import USUAL, autoreset_mode
from millebornes_env.envs.rendering import ALL_MODES, ANSI, HUMAN, RGB_ARRAY, checked_mode, rendered
from millebornes_env.envs.single_agent.games import MASK, Choices, LearnerGames, Observation, refuse_unknown
from millebornes_env.envs.single_agent.opponents import Given
from millebornes_env.games.registry import Sheet


class Pictures(Sequence[Any]):
    """The pictures of N games, each drawn when it is asked for, as the games were when this was made."""

    def __init__(self, draw: Callable[[Any], Any], states: StateArray) -> None:
        """Keep the games, of which none is drawn yet."""
        self._draw, self._states = draw, states
        self._drawn: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[game] for game in range(len(self))[index]]
        game = range(len(self))[index]
        if game not in self._drawn:
            self._drawn[game] = self._draw(self._states[game])
        return self._drawn[game]


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
    * NEXT_STEP: the next step begins it, whatever the action (the mask is all 1 there), with a reward of 0.
    * DISABLED: `reset(options={"reset_mask": bool[N]})` begins it.

    In the last two, `won`, `final_score` and `illegal_action` stand in `infos` itself. Infos have the same
    keys after every call; where no episode has ended, `won` is nan, the others are 0.

    Attributes:
        games: the games, with the opponents.
        autoreset_mode: as `metadata` says it; Gymnasium's own vector environments have it here too, and
            TorchRL looks for it.
    """

    metadata: dict[str, Any] = {
        "render_modes": [mode for mode in ALL_MODES if mode != HUMAN],
        "render_fps": 1,
    }

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
            render_mode: "ansi": `render` returns a text for each game; "svg": a picture; "rgb_array" (with
                the extra `pictures`): its pixels. Pictures are drawn when they are asked for: `render()[0]`.
            **unknown: options that do not exist; they raise an `OptionError`.

        Raises:
            AgentError: there is no such opponent, or it does not play this game.
            OptionError: (a `TypeError`, too) an option that does not exist, or has a value it cannot have.
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
        self._guard = Guard(reentrant=False)  # an opponent that steps this environment raises

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
            OptionError: the seed is not one; or an unknown option, or a mask of the wrong shape.
            AgentError: an opponent failed.
            CallError: after `close`.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.games.reset(seed, options, lambda: self.np_random)
        return self.games.observation(self._copies), self._infos(self._nowhere)

    @alone
    def set_opponent(self, opponent: Given) -> None:
        """Let other agents play from now on, for self-play; the partner stays, if one was given.

        Args:
            opponent: as in `SingleAgentEnv`.

        Raises:
            AgentError: there is no such opponent, or it does not play this game.
            MilleBornesError: one of its other subclasses says what is wrong with the opponent.
        """
        self.games.set_opponent(opponent)

    @alone
    def step(self, actions: npt.ArrayLike) -> Step:
        """Carry out the learners' actions, and the others' until every learner decides again.

        Args:
            actions: integers [N].

        Returns:
            Observations; rewards float64[N] since the last decision; terminations bool[N]; truncations
            bool[N], never; infos.

        Raises:
            ActionError: the actions are not N integers.
            IllegalActionError: (or `ActionError`) with `illegal_action="error"`, an illegal one; no game
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
        return {MASK: mask, f"_{MASK}": everywhere, "seat": seat, "_seat": everywhere, **self._ends(over)}

    def _ends(self, over: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos about episodes that ended in this step."""
        learners, ended = self.games.learners, over.copy()
        finals: dict[str, Any] = {
            "won": np.where(ended, learners.each["won"], np.nan),
            "final_score": learners.final_score * ended[:, np.newaxis],
            "illegal_action": learners.each["illegal"] & ended,
        }
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            finals["seat"] = learners.each["final_seat"] * ended
            final = np.empty(self.num_envs, object)  # of None
            which = np.flatnonzero(ended)
            if which.size:
                for game, seen in zip(which.tolist(), self.games.final_observations(which), strict=True):
                    final[game] = seen
            finals = {**finals, **{f"_{name}": ended for name in finals}}
            return {"final_obs": final, "_final_obs": ended, "final_info": finals, "_final_info": ended}
        return {**finals, **{f"_{name}": ended for name in finals}}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[N, A]: what each learner may do."""
        masks: npt.NDArray[np.bool_] = self.games.buffers.action_mask.astype(np.bool_)
        return masks

    def legal_actions(self, game: int = 0) -> dict[int, str]:
        """Return the ids of what a game's learner may do, with their names; none once the game has ended.

        Raises:
            OptionError: there is no such game.
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
        """Return each table, all hands shown: texts, or pictures that are drawn when they are asked for.

        Gymnasium's `RecordVideo` asks for the picture of game 0 only, which takes about 30 ms.
        """
        vector = self.games.vector
        if self.render_mode is None:
            return None
        vector._check_ready("render")
        if self.render_mode == RGB_ARRAY:
            checked_mode(RGB_ARRAY, vector.game, vector.metadata["render_modes"])
        draw = functools.partial(rendered, vector.game, rules=vector.rules, mode=self.render_mode)
        if self.render_mode == ANSI:
            return tuple(draw(state=state) for state in vector.games.states)
        return Pictures(lambda state: draw(state=state), vector.get_states().view(np.recarray))

    def close_extras(self, **kwargs: Any) -> None:
        """Refuse all further use."""
        if "games" in vars(self):  # Gymnasium before 1.4 closes what could not be made, too
            self.games.vector.close()


_mode = autoreset_mode
