"""The rulebook and the oracle play the same games and agree at every decision."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from millebornes_env.engine.games import NO_GAME, Games
from millebornes_env.millebornes.editions import rules_record
from millebornes_env.millebornes.ending import match_winner as winner_of_match
from millebornes_env.millebornes.observation import sections
from millebornes_env.millebornes.state import SCORE_LINES
from tests.laws.conversions import (
    CALLS,
    CARDS,
    DECISIONS,
    LIMIT,
    MATCH,
    MIXES,
    TABLES,
    Record,
    choose,
    counts,
    dealt_streams,
    legal_ids,
    less,
    new_games,
    num_ids,
    plain,
    style_of,
    to_id,
    to_oracle,
)
from tests.oracle import BATTLE_HAZARDS, SAFETIES, Action, OracleRound, deck, match_winner, next_dealer

# How often each event has to occur in so many rounds at each of the tables, or the comparison shows little.
ROUNDS = 500
EXTENDABLE = (2, 3, 6)
EVERYWHERE = {
    "claim": 100,
    "pass": 40,
    "claim of Right of Way": 30,
    "Right of Way lifts a Stop": 3,
    "Right of Way lifts a Speed Limit": 3,
    "decision on a cancelled hazard": 50,
    "third 200 refused": 20,
    "play-out": 1000,
    "empty hand skipped": 10,
    "draw from another stream": 100,
    "void play after the last safety": 20,
    "claim with fewer than two cards to draw": 2,
    "nobody completed": 100,
    "safeties": 300,
    "all_safeties": 1,
    "coups_fourres": 60,
    "trip_completed": 40,
    "delayed_action": 8,
    "safe_trip": 4,
    "shutout": 3,
}
WHERE_EXTENDABLE = {
    "extend": 50,
    "finish": 20,
    "extension": 40,
    "extension succeeded": 10,
    "extension failed": 30,
}
WITH_THREE_TEAMS = {"hazard not at the next team": 300, "extension shared by two": 30}


def name_or_none(card: int) -> str | None:
    return None if card < 0 else CARDS[card]


def or_minus_one(number: int | None) -> int:
    return -1 if number is None else number


def view_of(record: Record, players: int, teams: int) -> dict[str, object]:
    """The record in the oracle's words."""
    phase = DECISIONS[record["phase"]]
    return {
        "seat": None if phase is None else record["seat"],
        "decision": phase,
        "hands": record["hand"][:players],
        "hand counts": record["hand_count"][:players],
        "streams": less(record["stream_end"], record["stream_next"])[:players],
        "pile": record["draw_pile"],
        "discard pile": record["discard_pile"],
        "discard top": name_or_none(record["discard_top"]),
        "battle": [name_or_none(card) for card in record["battle"][:teams]],
        "speed": [name_or_none(card) for card in record["speed"][:teams]],
        "laid": record["tableau"][:teams],
        "km": record["km"][:teams],
        "coups": [[bool(flag) for flag in flags] for flags in record["coup_fourre"][:teams]],
        "target": record["target"],
        "caller": record["extension_team"],
        "pending": name_or_none(record["pending_hazard"]),
        "winner": record["winner"],
    }


def view_of_oracle(oracle: OracleRound) -> dict[str, object]:
    teams = oracle.teams
    return {
        "seat": oracle.seat,
        "decision": oracle.decision,
        "hands": [counts(hand) for hand in oracle.hands],
        "hand counts": [len(hand) for hand in oracle.hands],
        "streams": [len(stream) for stream in oracle.streams],
        "pile": oracle.pile_size(),
        "discard pile": counts(oracle.discard_pile),
        "discard top": oracle.discard_pile[-1] if oracle.discard_pile else None,
        "battle": [team.battle_top() for team in teams],
        "speed": [team.speed_top() for team in teams],
        "laid": [
            counts(team.battle_pile + team.speed_pile + team.distance_pile + team.safeties) for team in teams
        ],
        "km": [team.km for team in teams],
        "coups": [[safety in team.coups_fourres for safety in SAFETIES] for team in teams],
        "target": oracle.target,
        "caller": or_minus_one(oracle.extension_caller),
        "pending": oracle.pending_hazard,
        "winner": or_minus_one(oracle.winner),
    }


class Comparison:
    """Some games, an oracle beside each, and what has happened in them."""

    def __init__(self, games: Games, seed: int, mixes: Sequence[int] = range(len(MIXES))) -> None:
        self.games = games
        self.mixes = mixes
        self.players, self.teams = games.rules.players, games.rules.teams
        self.layout = {section.name: section for section in sections(games.rules)}
        self.chances = [random.Random(f"{seed}/{game}") for game in range(len(games))]
        self.events: Counter[str] = Counter()
        self.live = set(range(len(games)))
        self.records = plain(games, self.live)
        self.oracles = [self.dealt(self.records[game]) for game in sorted(self.live)]

    def dealt(self, record: Record) -> OracleRound:
        streams = dealt_streams(record, self.players)
        assert sorted(card for stream in streams for card in stream) == sorted(deck(self.players))
        lengths = [len(stream) for stream in streams]
        assert max(lengths) - min(lengths) <= 1
        return OracleRound(self.players, streams, record["dealer"])

    def compare(self, game: int, record: Record) -> list[int]:
        """Compare one game; returns the legal actions."""
        oracle = self.oracles[game]
        ours, theirs = view_of(record, self.players, self.teams), view_of_oracle(oracle)
        differences = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
        assert not differences, f"game {game} (rulebook, oracle): {differences}"
        legal = legal_ids(self.games, game)
        if oracle.seat is not None:
            team = oracle.team_of(oracle.seat)
            names = {to_oracle(action, self.teams, team) for action in legal}
            assert names == oracle.legal_actions(), f"game {game}"
            for name in ("moving", "limited"):
                expected = [getattr(side, f"is_{name}")() for side in oracle.teams]
                seen = self.section(game, name)
                assert seen == expected[team:] + expected[:team], f"game {game}: {name}"
        return legal

    def section(self, game: int, name: str) -> list[int]:
        section = self.layout[name]
        return self.games.buffers.observation[game, section.start : section.stop].tolist()

    def choose(self, game: int, record: Record, legal: list[int]) -> int:
        mix, lead = self.mixes[game % len(self.mixes)], game // len(self.mixes) % self.teams
        style = style_of(mix, lead, record["seat"] % self.teams)
        return choose(self.chances[game], style, legal, record, self.teams)

    def step(self) -> None:
        """Compare all games that are not over, and carry out one action in each."""
        actions = np.full(len(self.games), -1, np.int64)
        for game in self.live:
            record = self.records[game]
            actions[game] = self.choose(game, record, self.compare(game, record))
            action = to_oracle(int(actions[game]), self.teams, record["seat"] % self.teams)
            self.note(self.oracles[game], action)
            self.oracles[game].step(action)
        assert self.games.step(actions) == NO_GAME
        self.records = plain(self.games, self.live, without="deck")

    def note(self, oracle: OracleRound, action: Action) -> None:
        """Count what is about to happen."""
        events, seat = self.events, oracle.seat
        assert seat is not None
        team = oracle.teams[oracle.team_of(seat)]
        if action in CALLS.values():
            events[action[0]] += 1
        safety = None
        if action[0] == "claim":
            safety = {"STOP": "RIGHT_OF_WAY", "SPEED_LIMIT": "RIGHT_OF_WAY"}.get(str(oracle.pending_hazard))
            events["claim of Right of Way"] += safety is not None
            events["claim with fewer than two cards to draw"] += oracle.pile_size() < 2
        elif action[0] == "play":
            safety = action[1]
            is_last = safety in SAFETIES and len(oracle.hands[seat]) == 1
            events["void play after the last safety"] += is_last and oracle.pile_size() == 0
            next_team = (oracle.team_of(seat) + 1) % self.teams
            events["hazard not at the next team"] += len(action) == 3 and action[2] != str(next_team)
        if safety == "RIGHT_OF_WAY":
            events["Right of Way lifts a Stop"] += team.battle_top() == "STOP"
            events["Right of Way lifts a Speed Limit"] += team.is_limited()
        has_200 = "DISTANCE_200" in oracle.hands[seat] and team.distance_pile.count("DISTANCE_200") == 2
        events["third 200 refused"] += has_200 and team.is_moving() and not team.is_limited()
        events["decision on a cancelled hazard"] += (
            team.battle_top() in BATTLE_HAZARDS and not team.live_hazard()
        )
        events["play-out"] += oracle.pile_size() == 0
        events["empty hand skipped"] += (
            not oracle.hands[(seat + 1) % self.players] and len(oracle.hands[seat]) > 1
        )
        events["draw from another stream"] += oracle.pile_size() > 0 and not oracle.streams[seat]

    def note_sheets(self, sheets: list[dict[str, int]], oracle: OracleRound) -> None:
        for sheet in sheets:
            self.events.update(line for line, points in sheet.items() if points)
        self.events["nobody completed"] += oracle.winner is None
        if oracle.extension_caller is not None:
            succeeded = oracle.winner == oracle.extension_caller
            self.events["extension succeeded" if succeeded else "extension failed"] += 1
            self.events["extension shared by two"] += sum(sheet["extension"] > 0 for sheet in sheets) == 2

    def finish_round(self, game: int, record: Record) -> list[int]:
        """Compare the score sheets of a finished round; returns the teams' points."""
        oracle = self.oracles[game]
        sheets = [oracle.score(team) for team in range(self.teams)]
        for team, sheet in enumerate(sheets):
            ours = dict(zip(SCORE_LINES, record["score_sheet"][team], strict=True))
            assert ours == sheet, f"game {game}, team {team}"
        self.note_sheets(sheets, oracle)
        return [sum(sheet.values()) for sheet in sheets]


def play_rounds(players: int, rounds: int, seed: int) -> Counter[str]:
    """Play rounds and compare them decision by decision; returns what happened how often."""
    games = new_games(players, rounds, seed=seed)
    comparison = Comparison(games, seed)
    for _ in range(LIMIT):
        comparison.step()
        for game, record in comparison.records.items():
            if not comparison.oracles[game].over:
                assert not games.buffers.terminations[game]
                assert not games.buffers.rewards[game].any()
                continue
            assert comparison.compare(game, record) == []
            points = comparison.finish_round(game, record)
            best = points.index(max(points)) if points.count(max(points)) == 1 else -1
            assert games.buffers.terminations[game]
            assert games.buffers.final_score[game].tolist() == points == record["score"][: comparison.teams]
            assert games.buffers.final_winner[game] == best
            check_rewards(games, game, points)
            comparison.live.discard(game)
        if not comparison.live:
            return comparison.events
    raise AssertionError("the rounds do not end")


def check_rewards(games: Games, game: int, points: list[int]) -> None:
    """Each seat gets its team's points less the mean of the other teams', in thousands."""
    for seat, reward in enumerate(games.buffers.rewards[game].tolist()):
        others = points.copy()
        own = others.pop(seat % games.rules.teams)
        assert reward == pytest.approx((own - sum(others) / len(others)) / 1000)


def check_events(players: int, events: Counter[str], rounds: int) -> None:
    required = dict(EVERYWHERE)
    if players in EXTENDABLE:
        required |= WHERE_EXTENDABLE
    else:
        assert not events["extend"]
        assert not events["extension"]
    if players in (3, 6):
        required |= WITH_THREE_TEAMS
    short = {
        name: events[name] for name, least in required.items() if events[name] < least * rounds // ROUNDS
    }
    assert not short, f"too few at {players} seats: {short}"


@pytest.mark.parametrize("players", TABLES)
def test_rounds_agree(players: int) -> None:
    check_events(players, play_rounds(players, ROUNDS, seed=players), ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("players", TABLES)
def test_many_rounds_agree(players: int) -> None:
    events: Counter[str] = Counter()
    for part in range(20):
        events += play_rounds(players, ROUNDS, seed=1000 * players + part)
    check_events(players, events, 20 * ROUNDS)


def play_matches(players: int, matches: int, seed: int, mixes: Sequence[int], **changes: int) -> Counter[str]:
    """Play matches and compare rounds, totals, dealers and winners; returns what happened."""
    games = new_games(players, matches, MATCH, seed, **changes)
    comparison = Comparison(games, seed, mixes)
    totals = [[0] * comparison.teams for _ in range(matches)]
    dealers = [comparison.records[game]["dealer"] for game in range(matches)]
    rounds = [0] * matches
    seen = Counter(f"first dealer {dealer}" for dealer in dealers)
    for _ in range(LIMIT):
        comparison.step()
        for game, record in comparison.records.items():
            oracle = comparison.oracles[game]
            if not oracle.over:
                assert not games.buffers.rewards[game].any()
                assert not games.buffers.terminations[game]
                continue
            points = [sum(oracle.score(team).values()) for team in range(comparison.teams)]
            check_rewards(games, game, points)
            totals[game] = [old + new for old, new in zip(totals[game], points, strict=True)]
            assert record["score"][: comparison.teams] == totals[game]
            winner = match_winner(totals[game], games.rules.goal)
            assert games.buffers.terminations[game] == (winner is not None)
            seen["rounds"] += 1
            if winner is not None:
                comparison.finish_round(game, record)
                assert games.buffers.final_winner[game] == winner
                assert games.buffers.final_score[game].tolist() == totals[game]
                assert (record["dealer"], record["round_number"]) == (dealers[game], rounds[game])
                comparison.live.discard(game)
                seen[f"won by {winner}"] += 1
                continue
            seen["tie at the goal"] += max(totals[game]) >= games.rules.goal
            dealers[game] = next_dealer(dealers[game], players)
            rounds[game] += 1
            assert (record["dealer"], record["round_number"]) == (dealers[game], rounds[game])
            comparison.oracles[game] = comparison.dealt(plain(games, [game])[game])
        if not comparison.live:
            return seen
    raise AssertionError("the matches do not end")


@pytest.mark.parametrize("players", TABLES)
def test_matches_agree(players: int) -> None:
    seen = play_matches(players, 30, seed=players, mixes=range(len(MIXES) - 1))  # where all idle, nobody wins
    assert seen["rounds"] > 90
    assert all(
        seen[f"won by {team}"] > 0 for team in range(len(OracleRound(players, [[]] * players, 0).teams))
    )
    assert all(seen[f"first dealer {seat}"] > 0 for seat in range(players))


@pytest.mark.parametrize("players", TABLES)
def test_equal_totals_at_the_goal_ask_for_another_round(players: int) -> None:
    seen = play_matches(players, 8, seed=10 + players, mixes=[len(MIXES) - 1], goal=0)
    assert seen["tie at the goal"] >= 15


@pytest.mark.parametrize("players", TABLES)
def test_the_same_totals_decide_a_match(players: int) -> None:
    games = new_games(players)
    state, table = games.states[0], rules_record(games.rules)[0]
    decided: Counter[int | None] = Counter()
    for totals in product((0, 4975, 5000, 5025, 12_000), repeat=games.rules.teams):
        state.score[: len(totals)] = totals
        expected = match_winner(list(totals))
        assert winner_of_match(state, table) == or_minus_one(expected), totals
        decided[expected] += 1
    assert len(decided) == games.rules.teams + 1


@pytest.mark.parametrize("players", TABLES)
def test_every_action_id_has_its_own_name_and_back(players: int) -> None:
    teams = new_games(players).rules.teams
    for team in range(teams):
        names = [to_oracle(action, teams, team) for action in range(num_ids(teams))]
        assert len(set(names)) == num_ids(teams)
        assert [to_id(name, teams, team) for name in names] == list(range(num_ids(teams)))
        attacked = {name[2] for name in names if len(name) == 3}
        assert attacked == {str(other) for other in range(teams) if other != team}
