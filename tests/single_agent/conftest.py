"""The file of Pig, the game of docs/add_a_game.md, for these tests too."""

from tests.games.conftest import _games_as_they_were, pig_file

__all__ = ["_games_as_they_were", "pig_file"]
