"""The trainers at the race and at a game of one's own; what only Mille Bornes has is refused in words."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.agents.policy.files import read_description
from millebornes_env.arena.learning_curve import Score
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.games.registry import GAMES
from millebornes_env.games.wielerspel.sections import OFFSETS, ObservationSpec, part_of, start_of
from tests.each import each
from tests.train.short_runs import WORDS, command, same, short, weights
from train import maskable_ppo
from train.common.games import ManyGames, features_of
from train.common.opponents import seats_at
from train.common.options import TrainingOptions
from train.common.run_folder import CHECKPOINT_FILE
from train.selfplay import Args, Trainer, train

RACE = {"edition": ("arc_en_ciel",), "players": 4}
PLAYERS = 4
EVEN = 1 / PLAYERS


@pytest.fixture
def _own_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module `my_dice`, which registers a game when it is imported."""
    (tmp_path / "my_dice.py").write_text(
        "from millebornes_env.games.registry import Game, SheetOfTables, register_game\n"
        "from tests.engine import dice_race\n"
        "sheets = [SheetOfTables('dice_race', 'dice', [dice_race.Rules(3, 3)])]\n"
        "register_game(Game(name='dice_race', rulebook=dice_race, sheets=sheets))\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    GAMES.pop("dice_race", None)
    sys.modules.pop("my_dice", None)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run at the race, with evaluations and with an agent in the pool."""
    folder = tmp_path_factory.mktemp("race") / "run"
    options = {"num_envs": 256, "num_steps": 32, "batch_size": 1024, "hidden": (32,), "pool_share": 0.5}
    pool = {"pool_agent": ("random", "saver"), "opponent_teams": "others", "pool_updates": 5}
    train(short(folder, **RACE, **options, **pool, total_timesteps=120_000, eval_seconds=1e3, eval_deals=2))
    return folder


def test_the_race_is_learned(learned: Path) -> None:
    """Whoever plays at random wins one race in four against others who do."""
    curve = json.loads((learned / "learning_curve.json").read_text(encoding="utf-8"))
    assert set(curve[0]["scores"]) == set(GAMES["wielerspel"].eval_opponents)
    races = play([learned, "random"], MatchConfig("arc_en_ciel", PLAYERS, seed=5), 100)
    assert Score.of([races]).win_rate > 2 * EVEN


def test_a_policy_of_the_race_says_what_it_is(learned: Path) -> None:
    about = read_description(learned)
    assert (about["editions"], about["players"], about["value"]) == (["arc_en_ciel"], PLAYERS, "win")
    assert about["features"] is True
    config = json.loads((learned / "config.json").read_text(encoding="utf-8"))["args"]
    assert (config["episode"], config["reward"]) == ("race", "win")


def test_a_stopped_run_with_agents_in_its_pool_goes_on_bit_for_bit(tmp_path: Path) -> None:
    pool = {"pool_share": 1.0, "pool_agent": ("bidder", "saver"), "opponent_teams": "others"}
    constant = {"final_learning_rate": 1e-3, "final_ent_coef": 0.02}  # whatever the budget
    whole = short(tmp_path / "whole", **RACE, **pool, **constant, total_timesteps=1500, pool_updates=1)
    train(whole)
    parts = dataclasses.replace(whole, run_dir=tmp_path / "parts", total_timesteps=700)
    train(parts)
    before = weights(parts.run_dir)
    train(dataclasses.replace(parts, total_timesteps=1500, resume=True))
    assert "memories.1" in before
    assert not same(before, weights(whole.run_dir))
    assert same(weights(parts.run_dir), weights(whole.run_dir))


def test_maskable_ppo_learns_the_race(tmp_path: Path) -> None:
    args = short(tmp_path / "run", **RACE, total_timesteps=1500)
    names = [field.name for field in dataclasses.fields(TrainingOptions)]
    shared = {name: getattr(args, name) for name in names}
    maskable_ppo.train(maskable_ppo.Args(**shared, edition="arc_en_ciel"))
    env = vector_env(2, "arc_en_ciel", players=PLAYERS)
    assert agents.load(tmp_path / "run", env).table.game == "wielerspel"


@each("padded", [0, 1])
def test_the_features_of_the_race_say_what_the_observation_says(padded: int) -> None:
    env = vector_env(200, "arc_en_ciel", players=3, padded=bool(padded), seed=4)
    env.reset()
    for _ in range(150):
        env.step(env.sample_actions())
    rows = env.games.buffers.observation
    spec, features = ObservationSpec(padded), features_of(env.game)
    size, seats = rows.shape[1], 6 if padded else 3
    more = features.size(env.rules, spec)
    written = np.full((len(rows), size + more), 99, np.int8)
    features.write_rows(env.games.game_rules, spec, rows, written)
    assert (written[:, :size] == rows).all()
    for row, result in zip(rows.astype(int), written[:, size:].astype(int), strict=True):
        assert result.tolist() == [*of_the_table(row, seats), *of_the_seats(row, seats)]
    assert len({tuple(row) for row in written[:, size:]}) > 100


def one_of(value: int, size: int) -> list[int]:
    """A one for a value, those that are too high counting as the highest."""
    return [int(place == min(value, size - 1)) for place in range(size)]


def of_the_table(row: np.ndarray, seats: int) -> list[int]:
    def number(name: str) -> int:
        return int(row[start_of(getattr(OFFSETS, name), seats)])

    return [
        *one_of(number("square"), 43),
        *one_of(number("number"), 8),
        *one_of(number("price"), 8),
        *one_of(number("lead"), 25),
        *one_of(number("highest_bid"), 21),
        *one_of(number("energy") // 3, 21),
    ]


def of_the_seats(row: np.ndarray, seats: int) -> list[int]:
    """The own seat first; those of a padded row that nobody has show nothing."""
    length, square = 40, int(row[start_of(OFFSETS.square, seats)])
    shown: list[int] = []
    for place in range(seats):
        at = [part_of(offset, seats, place) for offset in OFFSETS]
        result = dict(zip(OFFSETS._fields, at, strict=True))
        shown += [row[result["servants"] + (square + ahead) % length] for ahead in range(1, 13)]
        shown += [int(row[result["place"]] == number) for number in range(1, 7)]
        shown += [int(row[result["energy"]] >= enough) for enough in (2, 5, 10, 20, 35)]
        rainbow, green = row[result["jerseys"]], row[result["jerseys"] + 1]
        shown += [int(rainbow >= 1), int(rainbow >= 2), int(green >= 1), int(green >= 2)]
    return shown


def test_opponents_have_one_team_or_all_others() -> None:
    games = ManyGames(20, Args(**RACE, threads=1, features=False), 1)  # type: ignore[arg-type]
    seats = np.arange(20, dtype=np.int8) // 5
    one, others = (seats_at(games, 0.2, 0.6, teams) for teams in ("one", "others"))
    assert one.teams.tolist() == [-1] * 4 + [0, 1, 2, 3] * 2 + [-1] * 8 == others.teams.tolist()
    is_theirs = [4 <= game < 12 for game in range(20)]
    assert one.mask(seats).tolist() == [
        there and seat == (game - 4) % 4
        for game, (there, seat) in enumerate(zip(is_theirs, seats, strict=True))
    ]
    assert (one.mask(seats) ^ others.mask(seats)).tolist() == is_theirs


def test_the_pool_shares_its_games(tmp_path: Path) -> None:
    """Earlier selves and agents in a quarter of the games each; what they decide is not learned from."""
    pool = {"pool_share": 0.75, "pool_agent": ("bidder", "saver"), "opponent_teams": "others"}
    trainer = Trainer(short(tmp_path, **RACE, **pool, num_steps=64, threads=2))
    trainer.collect()
    trainer.opponents.pool.add(trainer.network)
    trainer.collect()
    rollout = trainer._rollout
    theirs = rollout.opponent_mask.mean(axis=0)
    assert (theirs[:24] > 0.5).all()
    assert (theirs[24:] == 0).all()
    assert not (rollout.loss_mask & rollout.opponent_mask).any()
    learner = np.arange(8) % PLAYERS
    for quarter in range(3):
        where = slice(8 * quarter, 8 * quarter + 8)
        assert (rollout.opponent_mask[:, where] == (rollout.seats[:, where] != learner)).all()


@pytest.mark.usefixtures("_own_game")
def test_a_game_of_ones_own_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no features, no compiled agents and no audit; its module stands before its sheet."""
    pool = ["--pool-share=0.5", "--pool-agent=random", "--total-timesteps=2000"]
    evaluated = ("--eval-seconds=1000", "--eval-deals=2", "--run-dir", tmp_path / "run")
    assert command(monkeypatch, *WORDS, "--edition", "my_dice:dice", "--players=3", *pool, *evaluated) == 0
    curve = json.loads((tmp_path / "run" / "learning_curve.json").read_text(encoding="utf-8"))
    assert list(curve[-1]["scores"]) == ["random"]
    about = read_description(tmp_path / "run")
    assert (about["game"], about["editions"], about["num_inputs"]) == ("dice_race", ["dice"], 4)
    env = vector_env(3, "dice", players=3)
    env.reset(seed=1)
    shown = env.games.buffers.observation, env.games.buffers.action_mask
    chosen = agents.load(tmp_path / "run", env).act(*shown)
    assert shown[1][np.arange(3), chosen].all()


@each(
    ("options", "words"),
    [
        (("--reward", "points"), "--reward is 'points'; in the game 'wielerspel' it may be win"),
        (("--episode", "match"), "--episode is 'match'; in the game 'wielerspel' it may be race"),
        (("--oracle",), "the game 'wielerspel' has neither: leave it out"),
        (("--observe-rules",), "observe_rules is True; the game 'wielerspel' has no such option"),
        (("--edition=parker",), "belongs to the game 'wielerspel', --edition parker to 'millebornes'"),
        (("--edition", "no_module:dice"), "the module 'no_module' that should register its game cannot be"),
    ],
)
def test_what_the_race_does_not_have_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    words: str,
) -> None:
    folder = tmp_path / "wrong"
    race = ("--edition", "arc_en_ciel", "--players", "4", "--num-envs", "8")
    assert command(monkeypatch, "--run-dir", str(folder), *race, *options) == 2
    assert words in capsys.readouterr().err
    assert not (folder / CHECKPOINT_FILE).exists()
