"""Rules of one's own in the page's engine, run by Node: what is refused, who plays them, what they cost."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from millebornes_env.agents.champion import champion_for, champions_of
from millebornes_env.agents.protocol import Table
from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.play.web.table import CardTable
from tests.play.web import test_page_engine as page
from tests.play.web.test_page_engine import TABLES, WEB, answers, ask

pytestmark = page.pytestmark


def test_rules_that_make_no_game_are_refused_in_the_words_of_python() -> None:
    labels = [
        "parker+hand_limit=60",
        "parker+max_200=9",
        "parker+target=2025",
        "parker+extended_target=600",
        "parker+copies_of_25=106",
        "mini7-v0+copies_of_100=0+copies_of_50=0+copies_of_25=3",
    ]
    result = answers(*(["start", {"edition": label}] for label in labels))
    for label, one in zip(labels, result, strict=True):
        with pytest.raises(EditionError) as refused:
            edition(label).table(2)
        problem = str(refused.value).removeprefix("at the table of 2 players, ")
        assert one["error"] == f"These rules make no game: {problem}."


WITH_TWO = [
    "",
    "count_points=0",
    "when_pile_is_empty=1",
    "hazard_opens_pile=1",
    "extended_target=0",
    "goal=1000",
    "play_out_after_extension=0",
    "play_out_after_extension=1+when_pile_is_empty=0",
    "count_points=0+hazard_opens_pile=1",
    "extended_target=0+when_pile_is_empty=1",
]
OF_TABLES = [(name, 2, 2, change) for name in editions() for change in WITH_TWO]
OF_TABLES += [(*table, "max_200=2+hand_limit=5") for table in TABLES if table[1] > 2]


def test_overridden_rules_have_the_champion_that_python_asks() -> None:
    """Its opinion shows which network it is, and that it sees the overridden rules."""
    asked, expected = [], []
    for name, players, teams, change in OF_TABLES:
        label = f"{name}+{change}" if change else name
        given = {"edition": label, "players": players, "teams": teams, "seed": 12}
        asked.append(("answers", [["start", given], ["think", {}]]))
        table = CardTable()
        table.start(label, players, teams, seed=12)
        expected.append((champion_for(Table.of(table._at_the_table())), table.think()))
    assert len({network for network, _ in expected}) == len(champions_of("millebornes"))
    for (_, there), (network, here) in zip(ask(*asked), expected, strict=True):
        for worth in ("value", "win"):
            assert (there[worth] is None) == (here[worth] is None), network
            if here[worth] is not None:
                assert there[worth] == pytest.approx(here[worth], abs=0.1), network
        chances = {one["action"]: one["p"] for one in there["probabilities"]}
        assert len(chances) == len(here["probabilities"])
        for one in here["probabilities"]:
            assert chances[one["action"]] == pytest.approx(one["p"], abs=0.001), network


def test_only_the_network_that_plays_is_loaded_and_once() -> None:
    calls: list[list[Any]] = []
    for label in ("parker+count_points=0", "parker+goal=1000", "parker", "dujardin"):
        calls += [["start", {"edition": label, "seed": 1}], ["choose", {"agent": "strategist"}]]
        calls += [["choose", {"agent": "champion"}], ["think", {}]]
    assert ask(("loaded", calls[:2]))[0] == []
    assert ask(("loaded", calls))[0] == ["all-2.bin", "parker-2.bin"]


def test_a_sheet_may_have_a_plus_in_its_name() -> None:
    given = [
        ("a+b=2", ["a", "a+b=2"]),
        ("a+b=2+goal=7", ["a", "a+b=2"]),
        ("a+goal=7", ["a"]),
        ("a+", ["a"]),
        ("c+goal=x", []),
    ]
    program = (
        f"const {{ labelOf, partsOfLabel }} = await import({json.dumps((WEB / 'labels.js').as_uri())});"
        f"const found = {json.dumps(given)}.map((one) => partsOfLabel(...one));"
        "const again = labelOf('a', { goal: 7, b: 1 });"
        "console.log(JSON.stringify([found, again]));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True
    )
    result, again = json.loads(done.stdout)
    assert [(one["name"], one["changes"]) for one in result] == [
        *[("a+b=2", {}), ("a+b=2", {"goal": 7}), ("a", {"goal": 7}), ("a", {}), ("c", {})]
    ]
    assert [bool(one["problem"]) for one in result] == [False, False, False, True, True]
    assert again == "a+b=1+goal=7"


def test_tables_of_changed_rules_do_not_fill_the_memory() -> None:
    """Those that were played at last are kept."""
    lists = []
    for goal in range(1_000, 1_030):
        start = {"edition": f"parker+goal={goal}", "seed": 4}
        thinking: list[list[Any]] = [["think", {"search": True, "belief": True}]]
        lists.append([["start", start], *thinking, ["choose", {"agent": "strategist+search"}]])
    held = ask(("held", lists))[0]
    assert not any("error" in answer for one in held for answer in one["said"])
    assert [one["rooms"] for one in held] == [1, 2, 3, *[4] * 27]
    first, last = held[0]["said"], held[-1]["said"]
    assert last[2]["action"] == first[2]["action"]
    assert last[1]["belief"] == first[1]["belief"]


def test_a_network_that_did_not_come_is_asked_for_again() -> None:
    calls = [["start", {"edition": "parker", "seed": 5}], ["choose", {"agent": "champion"}]]
    ((_, failed), (_, chosen)) = ask(("failing", calls))[0]
    assert failed["error"] == "parker-2.bin does not come"
    assert "action" in chosen
