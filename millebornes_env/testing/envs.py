"""`check_env`: check the return values and the reproducibility of a vector environment."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import MOST_STEPS, at_least_one, checked_seed
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ConformanceError, IllegalActionError, OptionError, shown

Arrays = dict[str, npt.NDArray[Any]]

REPLAYED: Final = 50
"""Number of steps that are played again from the same seed."""
CHECKED_CLOSELY: Final = 16
"""Number of steps between checks of copies, of illegal actions and of the records."""


def check_env(env: VectorEnv, *, steps: int = 200, seed: int = 0) -> None:
    """Check a vector environment by random play: one with options or buffers of your own, or a subclass.

    These are checked: shapes, dtypes and bounds of the return values of `reset` and `step`; that the mask
    matches the rules; the laws of the records; that the same seed and actions give the same results; that
    copies and restored records show the same; and that an illegal action raises and changes nothing.

    Args:
        env: the environment; it is copied and not changed.
        steps: number of steps in each game.
        seed: seed of the games, 0 to 2**64 - 1.

    Raises:
        ConformanceError: a check failed; the message says which, and in which step and game.
        OptionError: `env` is not a vector environment, or `steps` not a whole number of at least 1; or the
            seed is invalid.
    """
    given: object = env
    if not isinstance(given, VectorEnv):
        raise OptionError(f"env is {shown(given)}; it must be a vector environment of millebornes_env")
    number = at_least_one("steps", steps, MOST_STEPS, OptionError)
    _EnvCheck(env.clone()).run(number, checked_seed(seed, or_none=False))


class _EnvCheck:
    """The checks of one environment; `step` counts from 0, the reset."""

    def __init__(self, env: VectorEnv) -> None:
        self._env = env
        self._step = 0

    def run(self, steps: int, seed: int) -> None:
        """Play and check every step; then play the first steps again."""
        first = [self._reset(seed)]
        played = []
        for self._step in range(1, steps + 1):
            if self._step % CHECKED_CLOSELY == 1:
                self._check_copies()
                self._check_refusal()
            ended, actions = self._next_actions()
            played.append((ended, actions))
            after = self._step_with(actions)
            if self._step <= REPLAYED:
                first.append(after)
        self._step = 0
        self._compare(first[0], self._reset(seed))
        for self._step, ((ended, actions), before) in enumerate(zip(played, first[1:], strict=False), 1):
            self._begin_where(ended)
            self._compare(before, self._step_with(actions))

    def _failed(self, what: str, game: int | None = None) -> ConformanceError:
        where = "" if game is None else f", game {game}, seat {int(self._env.agent_selection[game])}"
        return ConformanceError(f"{what} [step {self._step}{where}]")

    # Playing ------------------------------------------------------------------------------------------------

    def _next_actions(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Sample legal actions; first reset finished games, bool[N], if only a reset restarts them."""
        actions = self._env.sample_actions()
        ended = actions == SKIP
        if self._begin_where(ended):
            actions = self._env.sample_actions()
        return ended, actions

    def _begin_where(self, ended: npt.NDArray[np.bool_]) -> bool:
        """Reset the games in the mask; return False if there are none."""
        if not ended.any():
            return False
        self._checked(self._env.reset(options={"reset_mask": ended})[0])
        return True

    def _reset(self, seed: int) -> Arrays:
        returned: Any = self._env.reset(seed=seed)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise self._failed("reset did not return a pair (observations, infos)")
        return self._checked(returned[0])

    def _step_with(self, actions: npt.NDArray[np.int64]) -> Arrays:
        returned: Any = self._env.step(actions)
        if not isinstance(returned, tuple) or len(returned) != 5:
            raise self._failed(
                "step did not return (observations, rewards, terminations, truncations, infos)"
            )
        observations, rewards, terminations, truncations, _ = returned
        games, seats = self._env.num_envs, self._env.players
        self._check_array("rewards", rewards, (games, seats), np.float32)
        self._check_array("terminations", terminations, (games,), np.bool_)
        self._check_array("truncations", truncations, (games,), np.bool_)
        finite = np.isfinite(rewards).all(axis=1)
        if not finite.all():
            raise self._failed("a reward is NaN or infinite", int(finite.argmin()))
        ends = {"rewards": rewards.copy(), "terminations": terminations.copy()}
        return self._checked(observations) | ends

    # Checking -----------------------------------------------------------------------------------------------

    def _check_array(self, name: str, array: Any, shape: tuple[int, ...], dtype: Any) -> None:
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
            result = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else shown(array)
            raise self._failed(f"{name} is {result}; it must be {np.dtype(dtype)}{list(shape)}")

    def _checked(self, observations: Any) -> Arrays:
        """Check the observations against the spaces and the rules, and return copies of their arrays."""
        games, space = self._env.num_envs, self._env.single_observation_space
        for name in ("observation", "action_mask", "agent_selection"):
            if name not in observations:
                raise self._failed(f"the observations have no {name!r}")
            self._check_array(
                name, observations[name], (games, *(space[name].shape or ())), space[name].dtype
            )
        seen: Any = space["observation"]
        inside = ((observations["observation"] >= seen.low) & (observations["observation"] <= seen.high)).all(
            1
        )
        if not inside.all():
            raise self._failed("an observation lies outside single_observation_space", int(inside.argmin()))
        seats = observations["agent_selection"]
        if not ((seats >= 0) & (seats < self._env.players)).all():
            raise self._failed(
                f"agent_selection is {shown(seats)}; the seats are 0 to {self._env.players - 1}"
            )
        if self._step % CHECKED_CLOSELY == 0:
            self._check_records(observations["action_mask"])
        return {name: array.copy() for name, array in observations.items()}

    def _check_records(self, masks: npt.NDArray[np.int8]) -> None:
        """Check that the records obey the laws, and that the masks match the rules."""
        env = self._env
        states = env.get_states()
        rulebook, goes_on = env.games.rulebook, ~self._are_over(states)
        legal = np.zeros(rulebook.action_count(env.rules, None), np.int8)
        for rules, games in env.rules_by_game(states):
            try:
                env.game.check_laws(states[games], rules)
            except ConformanceError as error:
                raise ConformanceError(f"{error} [step {self._step}]") from None
            records, own = for_kernels(states), for_kernels(rulebook.rules_array(rules))[0]
            for game in games[goes_on[games]].tolist():
                rulebook.write_mask(records[game], own, legal)
                if not np.array_equal(np.flatnonzero(masks[game]), np.flatnonzero(legal)):
                    raise self._failed("action_mask is not what the rules allow", game)

    def _are_over(self, states: Any) -> npt.NDArray[np.bool_]:
        """Return a mask of the games without a seat to act, bool[N]."""
        is_round_over = plain(self._env.games.rulebook.is_round_over)
        return np.array([is_round_over(state) for state in states.view(np.recarray)], np.bool_)

    def _check_copies(self) -> None:
        """Check that a clone and restored records show the same, and that the clone is independent."""
        env = self._env
        before, states = env.observe(0), env.get_states()
        other = env.clone()
        if not np.array_equal(other.observe(0), before):
            raise self._failed("clone() shows other observations")
        other.step(other.sample_actions())
        if env.get_states().tobytes() != states.tobytes():
            raise self._failed("a step of clone() changed the environment that it is a copy of")
        if not env.game.has("games.audit"):
            return
        other.set_states(states)
        if not np.array_equal(other.observe(0), before):
            raise self._failed("set_states(get_states()) shows other observations")

    def _check_refusal(self) -> None:
        """Check that an illegal action raises and changes nothing, if the environment checks actions."""
        env = self._env
        states = env.get_states()
        if env.settings.punish_illegal or self._are_over(states).any():
            return
        actions, mask = env.clone().sample_actions(), np.asarray(env.games.buffers.action_mask)[-1]
        if mask.all():  # in a game of few actions nothing may be illegal now
            return
        actions[-1] = int(mask.argmin())
        try:
            env.step(actions)
        except IllegalActionError:
            if env.get_states().tobytes() != states.tobytes():
                raise self._failed("an illegal action was refused, but the games have changed") from None
            return
        raise self._failed(f"the illegal action {actions[-1]} was not refused", env.num_envs - 1)

    def _compare(self, before: Arrays, again: Arrays) -> None:
        for name, array in before.items():
            if not np.array_equal(array, again[name]):
                raise self._failed(f"{name} differs when the same seed and actions are played again")
