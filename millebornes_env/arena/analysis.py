"""From a tournament to its report: the analysis, the pictures and the file with everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from millebornes_env.arena.estimates import fit_luck
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.match import EPISODES, MatchConfig, play
from millebornes_env.arena.pictures import save_payoff, save_ratings
from millebornes_env.arena.report import Analysis, analyse, markdown, to_json
from millebornes_env.arena.results import table_words
from millebornes_env.arena.tournament import Tournament
from millebornes_env.files import write_json_atomically, write_text_atomically
from millebornes_env.versions import versions

REPORT_FORMAT: Final = 1

LUCK_SAMPLE: Final = ("greedy", "arnold")
"""The agents whose games say what luck is worth at a table, whoever plays the tournament."""
LUCK_DEALS: Final = 3000
_LUCK_SEED: Final = 0x6C75636B  # other deals than a tournament's, whatever its seed (but for this one)


def luck_weights(config: MatchConfig) -> Float64Array:
    """What luck is worth at a table: fitted to deals that no tournament plays, always the same.

    Args:
        config: the table.

    Returns:
        float64[F], points for a card more than expected, by card type.
    """
    sample = replace(config, seed=_LUCK_SEED, luck=True, plain=False)
    return fit_luck(play(LUCK_SAMPLE, sample, LUCK_DEALS))


def table_name(config: MatchConfig) -> str:
    """Such as "parker, 4 players in 2 teams, matches"."""
    return f"{table_words(config.edition, config.players, config.rules.teams)}, {EPISODES[config.episode]}"


def analysed(tournament: Tournament, anchor: str | None = None) -> Analysis:
    """Work out everything that has been played.

    Args:
        tournament: complete or not.
        anchor: name of the agent to rate 0; None: the mean is 0.
    """
    match = tournament.config.match
    return analyse(
        tournament.names,
        [tournament.outcomes[lineup] for lineup in sorted(tournament.outcomes)],
        anchor=None if anchor is None else tournament.names.index(anchor),
        seed=match.seed,
        luck_weights=luck_weights(match) if match.luck else None,
    )


def save_report(
    tournament: Tournament, analysis: Analysis, folder: Path, config: Mapping[str, Any]
) -> list[Path]:
    """Write everything as JSON and Markdown, and the two pictures.

    Args:
        tournament: that was played.
        analysis: of it.
        folder: to write to.
        config: what was asked for, with all defaults filled in.

    Returns:
        The files.

    Raises:
        OSError: one could not be written; an older one is as it was.
    """
    content = {
        "format": REPORT_FORMAT,
        "started": tournament.started,
        "config": dict(config),
        "entrants": [asdict(entrant) for entrant in tournament.entrants],
        "versions": versions(),
        **to_json(analysis),
    }
    table = table_name(tournament.config.match)
    files = [folder / name for name in ("arena.json", "report.md", "payoff.png", "ratings.png")]
    write_json_atomically(files[0], content)
    pictures = "![Ratings with intervals](ratings.png)\n\n![Points per round of each pair](payoff.png)\n"
    write_text_atomically(files[1], f"# {table}\n\n{pictures}\n{markdown(analysis)}")
    save_payoff(files[2], analysis.names, analysis.payoff, analysis.ratings.order(), table)
    save_ratings(files[3], analysis.names, analysis.ratings, table)
    return files
