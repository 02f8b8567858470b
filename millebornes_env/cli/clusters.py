"""The option --cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from millebornes_env.arena.cluster.match import play_tournament_on
from millebornes_env.arena.cluster.ray import Cluster, connected
from millebornes_env.arena.tournament import OnTurn, Tournament, play_tournament
from millebornes_env.errors import ArenaError, shown

PlayTournament = Callable[[Tournament, Path, int | None, OnTurn | None], Tournament]
"""The signature of `play_tournament`, here or on a cluster."""


@contextlib.contextmanager
def cluster_at(address: str | None, edition: str | None = None) -> Iterator[Cluster | None]:
    """Connect to a Ray cluster, with the module of a user's game in `edition`; yield None without one."""
    if address is None:
        yield None
        return
    with connected(address, modules=game_modules(edition)) as cluster:
        yield cluster


@contextlib.contextmanager
def players_of(address: str | None, edition: str | None = None) -> Iterator[PlayTournament]:
    """Yield the function that plays tournaments; arguments and errors as for `cluster_at`."""
    with cluster_at(address, edition) as cluster:
        yield play_tournament if cluster is None else partial(play_tournament_on, cluster)


def game_modules(edition: str | None) -> tuple[str, ...]:
    """Return the module named in an edition (`editions.with_its_game`); raise an ArenaError for a file."""
    module, colon, _ = (edition or "").partition(":")
    if module.endswith(".py"):
        raise ArenaError(
            f"--cluster with the game in {shown(module)}: name its module instead, which every node can "
            f"import, such as {Path(module).stem}:SHEET"
        )
    is_sheet = "-" in module or (edition or "").endswith(".toml")
    return (module,) if colon and not is_sheet else ()
