"""The option --cluster: where commands play."""

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
"""`play_tournament`, here or on a cluster."""


@contextlib.contextmanager
def cluster_at(address: str | None, edition: str | None = None) -> Iterator[Cluster | None]:
    """A cluster, or None for this process alone.

    Args:
        address: of a Ray cluster; None: there is none.
        edition: as it was typed, perhaps with the module of a game of the user's before it.

    Raises:
        ArenaError: there is no such cluster.
    """
    if address is None:
        yield None
        return
    with connected(address, modules=game_modules(edition)) as cluster:
        yield cluster


@contextlib.contextmanager
def players_of(address: str | None, edition: str | None = None) -> Iterator[PlayTournament]:
    """What plays tournaments; the arguments are those of `cluster_at`.

    Raises:
        ArenaError: there is no such cluster.
    """
    with cluster_at(address, edition) as cluster:
        yield play_tournament if cluster is None else partial(play_tournament_on, cluster)


def game_modules(edition: str | None) -> tuple[str, ...]:
    """Return the module that an edition names before its sheet (`editions.with_its_game`), if it does.

    Raises:
        ArenaError: it names a file.
    """
    module, colon, _ = (edition or "").partition(":")
    if module.endswith(".py"):
        raise ArenaError(
            f"--cluster with the game in {shown(module)}: name its module instead, which every node can "
            f"import, such as {Path(module).stem}:SHEET"
        )
    return (module,) if colon and not (edition or "").endswith(".toml") else ()
