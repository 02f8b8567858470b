"""`check_edition`: random play at the tables of an edition, every law checked at every step."""

from __future__ import annotations

from typing import Final

from millebornes_env._util.arguments import MOST_STEPS, at_least_one, checked_seed
from millebornes_env.errors import ConformanceError, OptionError
from millebornes_env.games.millebornes.actions import action_name
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.rules import Rules, compiled_rules
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.testing.audited_play import FOUND, NO_ACTION, new_play, play_kernels
from millebornes_env.testing.millebornes import random_play
from millebornes_env.testing.tables import tables_of

GAMES: Final = 16
"""Number of games played side by side at a table."""


def check_edition(
    edition: str | Edition,
    *,
    players: int | None = None,
    teams: int | None = None,
    steps: int = 100_000,
    seed: int = 0,
) -> dict[tuple[int, int], dict[str, int]]:
    """Play an edition at random and check every law at every step: of the state, the mask, the observation.

    Args:
        edition: name of a rule sheet of Mille Bornes, or an `Edition` of your own.
        players: seats at the table; None: every table of the edition.
        teams: teams at the table, with `players`; None: the sheet's default for this number of players.
        steps: minimum number of steps at each table.
        seed: seed of the games, 0 to 2**64 - 1.

    Returns:
        Counts of events, for each table (players, teams): games, rounds, claims, extensions ...

    Raises:
        ConformanceError: a law was broken; the message says at which table, in which game and at which step.
        OptionError: `steps` is not a whole number of at least 1, `teams` is given without `players`, or the
            sheet is of another game.
        MilleBornesError: the edition, the table or the seed is invalid.
    """
    sheet = find_edition(edition)
    if not isinstance(sheet, Edition):
        raise OptionError(
            f"{sheet.label} is a sheet of the game {sheet.game!r}; check_edition knows the laws of "
            "'millebornes' only"
        )
    number = at_least_one("steps", steps, MOST_STEPS, OptionError)
    chosen = checked_seed(seed, or_none=False)
    return {
        (rules.players, rules.teams): _check_table(sheet.label, rules, number, chosen)
        for rules in (sheet.table(*table) for table in tables_of(sheet, players, teams))
    }


def _check_table(label: str, rules: Rules, steps: int, seed: int) -> dict[str, int]:
    play, compiled = new_play(random_play, GAMES, rules, seed), compiled_rules(rules)
    kernels = play_kernels(random_play)
    kernels.begin(play, compiled)
    kernels.play_on(play, compiled, -(-steps // GAMES))
    counts = dict(zip(random_play.COUNTS, play.counts.tolist(), strict=True))
    if counts["violations"]:
        result = dict(zip(FOUND, play.found[0].tolist(), strict=True))
        action = result["action"]
        what = "the deal"
        if action != NO_ACTION:
            what = action_name(action, rules.teams, result["seat"] % rules.teams)
        law = random_play.message_of(result["violation"], rules, random_play.laws.ALL_MESSAGES)
        raise ConformanceError(
            f"{label}, {rules.players} players in {rules.teams} teams, seed {seed}, game {result['game']}, "
            f"step {result['step']}, seat {result['seat']}, {what}: {law} "
            f"({counts['violations']} violations in {counts['steps']:,} steps)"
        )
    return counts
