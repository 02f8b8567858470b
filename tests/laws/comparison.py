"""The rulebook and the oracle play the same games, compared at every decision; what happened is counted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from millebornes_env.engine.batch import NO_GAME, Batch
from millebornes_env.games.millebornes.sections import sections
from millebornes_env.games.millebornes.state import SCORE_LINES
from tests.laws.conversions import (
    CALLS,
    DECISIONS,
    LIMIT,
    MATCH,
    Record,
    Table,
    counts,
    dealt_streams,
    deck_of,
    legal_ids,
    less,
    name_or_none,
    new_games,
    or_minus_one,
    plain,
    to_oracle,
)
from tests.laws.expectations import opening_of
from tests.laws.players import MIXES, choose, style_of
from tests.oracle.oracle import (
    BATTLE_HAZARDS,
    DISTANCE_KM,
    SAFETIES,
    Action,
    OracleRound,
    match_winner,
    next_dealer,
)


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
        "opening": record["opening"][:teams],
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
        "opening": [opening_of(team.battle_pile) for team in teams],
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
    """Some games, an oracle beside each, and what has happened in them.

    Attributes:
        table: where they are played.
        options: what the oracle is told of the rules that were overridden.
        events: how often each thing has happened.
        live: the games that are not over.
        records: copies of their records.
        oracles: the oracle of each game.
    """

    def __init__(
        self,
        table: Table,
        games: Batch,
        seed: int,
        mixes: Sequence[int] = range(len(MIXES)),
        options: Mapping[str, int] | None = None,
    ) -> None:
        self.table, self.options = table, dict(options or {})
        self.games, self.mixes = games, mixes
        self.players, self.teams = table.players, table.teams
        self.layout = {
            section.name: section for section in sections(games.rules, games.settings.observation_spec)
        }
        self.chances = [random.Random(f"{seed}/{game}") for game in range(len(games))]
        self.events: Counter[str] = Counter()
        self.live = set(range(len(games)))
        self.records = plain(games, self.live)
        self.oracles = [self.dealt(self.records[game]) for game in sorted(self.live)]

    def dealt(self, record: Record) -> OracleRound:
        """An oracle for the round that was just dealt."""
        streams = dealt_streams(record, self.players)
        assert sorted(card for stream in streams for card in stream) == sorted(deck_of(self.table))
        lengths = [len(stream) for stream in streams]
        assert max(lengths) - min(lengths) <= 1
        return OracleRound(*self.table, streams, record["dealer"], self.options)

    def compare(self, game: int, record: Record) -> list[int]:
        """Compare one game; returns the legal actions."""
        oracle = self.oracles[game]
        ours, theirs = view_of(record, self.players, self.teams), view_of_oracle(oracle)
        if ours != theirs:
            differences = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
            raise AssertionError(f"game {game} (rulebook, oracle): {differences}")
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
            record, oracle = self.records[game], self.oracles[game]
            actions[game] = self.choose(game, record, self.compare(game, record))
            action = to_oracle(int(actions[game]), self.teams, record["seat"] % self.teams)
            piles = [len(team.battle_pile) for team in oracle.teams]
            self.note(oracle, action)
            oracle.step(action)
            self.note_piles(oracle, piles)
        assert self.games.step(actions) == NO_GAME
        self.records = plain(self.games, self.live, without="deck")

    def note(self, oracle: OracleRound, action: Action) -> None:
        """Count what is about to happen."""
        events, seat = self.events, oracle.seat
        assert seat is not None
        team, hand = oracle.teams[oracle.team_of(seat)], oracle.hands[seat]
        is_empty = oracle.pile_size() == 0
        if action in CALLS.values():
            events[action[0]] += 1
        safety = None
        if action[0] == "claim":
            safety = {"STOP": "RIGHT_OF_WAY", "SPEED_LIMIT": "RIGHT_OF_WAY"}.get(str(oracle.pending_hazard))
            events["claim of Right of Way"] += safety is not None
            events["claim with fewer than two cards to draw"] += oracle.pile_size() < 2
            events["claim with empty pile"] += is_empty
        elif action[0] == "play":
            safety = action[1]
            replays = oracle.rules.replay_on_empty_pile
            events["void play after the last safety"] += safety in SAFETIES and len(hand) == 1 and is_empty
            events["safety with empty pile without replay"] += (
                safety in SAFETIES and len(hand) > 1 and is_empty and not replays
            )
            next_team = (oracle.team_of(seat) + 1) % self.teams
            events["hazard not at the next team"] += len(action) == 3 and action[2] != str(next_team)
            drives = safety in DISTANCE_KM and not team.has_right_of_way()
            events["opening remedy drives"] += drives and team.shows_opening_remedy()
        if safety == "RIGHT_OF_WAY":
            events["Right of Way lifts a Stop"] += team.battle_top() == "STOP"
            events["Right of Way lifts a Speed Limit"] += team.is_limited()
        has_200 = "DISTANCE_200" in hand and team.distance_pile.count("DISTANCE_200") == 2
        events["third 200 refused"] += has_200 and team.is_moving() and not team.is_limited()
        events["decision on a cancelled hazard"] += (
            team.battle_top() in BATTLE_HAZARDS and not team.live_hazard()
        )
        events["decision with empty pile"] += is_empty
        events["empty hand skipped"] += not oracle.hands[(seat + 1) % self.players] and len(hand) > 1
        events["draw from another stream"] += not is_empty and not oracle.streams[seat]

    def note_piles(self, oracle: OracleRound, before: list[int]) -> None:
        """Count what has happened to the battle piles, which had so many cards before."""
        for team, cards in zip(oracle.teams, before, strict=True):
            now = len(team.battle_pile)
            if now == 1 and cards == 0:
                self.events["hazard opened a pile"] += team.battle_top() in BATTLE_HAZARDS
            elif now < cards:
                self.events["opening remedy restored by a safety"] += (
                    team.battle_top() != "ROLL" and team.shows_opening_remedy()
                )

    def note_sheets(self, sheets: list[dict[str, int]], oracle: OracleRound) -> None:
        for sheet in sheets:
            self.events.update(line for line, points in sheet.items() if points)
        self.events["nobody completed"] += oracle.winner is None
        self.events["ended with cards in hand"] += oracle.winner is None and any(oracle.hands)
        self.events["shut-out paid to two teams"] += sum(sheet["shutout"] > 0 for sheet in sheets) > 1
        if not oracle.rules.count_points:
            is_shared = oracle.round_winner() is None
            self.events["round shared"] += is_shared
            self.events["round shared by some"] += 1 < len(oracle.round_winners()) < self.teams
            self.events["round without points won by the nearest"] += oracle.winner is None and not is_shared
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

    def check_rewards(self, game: int, points: list[int]) -> None:
        """Each seat gets its team's points less the mean of the others', in thousands.

        Without points it gets 1 if its team has won; the others share -1. A shared win brings the mean of
        what its winners would get if one of them had won alone.
        """
        winners = self.oracles[game].round_winners()
        for seat, reward in enumerate(self.games.buffers.rewards[game].tolist()):
            others = points.copy()
            own = others.pop(seat % self.teams)
            expected = (own - sum(others) / len(others)) / 1000
            if not self.oracles[game].rules.count_points:
                paid = [1 if seat % self.teams == winner else -1 / len(others) for winner in winners]
                expected = sum(paid) / len(paid)
            assert reward == pytest.approx(expected)


def play_rounds(
    table: Table, rounds: int, seed: int, changes: Mapping[str, int], told: Mapping[str, int]
) -> Counter[str]:
    """Play rounds and compare them decision by decision.

    Args:
        table: where.
        rounds: how many.
        seed: of the deals and of the players.
        changes: rules overridden in the rulebook.
        told: rules overridden in the oracle.

    Returns:
        What happened how often.
    """
    games = new_games(table, rounds, seed=seed, **changes)
    comparison = Comparison(table, games, seed, options=told)
    for _ in range(LIMIT):
        comparison.step()
        for game, record in comparison.records.items():
            oracle = comparison.oracles[game]
            if not oracle.over:
                assert not games.buffers.terminations[game]
                assert not games.buffers.rewards[game].any()
                continue
            assert comparison.compare(game, record) == []
            points = comparison.finish_round(game, record)
            assert games.buffers.terminations[game]
            assert games.buffers.final_score[game].tolist() == points == record["score"][: comparison.teams]
            assert games.buffers.final_winner[game] == or_minus_one(oracle.round_winner())
            winners = oracle.round_winners()
            shares = [(team in winners) / len(winners) for team in range(comparison.teams)]
            assert games.win_shares([game])[0].tolist() == pytest.approx(shares)
            comparison.check_rewards(game, points)
            comparison.live.discard(game)
        if not comparison.live:
            return comparison.events
    raise AssertionError("the rounds do not end")


def play_matches(table: Table, matches: int, seed: int, mixes: Sequence[int], **changes: int) -> Counter[str]:
    """Play matches and compare rounds, totals, dealers and winners; returns what happened."""
    games = new_games(table, matches, MATCH, seed, **changes)
    comparison = Comparison(table, games, seed, mixes)
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
            comparison.check_rewards(game, points)
            totals[game] = [old + new for old, new in zip(totals[game], points, strict=True)]
            assert record["score"][: comparison.teams] == totals[game]
            winner = match_winner(totals[game], games.rules.goal)
            is_over = winner is not None
            if not oracle.rules.count_points:
                winner, is_over = oracle.round_winner(), True
            assert games.buffers.terminations[game] == is_over
            seen["rounds"] += 1
            if is_over:
                comparison.finish_round(game, record)
                assert games.buffers.final_winner[game] == or_minus_one(winner)
                assert games.buffers.final_score[game].tolist() == totals[game]
                assert (record["dealer"], record["round_number"]) == (dealers[game], rounds[game])
                comparison.live.discard(game)
                seen[f"won by {winner}"] += 1
                continue
            seen["tie at the goal"] += max(totals[game]) >= games.rules.goal
            dealers[game] = next_dealer(dealers[game], table.players)
            rounds[game] += 1
            assert (record["dealer"], record["round_number"]) == (dealers[game], rounds[game])
            comparison.oracles[game] = comparison.dealt(plain(games, [game])[game])
        if not comparison.live:
            return seen
    raise AssertionError("the matches do not end")
