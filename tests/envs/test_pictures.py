"""Tables as pictures: SVG, pixels, and what a notebook shows."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import gymnasium
import numpy as np
import pytest

from millebornes_env import millebornes_v0, vector_env, wielerspel_v0
from millebornes_env.errors import OptionError
from millebornes_env.games.registry import edition, editions
from millebornes_env.notation import read_position
from millebornes_env.render.millebornes.svg import draw_picture

SVG = "{http://www.w3.org/2000/svg}"

TEXT = """
battle 0: stop on roll
battle 1: roll
speed 1: speed_limit
distance 0: 3x100 75
safeties 1: extra_tank!
hand 0: roll 25 stop spare_tire accident end_of_limit right_of_way
hand 1: gasoline puncture_proof repairs flat_tire out_of_gas 50
discard pile: 3x25 stop
"""


def cards_shown(picture: str) -> list[str]:
    """The cards of a picture, in the order in which they are drawn."""
    root = ET.fromstring(picture)
    root.remove(root.find(f"{SVG}defs"))  # type: ignore[arg-type]
    result = (use.get("href", "") for use in root.iter(f"{SVG}use"))
    return [one.removeprefix("#card-") for one in result if one.startswith("#card-")]


def test_every_card_of_the_table_is_drawn() -> None:
    position = read_position(TEXT)
    shown = cards_shown(draw_picture(position.state[0], position.rules))
    assert shown[:2] == ["back", "8"]
    assert shown[2:8] == ["13", "8", "2", "3", "3", "3"] or sorted(shown[2:8]) == sorted(
        ["13", "8", "2", "3", "3", "3"]
    )
    assert shown[8:11] == ["13", "9", "16"]
    assert shown[11:] == ["0", "5", "8", "12", "13", "14", "18", "1", "6", "7", "10", "11", "17"]


def test_a_seat_sees_its_own_hand_only() -> None:
    position = read_position(TEXT)
    shown = cards_shown(draw_picture(position.state[0], position.rules, observer=1))
    assert shown[11:] == ["back"] * 7 + ["1", "6", "7", "10", "11", "17"]


def test_every_table_can_be_drawn() -> None:
    for name in editions():
        for players, teams in edition(name).tables:
            env = vector_env(1, name, players=players, teams=teams, seed=1)
            env.reset()
            root = ET.fromstring(env.render(mode="svg"))
            assert "var(" not in ET.tostring(root, encoding="unicode")
            assert len(root.findall(f".//{SVG}svg")) == teams


def test_themes() -> None:
    position = read_position(TEXT)
    light, dark, auto = (
        draw_picture(position.state[0], position.rules, theme=theme) for theme in ("light", "dark", "auto")
    )
    assert light != dark
    assert "prefers-color-scheme: dark" in auto
    with pytest.raises(OptionError, match="light, dark; got 'blue'"):
        draw_picture(position.state[0], position.rules, theme="blue")


def test_the_end_of_a_round_is_drawn() -> None:
    env = vector_env(1, seed=1, autoreset_mode="disabled")
    env.reset()
    while (chosen := env.sample_actions()).max() >= 0:
        env.step(chosen)
    assert "The round is over: team" in env.render(mode="svg")
    broken = vector_env(1, seed=1, autoreset_mode="disabled", illegal_action="terminate")
    broken.reset()
    broken.step([40])
    assert "The round is over: nobody won" in broken.render(mode="svg")


@pytest.mark.parametrize(("name", "counts_points"), [("parker", True), ("dujardin", False)])
def test_points_are_drawn_where_they_are_counted(name: str, counts_points: bool) -> None:
    env = vector_env(1, name, seed=1, autoreset_mode="disabled")
    env.reset()
    while (chosen := env.sample_actions()).max() >= 0:
        env.step(chosen)
    for mode in ("svg", "ansi"):
        assert (" points" in env.render(mode=mode)) == counts_points


def test_render_modes_of_the_environments() -> None:
    for env in (
        millebornes_v0.env(render_mode="svg"),
        gymnasium.make("millebornes_env:millebornes/MilleBornes-v0", render_mode="svg"),
    ):
        env.reset(seed=1)
        assert env.render().startswith("<svg")
    with pytest.raises(OptionError, match="has no picture of its table"):
        wielerspel_v0.env(render_mode="svg")
    games = vector_env(1, seed=1)
    games.reset()
    with pytest.raises(OptionError, match="render_mode is 'png'"):
        games.render(mode="png")


def test_pixels() -> None:
    pytest.importorskip("resvg_py", reason="no rasteriser: pip install -e '.[pictures]'")
    env = millebornes_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    pixels = env.render()
    assert pixels.dtype == np.uint8
    assert pixels.shape[1:] == (1008, 3)
    assert pixels.std() > 30  # a picture, not a blank sheet
    assert (pixels[0, 0] == 255).all()  # outside the rounded corner


def test_notebooks_show_the_table() -> None:
    env = vector_env(2, seed=1)
    assert env._repr_html_() is None  # nothing was dealt yet
    env.reset()
    assert str(env._repr_html_()).startswith("<svg")
    assert str(read_position(TEXT)._repr_html_()).startswith("<svg")
    race = vector_env(1, "arc_en_ciel", players=3, seed=1)
    race.reset()
    assert race._repr_html_() is None
