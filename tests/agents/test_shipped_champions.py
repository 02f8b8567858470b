"""The policies that come with the project: they are there, small, and play as their cards say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.champions import DOCS, JSON_FILE, lines_of, markdown
from millebornes_env import agents, edition, editions
from millebornes_env.agents.champion import CHAMPIONS, champion_for, champions_of
from millebornes_env.agents.policy.files import ROUNDED_FORMAT
from millebornes_env.arena.learning_curve import Score
from millebornes_env.arena.match import MatchConfig, play
from tests.each import each

A_QUARTER_OF_A_MEGABYTE = 250_000
TWO_MEGABYTES = 2_000_000
RACE = MatchConfig("arc_en_ciel", 4, seed=13)
TABLES = {
    "parker-2": MatchConfig("parker", 2),
    "all-2": MatchConfig("parker", 2),
    "all-3": MatchConfig("parker", 3),
    "all-4-in-2": MatchConfig("parker", 4, 2),
    "all-6-in-3": MatchConfig("parker", 6, 3),
    "dujardin-4": MatchConfig("dujardin", 4, 4),
    "dujardin-8-in-4": MatchConfig("dujardin", 8, 4),
    "dutch-6-in-2": MatchConfig("dutch", 6, 2),
    "arc_en_ciel-4": RACE,
}
EVERYWHERE = [(name, *table) for name in editions() for table in edition(name).tables]
OVERRIDDEN = (
    "parker+roll_after_safety=0+points_extension_failed=0+discard_safeties=0+end_when_stuck=1",
    *("parker+goal=1000", "parker+hand_limit=10", "parker+extended_target=0", "parker+roll_after_remedy=0"),
    *("parker+discard_only_if_stuck=1", "parker+copies_of_right_of_way=0", "parker+when_pile_is_empty=1"),
    *("dutch+when_pile_is_empty=0", "winning_moves+hazard_opens_pile=0"),
)
"""Rules with which two play, too: the first as BSD mille has them, and those where the choice is close."""
every_table = pytest.mark.parametrize("where", EVERYWHERE, ids=lambda where: "{}-{}-in-{}".format(*where))


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_all_are_listed_here_and_together_small() -> None:
    folders = {path.name: size_of(path) for path in CHAMPIONS.iterdir()}
    assert set(folders) == set(TABLES)
    assert sum(folders.values()) < TWO_MEGABYTES


@each("which", TABLES)
def test_it_is_small_and_has_a_card(which: str) -> None:
    folder, config = CHAMPIONS / which, TABLES[which]
    assert size_of(folder) < A_QUARTER_OF_A_MEGABYTE
    assert which in champions_of(config.game.name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    strongest = "bidder" if config is RACE else "arnold"
    for word in ("--seed", "minutes", strongest, "## Limits"):
        assert word in card
    agent = agents.make(f"champion:which={which}", config.table())
    assert agent.value == ("win" if config is RACE else "points")
    assert agent.description["format"] == ROUNDED_FORMAT
    weights = sum(weight.size + bias.size for weight, bias in agent.layers)
    assert f"{weights:,} weights" in card


@every_table
def test_it_beats_greedy_at_every_table(where: tuple[str, int, int]) -> None:
    """It wins a fifth more than its share, where points are counted, and else more than its share."""
    config = MatchConfig(*where, seed=11)
    score = Score.of([play(["champion", "greedy"], config, 120 if config.has_points else 400)])
    even = 1.0 / config.rules.teams
    assert score.win_rate - 2 * score.win_error > (1.15 if config.has_points else 1.0) * even


@every_table
def test_every_table_has_a_champion_that_knows_it(where: tuple[str, int, int]) -> None:
    table = MatchConfig(*where).table()
    about = champions_of("millebornes")[champion_for(table)]
    assert (about["players"], about["teams"]) == where[1:]
    like_parker = [("dujardin_classic", 2, 2), ("dutch", 2, 2)]
    assert where[0] in about["editions"] or where in like_parker
    with_rules = MatchConfig(f"{where[0]}+hand_limit=5", *where[1:]).table()
    agents.make("champion", with_rules)


def test_the_page_has_the_figures_that_were_measured() -> None:
    lines = lines_of(json.loads(JSON_FILE.read_text(encoding="utf-8")))
    assert {(line.edition, line.players, line.teams) for line in lines} == set(EVERYWHERE)
    assert {line.agent for line in lines} == set(TABLES) - {"arc_en_ciel-4"}
    assert all(line.errors_above_even > 5 for line in lines), "it is to win more than its share everywhere"
    page = (DOCS.parent / "research" / "notes" / "champions.md").read_text(encoding="utf-8")
    for row in markdown(lines).splitlines():
        assert row in page


@pytest.mark.slow
@pytest.mark.parametrize("name", [*editions(), *OVERRIDDEN])
def test_no_champion_is_beaten_by_another_one_where_it_is_chosen(name: str) -> None:
    """For two players there are two; 4,000 matches."""
    config = MatchConfig(name, 2, seed=77)
    chosen = champion_for(config.table())
    (other,) = {"parker-2", "all-2"} - {chosen}
    score = Score.of([play([f"champion:which={chosen}", f"champion:which={other}"], config, 2000)])
    assert score.win_rate + 2 * score.win_error > 0.5


def test_it_beats_arnold() -> None:
    config = MatchConfig("parker", 2, seed=12)
    champion, arnold = (
        agents.make(spec, config.table(), seed) for seed, spec in enumerate(("champion", "arnold"))
    )
    score = Score.of([play([champion, arnold], config, 1500)])
    assert score.win_rate - 2 * score.win_error > 0.53


def test_in_the_race_it_beats_three_bidders() -> None:
    """Even is one race in four."""
    champion, bidder = (
        agents.make(spec, RACE.table(), seed) for seed, spec in enumerate(("champion", "bidder"))
    )
    score = Score.of([play([champion, bidder], RACE, 60)])
    assert score.matches == 240
    assert score.win_rate - 2 * score.win_error > 0.35
