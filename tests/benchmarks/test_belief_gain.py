"""Tests of `research.measurements.belief_gain`: paired leads of two searchers, and its options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.match import play as really_play
from research.measurements import belief_gain
from research.measurements.belief_gain import TURN, Args, compared


def test_the_difference_is_paired_over_all_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick agents take the places of the searchers."""

    def play(agents: Any, config: MatchConfig, deals: int, *, first_deal: int = 0) -> Any:
        name = "holder" if "belief=network" in agents[0] else "greedy"
        return really_play([name, agents[1]], config, deals, first_deal=first_deal)

    monkeypatch.setattr(belief_gain, "play", play)
    line = compared("random", Args(deals=2 * TURN))
    leads = [
        really_play([name, "random"], MatchConfig(episode="round", seed=1), 2 * TURN).lead.mean(axis=1)
        for name in ("holder", "greedy")
    ]
    assert (line.belief, line.uniform) == pytest.approx([one.mean() for one in leads])
    differences = leads[0] - leads[1]
    assert line.difference == pytest.approx(differences.mean())
    assert line.difference_error == pytest.approx(differences.std(ddof=1) / np.sqrt(2 * TURN))
    assert line.deals == 2 * TURN
