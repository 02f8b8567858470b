"""Stable-Baselines3 `VecEnv`s: one learning seat in each game, the other seats answered inside `step`.

What a learner stores is a transition of *its own seat*: from its decision to its own next decision, with all
rewards in between added up. The widely copied recipe, which steps a turn-based environment and hands the
mover's reward to the learner together with the next player's observation, mixes the seats' trajectories and
does not learn (PettingZoo issue 1147).

This module imports stable_baselines3, which the rest of the package does not need.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env._util.arguments import checked_index, checked_seed
from millebornes_env._util.guard import Guard, alone
from millebornes_env._util.texts import items_of
from millebornes_env.engine.kernels import SKIP
from millebornes_env.envs.arrays import checked_actions
from millebornes_env.envs.rendering import ANSI, RGB_ARRAY, SVG, checked_mode
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import (
    ActionError,
    MilleBornesError,
    MissingExtraError,
    OptionError,
    ResetNeededError,
    shown,
)

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
except ModuleNotFoundError as _missing:
    raise MissingExtraError.of("millebornes_env.envs.sb3", _missing, "train") from None

_MOST_POLICIES = 1 << 16

Policy = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.NDArray[np.int64]]
"""Observations int8[N, D] and action masks int8[N, A] in, legal actions int64[N] out (an agent's `act`).

The observations are those of `vector_env`, whole numbers, not the scaled ones that the learner sees."""


class Model(Protocol):
    """A trained model that knows masks, such as MaskablePPO of sb3-contrib."""

    def predict(self, observation: Any, *, action_masks: Any) -> tuple[npt.NDArray[Any], Any]:
        """Return actions for scaled observations, and a state that is not used."""
        ...


def uniform_policy(seed: int = 0) -> Policy:
    """Any legal action, all equally probable.

    Args:
        seed: of the choices, 0 to 2**64 - 1.

    Raises:
        OptionError: the seed is not one.
    """
    random = np.random.default_rng(checked_seed(seed, or_none=False))

    def act(observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        lots = random.random(action_masks.shape, dtype=np.float32)
        chosen: npt.NDArray[np.int64] = np.where(action_masks != 0, lots, -1.0).argmax(axis=1)
        return chosen

    return act


def _takes_masks(model: Any) -> bool:
    try:
        parameters = inspect.signature(model.predict).parameters.values()
    except (TypeError, ValueError):  # it is no function of Python's
        return False
    return any(one.name == "action_masks" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)


def _check_games(games: object) -> None:
    if not isinstance(games, VectorEnv):
        raise OptionError(f"games is {shown(games)}; it must be an environment that vector_env(...) has made")


def _checked_policies(name: str, policies: object, games: VectorEnv) -> list[Policy]:
    """Return the policies in a new list, models as functions of what policies are shown.

    Raises:
        OptionError: they are no list, or one of them is neither a function nor a model that takes masks.
    """
    is_list = isinstance(policies, Sequence) and not isinstance(policies, (str, bytes))
    found = items_of(policies, _MOST_POLICIES) if is_list else None
    if found is None:
        raise OptionError(
            f"{name} is {shown(policies)}; it must be a list of functions that take observations and action "
            "masks and return actions (such as an agent's act), or of models (such as MaskablePPO)"
        )
    return [_checked_policy(f"{name}[{number}]", policy, games) for number, policy in enumerate(found)]


def _checked_policy(name: str, policy: Any, games: VectorEnv) -> Policy:
    if hasattr(policy, "predict"):
        if not _takes_masks(policy):
            raise OptionError(
                f"{name} is {shown(policy)}, whose predict() takes no action_masks, so that it would play "
                "illegal actions; use MaskablePPO of sb3-contrib, or a function of observations and masks"
            )
        return policy_of(policy, games)
    if not callable(policy):
        raise OptionError(
            f"{name} is {shown(policy)}, which cannot be called; it must be a function that takes "
            "observations and action masks and returns actions (such as an agent's act), or a model"
        )
    checked: Policy = policy
    return checked


def _scale_of(games: VectorEnv) -> npt.NDArray[np.float32]:
    """Return what observations are multiplied by for the learner: numbers from 0 to 1."""
    highs = np.concatenate([np.full(one.size, max(one.high, 1)) for one in games.observation_sections])
    return (1.0 / highs).astype(np.float32)


def policy_of(model: Model, games: VectorEnv) -> Policy:
    """Return a model as a policy: it is shown scaled observations, as the learner is.

    Args:
        model: a MaskablePPO, or anything else whose `predict` takes `action_masks`.
        games: whose observations it is shown.
    """
    scale = _scale_of(games)

    def act(observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        return np.asarray(model.predict(observations * scale, action_masks=action_masks.astype(np.bool_))[0])

    return act


def _checked_share(share: object) -> float:
    if isinstance(share, bool) or not isinstance(share, (int, float, np.floating, np.integer)):
        raise OptionError(f"sparring_share is {shown(share)}; it must be a number from 0 to 1")
    try:
        return float(share)
    except OverflowError:  # an int larger than any float
        return np.inf


class OpponentVecEnv(VecEnv):
    """One learning seat in each game, against given opponents.

    Observations are float32[N, D], each number divided by its largest value; `action_masks()` is bool[N, A]
    for all games in one array, which MaskablePPO finds by itself. `infos[i]["terminal_observation"]` is what
    the learning seat saw at the end of an episode and `infos[i]["episode"]` its sum of rewards and number of
    decisions, as SB3's Monitor writes them; also `final_score` and
    `won` (1, 0, or 1 / k where k teams share the win). As everywhere in SB3, other infos are empty.

    An action of the learner that is refused changes nothing. Where an opponent raises or plays what it may
    not, some games wait for the opponent: then everything but `reset()` raises `ResetNeededError`, so that no
    learner sees an opponent's hand.

    Attributes:
        games: the vector environment underneath.
        seats: int64[N], the learning seat of each game's present episode.
        render_mode: "rgb_array" or "ansi".
    """

    def __init__(
        self,
        games: VectorEnv,
        opponents: Sequence[Policy | Model],
        *,
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Wrap a vector environment.

        Args:
            games: with autoreset SAME_STEP.
            opponents: game i is played against `opponents[i % len(opponents)]`, in all seats but the
                learner's (its partners' too).
            seat: the learning seat; None changes it from game to game and from episode to episode.
            render_mode: of game 0: "rgb_array" (with the extra `pictures`) or "ansi"; None: pixels where the
                game has pictures and the extra is installed, for VecVideoRecorder, else text.

        Raises:
            OptionError: no `VectorEnv`, another autoreset mode, no opponent, one that cannot be called, a
                model without masks, a seat that the table does not have, or an unknown render mode.
        """
        _check_games(games)
        policies = _checked_policies("opponents", opponents, games)
        if games.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
            raise OptionError("Stable-Baselines3 needs a vector_env with autoreset_mode=SAME_STEP")
        if not policies:
            raise OptionError("there must be at least one opponent")
        if seat is not None:
            seat = checked_index("seat", seat, games.players)
        self.games = games
        self._guard = Guard(reentrant=False)
        self._why_reset = "step() or action_masks() was called before reset()"
        modes = games.metadata["render_modes"]
        if render_mode is None:
            render_mode = RGB_ARRAY if RGB_ARRAY in modes else ANSI
        else:
            checked_mode(render_mode, games.game, [ANSI, SVG, *({RGB_ARRAY} & set(modes))])
        self.render_mode = render_mode
        self._opponents = policies
        self._fixed_seat = seat
        self._scale = _scale_of(games)
        self._rows = np.arange(games.num_envs)
        self._opponent_of = self._rows % len(self._opponents)
        self.seats = np.zeros(games.num_envs, np.int64)
        self._begin_counts()
        self._actions: npt.NDArray[np.int64] | None = None
        self._seed: int | None = None
        super().__init__(
            games.num_envs,
            gymnasium.spaces.Box(0.0, 1.0, (len(self._scale),), np.float32),
            games.single_action_space,
        )
        metadata: dict[str, Any] = self.metadata
        metadata["render_fps"] = 1  # for VecVideoRecorder

    def _begin_counts(self) -> None:
        self._earned = np.zeros(self.games.num_envs, np.float64)  # since the learner's last decision
        self._returns = np.zeros(self.games.num_envs, np.float64)  # in this episode
        self._decisions = np.zeros(self.games.num_envs, np.int64)
        self._started = time.time()

    def _choose_seats(self, chosen: npt.NDArray[Any]) -> None:
        if self._fixed_seat is None:
            episodes = self.games.games.states["episode"][chosen].astype(np.int64)
            self.seats[chosen] = (self._rows[chosen] + episodes) % self.games.players
        else:
            self.seats[chosen] = self._fixed_seat

    @alone
    def reset(self) -> VecEnvObs:
        """Begin all games; the seed given to `seed()` is used once.

        Raises:
            ActionError: (or `IllegalActionError`, or whatever it raises) an opponent played what it may
                not; call `reset` again.
            ClosedError: the games were closed.
        """
        self.games.reset(seed=self._seed)
        self._why_reset = "the last reset was cut short"
        self._seed, self._actions = None, None
        self._begin_counts()
        self._choose_seats(self._rows)
        self._play_others({})
        self._why_reset = ""
        self.reset_infos = [{} for _ in self._rows]
        return self._observe()

    def _check_ready(self) -> None:
        """Refuse to go on where not every game waits for its learning seat."""
        self.games._check_open()
        if not self._why_reset and (self.games.agent_selection != self.seats).any():
            self._why_reset = "the games underneath were stepped or reset by somebody else"
        if self._why_reset:
            raise ResetNeededError(f"{self._why_reset}: call reset() first")

    def _observe(self) -> npt.NDArray[np.float32]:
        return self.games.games.buffers.observation * self._scale

    @alone
    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[N, A]: what each learning seat may do, all games in one array.

        Raises:
            ResetNeededError: before the first `reset`, or after an opponent failed.
            ClosedError: the games were closed.
        """
        self._check_ready()
        masks: npt.NDArray[np.bool_] = self.games.games.buffers.action_mask.astype(np.bool_)
        return masks

    @alone
    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the learning seats' actions for `step_wait`.

        Raises:
            ActionError: they are not N integers.
            ActionError: one is negative: a learning seat cannot skip its decision.
            ResetNeededError: before the first `reset`, or after an opponent failed.
            ClosedError: the games were closed.
        """
        self._check_ready()
        checked = checked_actions(actions, self.num_envs).copy()
        self._actions = self._without_skips(checked, self._rows)

    def _without_skips(
        self, actions: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """The actions of these games, none of which leaves its game as it is."""
        skips = np.flatnonzero(actions == SKIP)
        if len(skips) == 0:
            return actions
        if self.games.settings.punish_illegal == 0:
            row, most = int(rows[skips[0]]), int(self.games.single_action_space.n) - 1
            seat = self.games.possible_agents[int(self.games.agent_selection[row])]
            raise ActionError(
                f"game {row}, {seat}: there is no action {SKIP} here, for every seat that is asked must act; "
                f"ids go from 0 to {most}"
            )
        return np.where(actions == SKIP, int(self.games.single_action_space.n), actions)

    @alone
    def step_wait(self) -> VecEnvStepReturn:
        """Carry out the learning seats' actions, and the others' until the learners decide again.

        Returns:
            Observations float32[N, D]; rewards float32[N] from the learner's decision to its next, or to the
            end; dones bool[N]; infos.

        Raises:
            IllegalActionError: (or `ActionError`) an action that the rules do not allow; no game has
                been stepped.
            ActionError: `step_async` has not been called; or an opponent did not return whole numbers,
                one for each game that it was shown.
            ResetNeededError: before the first `reset`, or after an opponent failed.
        """
        self._check_ready()
        actions, self._actions = self._actions, None
        if actions is None:
            raise ActionError("step_wait() has no actions: call step_async(actions) first, or step(actions)")
        ended: dict[int, dict[str, Any]] = {}
        self.games.step(actions)
        self._decisions += 1
        self._why_reset = "the last step was cut short"
        self._count_rewards(self._rows, ended)
        self._play_others(ended)
        self._why_reset = ""
        rewards = self._earned.astype(np.float32)
        self._returns += self._earned
        begun = self._earned.copy()
        self._earned[:] = 0.0
        infos: list[dict[str, Any]] = [{} for _ in self._rows]
        dones = np.zeros(self.num_envs, np.bool_)
        for row, info in ended.items():
            dones[row] = True
            rewards[row] = info.pop("reward")
            infos[row] = info
            # What the next episode has brought so far belongs to its first transition.
            self._returns[row] = 0.0
            self._earned[row] = begun[row]
        return self._observe(), rewards, dones, infos

    def _play_others(self, ended: dict[int, dict[str, Any]]) -> None:
        """Let the opponents act until every game waits for its learning seat."""
        while True:
            waiting = np.flatnonzero(self.games.agent_selection != self.seats)
            if len(waiting) == 0:
                return
            actions = np.full(self.num_envs, SKIP, np.int64)
            for number in range(len(self._opponents)):
                rows = waiting[self._opponent_of[waiting] == number]
                if len(rows) > 0:
                    actions[rows] = self._ask(number, rows)
            try:
                self.games.step(actions)
            except MilleBornesError as error:
                self._why_reset = "an opponent failed, and its games wait for it"
                raise type(error)(f"an opponent's action was refused. {error}") from None
            self._count_rewards(waiting, ended)

    def _ask(self, number: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The actions of one opponent in these games."""
        self._why_reset = f"opponents[{number}] failed, and its games wait for it"
        buffers = self.games.games.buffers
        answer = self._opponents[number](buffers.observation[rows], buffers.action_mask[rows])
        chosen = checked_actions(answer, len(rows), f"the actions that opponents[{number}] returned")
        return self._without_skips(chosen, rows)

    def _count_rewards(self, rows: npt.NDArray[Any], ended: dict[int, dict[str, Any]]) -> None:
        """Add what the last step brought to the learning seats, and note which episodes it ended."""
        buffers = self.games.games.buffers
        self._earned[rows] += buffers.rewards[rows, self.seats[rows]]
        for row in rows[buffers.terminations[rows]].tolist():
            self._end_episode(row, ended)
        over = rows[buffers.terminations[rows]]
        self._choose_seats(over)

    def _end_episode(self, row: int, ended: dict[int, dict[str, Any]]) -> None:
        buffers = self.games.games.buffers
        seat = int(self.seats[row])
        if row not in ended:  # else an episode came and went between two decisions: the learner had no part
            total = float(self._returns[row] + self._earned[row])
            ended[row] = {
                "reward": float(self._earned[row]),
                "terminal_observation": buffers.final_observation[row, seat] * self._scale,
                "TimeLimit.truncated": False,
                "episode": {
                    "r": total,
                    "l": int(self._decisions[row]),
                    "t": round(time.time() - self._started, 6),
                },
                "final_score": buffers.final_score[row].tolist(),
                "won": float(self.games.games.win_shares([row])[0, seat % self.games.teams]),
            }
            self._decisions[row] = 0
        self._earned[row] = 0.0

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Take the seed for the next `reset`; one seed determines all games.

        Raises:
            OptionError: the seed is not one.
        """
        self._seed = None if seed is None else checked_seed(seed)
        return [seed] * self.num_envs

    def render(self, mode: str | None = None) -> Any:
        """Return the table of game 0, all hands shown: uint8[H, W, 3] or text, as `render_mode` says.

        Args:
            mode: "rgb_array", "ansi" or "svg"; None: `render_mode`.
        """
        return self.games.render(mode=mode or self.render_mode or ANSI)

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return the picture of game 0 alone: drawing all would take longer than playing."""
        return [self.games.render(mode=RGB_ARRAY)]

    def close(self) -> None:
        """Close the games."""
        self.games.close()

    def _get_indices(self, indices: Any) -> Iterable[int]:
        """The games that SB3 asks for, as it writes them: None, one, or several.

        Raises:
            OptionError: there is no such game.
        """
        if indices is None:
            return range(self.num_envs)
        # To a list first: an array of no dimension is iterable in name only.
        listed = indices.tolist() if isinstance(indices, np.ndarray) else indices
        several = items_of(listed, self.num_envs)
        if several is None:
            several = [listed]
        return [checked_index("game", index, self.num_envs) for index in several]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, once for each game asked for.

        Raises:
            AttributeError: there is none of that name.
        """
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set the attribute, for all games: they share one object.

        Raises:
            OptionError: there is no such game.
        """
        self._get_indices(indices)
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,
    ) -> Any:
        """Call a method: `action_masks` answers one array with a row for each game, others a list."""
        rows = list(self._get_indices(indices))
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return result if len(rows) == self.num_envs else result[rows]
        return [result] * len(rows)

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """No game is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


class SelfPlayVecEnv(OpponentVecEnv):
    """One learning seat in each game; the other seats are played by the policy that learns.

    Give the model to `set_policy` once it exists; until then the others play at random. The learning seat
    changes from game to game and from episode to episode, so every seat is learned.
    """

    def __init__(
        self,
        games: VectorEnv,
        *,
        sparring: Sequence[Policy | Model] = (),
        sparring_share: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        """Wrap a vector environment.

        Args:
            games: with autoreset SAME_STEP.
            sparring: other opponents, for variety.
            sparring_share: the share of games that are played against them instead of the own policy, 0 to 1.
            render_mode: as in `OpponentVecEnv`.

        Raises:
            OptionError: a share out of range, or above 0 without sparring partners; or as `OpponentVecEnv`.
        """
        _check_games(games)
        partners = _checked_policies("sparring", sparring, games)
        sparring_share = _checked_share(sparring_share)
        if not 0.0 <= sparring_share <= 1.0 or (sparring_share > 0 and not partners):
            raise OptionError("sparring_share must be from 0 to 1, and 0 if there are no sparring partners")
        super().__init__(games, [uniform_policy(), *partners], render_mode=render_mode)
        borrowed = round(sparring_share * games.num_envs)
        self._opponent_of = np.zeros(games.num_envs, np.int64)
        self._opponent_of[:borrowed] = 1 + np.arange(borrowed) % max(len(partners), 1)

    def set_policy(self, policy: Policy | Model) -> None:
        """Let the other seats be played by this policy from now on.

        Args:
            policy: the model itself, such as MaskablePPO, which is shown what the learner sees; or a function
                of observations int8[N, D] (whole numbers, not scaled) and masks int8[N, A].

        Raises:
            OptionError: it cannot be called, or is a model that takes no masks.
        """
        self._opponents[0] = _checked_policy("policy", policy, self.games)


__all__ = ["Model", "OpponentVecEnv", "Policy", "SelfPlayVecEnv", "policy_of", "uniform_policy"]
