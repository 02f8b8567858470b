"""As much of TextArena 0.7.4 as our game asks for, for tests where it is not installed.

Names, arguments and what is done with them are those of `textarena.core`, `.state` and `.envs.registration`.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from typing import Any


class ObservationType(enum.Enum):
    PROMPT = enum.auto()
    PLAYER_ACTION = enum.auto()
    GAME_ACTION_DESCRIPTION = enum.auto()
    GAME_MESSAGE = enum.auto()
    GAME_BOARD = enum.auto()
    GAME_ADMIN = enum.auto()


class State:
    def __init__(self, num_players: int, seed: int | None = None, error_allowance: int = 1) -> None:
        assert seed is None, "a seed is given to Python's global random numbers"
        self.num_players, self.error_allowance, self.current_player_id = num_players, error_allowance, 0

    def reset(self, game_state: dict[str, Any], player_prompt_function: Callable[..., str]) -> None:
        self.game_state, self.done, self.rewards, self.reason = game_state, False, None, ""
        self.error_count, self.made_invalid_move, self.turns = (
            0,
            False,
            dict.fromkeys(range(self.num_players), 0),
        )
        self.observations: dict[int, list[Any]] = {player: [] for player in range(self.num_players)}
        for player in range(self.num_players):
            message = player_prompt_function(player_id=player, game_state=game_state)
            self.add_observation(message, ObservationType.PROMPT, to_id=player)

    def add_observation(
        self, message: str, observation_type: ObservationType, from_id: int = -1, to_id: int = -1
    ) -> None:
        for player in range(self.num_players) if to_id == -1 else [to_id]:
            self.observations[player].append((from_id, message, observation_type))

    def get_current_player_observation(self) -> list[Any]:
        seen = self.observations[self.current_player_id]
        self.observations[self.current_player_id] = []
        return seen

    def manually_set_current_player_id(self, new_player_id: int) -> None:
        if not self.made_invalid_move:
            self.current_player_id, self.error_count = new_player_id, 0

    def step(self, rotate_player: bool = True) -> tuple[bool, dict[str, Any]]:
        if not self.made_invalid_move:
            self.error_count = 0
            self.turns[self.current_player_id] += 1
        if not self.done and rotate_player and not self.made_invalid_move:
            self.current_player_id = (self.current_player_id + 1) % self.num_players
        self.made_invalid_move = False
        return self.done, {}

    def _end(self, rewards: dict[int, Any], reason: str) -> None:
        self.rewards, self.reason, self.done = rewards, reason, True

    def close(self) -> tuple[Any, str]:
        return self.rewards, self.reason


class TwoPlayerState(State):
    def set_winner(self, player_id: int, reason: str) -> None:
        self._end({player_id: 1, 1 - player_id: -1}, reason)

    def set_draw(self, reason: str) -> None:
        self._end({0: 0, 1: 0}, reason)

    def set_invalid_move(self, reason: str) -> None:
        if self.error_allowance > self.error_count:
            self.error_count += 1
            self.made_invalid_move = True
            self.add_observation(reason, ObservationType.GAME_ADMIN, to_id=self.current_player_id)
        else:
            self._end({self.current_player_id: -1, 1 - self.current_player_id: 1}, reason)


class FFAMultiPlayerState(State):
    def set_game_outcome(self, reward_dict: dict[int, float], reason: str) -> None:
        self._end(reward_dict, reason)

    def set_invalid_move(self, reason: str) -> bool:
        self.made_invalid_move = True
        if self.error_allowance > self.error_count:
            self.error_count += 1
            self.add_observation(reason, ObservationType.GAME_ADMIN, to_id=self.current_player_id)
            return False
        return True


class Env:
    state: Any

    def get_observation(self) -> tuple[int, list[Any]]:
        return self.state.current_player_id, self.state.get_current_player_observation()

    def close(self) -> Any:
        return self.state.close()


def modules() -> dict[str, types.ModuleType]:
    """Return the modules that stand in for `textarena` and its registration."""
    result = {
        name: types.ModuleType(name)
        for name in ("textarena", "textarena.envs", "textarena.envs.registration")
    }
    top, registration = result["textarena"], result["textarena.envs.registration"]
    for one in (ObservationType, State, TwoPlayerState, FFAMultiPlayerState, Env):
        setattr(top, one.__name__, one)
    top.wrappers = types.SimpleNamespace(LLMObservationWrapper=object)  # type: ignore[attr-defined]
    registry: dict[str, Any] = {}

    def register_with_versions(id: str, entry_point: Any, wrappers: dict[str, Any], **kwargs: Any) -> None:
        assert id not in registry
        registry[id] = entry_point

    registration.ENV_REGISTRY = registry  # type: ignore[attr-defined]
    registration.register_with_versions = register_with_versions  # type: ignore[attr-defined]
    return result
