"""What an agent is: a batch of observations and masks in, a batch of actions out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env import Rules, VectorEnv
from millebornes_env.millebornes.observation import Section

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Actions = npt.NDArray[np.int64]


class Agent(Protocol):
    """Chooses for one seat in many games at once; which seat does not matter, observations are relative.

    Attributes:
        name: what tables of results call it.
    """

    name: str

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose an action for each row.

        Args:
            observations: int8[N, D], what the deciding seats see.
            action_masks: int8[N, A], 1 where an action is legal; each row has at least one.

        Returns:
            int64[N], a legal action for each row.
        """
        ...


@dataclass(frozen=True)
class Table:
    """What an agent is told about the table that it will play at.

    Attributes:
        edition: name of the rule sheet, with what was overridden.
        rules: of the table.
        sections: layout of the observations.
        observation_version: of that layout.
        num_actions: A.
    """

    edition: str
    rules: Rules
    sections: tuple[Section, ...]
    observation_version: int
    num_actions: int

    @classmethod
    def of(cls, env: VectorEnv) -> Table:
        """The table of an environment."""
        return cls(
            edition=env.edition.label,
            rules=env.rules,
            sections=env.observation_sections,
            observation_version=env.observation_version,
            num_actions=int(env.single_action_space.n),
        )

    def view(self, observations: Observations, name: str) -> npt.NDArray[np.int64]:
        """The numbers of one section of the observations, int64[N, size] (safe to calculate with)."""
        for section in self.sections:
            if section.name == name:
                return observations[:, section.start : section.stop].astype(np.int64)
        raise KeyError(f"the observations have no section {name!r}")


def best_legal(preference: npt.NDArray[np.int64], action_masks: Masks) -> Actions:
    """The legal action that is preferred most; the lowest id where two are equal.

    Args:
        preference: int64[A] or int64[N, A], the higher the better.
        action_masks: int8[N, A].

    Returns:
        int64[N].
    """
    lowest = np.iinfo(np.int64).min
    chosen: Actions = np.where(action_masks != 0, preference, lowest).argmax(axis=1)
    return chosen
