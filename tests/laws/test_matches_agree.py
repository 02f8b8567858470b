"""The rulebook and the oracle agree about matches: totals, dealers, who won, when another round is due."""

from __future__ import annotations

from collections import Counter
from itertools import product

from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.winning import match_winner as winner_of_match
from tests.each import each
from tests.laws.comparison import play_matches
from tests.laws.conversions import TABLES, Table, new_games, num_ids, or_minus_one, rules_of, to_id, to_oracle
from tests.laws.players import MIXES
from tests.oracle.oracle import match_winner

WITH_POINTS = (
    Table("parker", 2, 2),
    Table("dujardin_classic", 3, 3),
    Table("winning_moves", 4, 2),
    Table("dutch", 6, 2),
)
WITHOUT_POINTS = (Table("dujardin", 8, 4), Table("dujardin_2014", 4, 4))
with_points = each("table", WITH_POINTS)


@with_points
def test_matches_agree(table: Table) -> None:
    seen = play_matches(
        table, 12, seed=20 + table.players, mixes=range(len(MIXES) - 1)
    )  # all idle: nobody wins
    assert seen["rounds"] > 33
    assert all(seen[f"won by {team}"] > 0 for team in range(table.teams))
    assert all(seen[f"first dealer {seat}"] > 0 for seat in range(table.players))


@each("table", WITHOUT_POINTS)
def test_without_points_a_match_is_one_round(table: Table) -> None:
    seen = play_matches(table, 54, seed=table.players, mixes=range(len(MIXES)))
    assert seen["rounds"] == 54
    assert all(seen[f"won by {team}"] > 0 for team in range(table.teams))
    assert all(seen[f"first dealer {seat}"] > 0 for seat in range(table.players))
    assert seen["won by None"] > 0


@with_points
def test_equal_totals_at_the_goal_ask_for_another_round(table: Table) -> None:
    seen = play_matches(table, 2, seed=10 + table.players, mixes=[len(MIXES) - 1], goal=0)
    assert seen["tie at the goal"] >= 3


@each("table", [table for table in TABLES if rules_of(table).count_points])
def test_the_same_totals_decide_a_match(table: Table) -> None:
    games = new_games(table)
    state, rules = games.states[0], rules_record(games.rules)
    decided: Counter[int | None] = Counter()
    for totals in product((0, 4975, 5000, 5025, 12_000), repeat=table.teams):
        state.score[: len(totals)] = totals
        expected = match_winner(list(totals))
        assert winner_of_match(state, rules) == or_minus_one(expected), totals
        decided[expected] += 1
    assert len(decided) == table.teams + 1


@each("teams", [2, 3, 4])
def test_every_action_id_has_its_own_name_and_back(teams: int) -> None:
    for team in range(teams):
        names = [to_oracle(action, teams, team) for action in range(num_ids(teams))]
        assert len(set(names)) == num_ids(teams)
        assert [to_id(name, teams, team) for name in names] == list(range(num_ids(teams)))
        attacked = {name[2] for name in names if len(name) == 3}
        assert attacked == {str(other) for other in range(teams) if other != team}
