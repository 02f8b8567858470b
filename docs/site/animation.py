"""The animated picture of the README: a round of the champion against the strategist, as SVG.

    python -m docs.site.animation        # writes docs/images/round.svg

Parts of the picture that do not change from one frame to the next are stored once; CSS shows and hides them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Final

import numpy as np

from millebornes_env import agents, vector_env
from millebornes_env._util.files import write_bytes_atomically
from millebornes_env.games.registry import game

PICTURE: Final = Path(__file__).parents[1] / "images" / "round.svg"
AGENTS: Final = ("champion", "strategist")
SEEDS: Final = range(40)
"""Seeds of the rounds, of which the shortest that the champion wins with a coup fourré is shown."""
SECONDS: Final = 0.8
"""Duration of a frame; the last one is shown for three."""
_FIXED: Final = ("title", "style", "defs")
_NAMESPACE: Final = "{http://www.w3.org/2000/svg}"


def positions(seed: int) -> tuple[list[Any], Any]:
    """Play a round; return its positions, each STATE[1], and the rules."""
    env = vector_env(1, "parker", players=2, episode="round", seed=seed, autoreset_mode="disabled")
    players = [agents.load(name, env, seed) for name in AGENTS]
    observations, _ = env.reset()
    found, is_over = [env.get_states()], False
    while not is_over:
        player = players[int(env.agent_selection[0])]
        actions = player.act(observations["observation"], observations["action_mask"])
        observations, _, ended, _, _ = env.step(actions)
        is_over = bool(ended[0])
        found.append(env.get_states())
    return found, env.rules


def shortest() -> tuple[list[Any], Any]:
    """Return the shortest round that the champion wins, with a coup fourré of its own if there is one."""
    played = [positions(seed) for seed in SEEDS]

    def rank(one: tuple[list[Any], Any]) -> tuple[bool, bool, int]:
        end = one[0][-1][0]
        km = end["km"].tolist()
        return km[0] <= km[1], not int(np.sum(end["coup_fourre"][0])), len(one[0])

    return min(played, key=rank)


def animated(states: list[Any], rules: Any) -> bytes:
    """Return an SVG that shows the positions one after the other, from the champion's seat, without end."""
    ET.register_namespace("", _NAMESPACE.strip("{}"))
    draw = game("millebornes").hook("render.picture", "the animated picture")
    frames = [ET.fromstring(draw(one[0], rules, 0)) for one in states]
    root = ET.Element(f"{_NAMESPACE}svg", frames[0].attrib)
    shown: dict[tuple[int, str], list[int]] = {}  # frames by place and content
    for number, frame in enumerate(frames):
        for place, part in enumerate(frame):
            if part.tag.removeprefix(_NAMESPACE) in _FIXED:
                if number == 0:
                    root.append(part)
                continue
            shown.setdefault((place, ET.tostring(part, encoding="unicode")), []).append(number)
    ends = [SECONDS * (number + 1) for number in range(len(frames))]
    ends[-1] += 3 - SECONDS
    rules_of: dict[tuple[int, ...], str] = {}
    for (_, text), numbers in sorted(shown.items(), key=lambda item: item[0][0]):
        part = ET.fromstring(text)
        if len(numbers) < len(frames):
            name = rules_of.setdefault(tuple(numbers), f"f{len(rules_of)}")
            part.set("class", f"{part.get('class', '')} {name}".strip())
        root.append(part)
    style = ET.SubElement(root, f"{_NAMESPACE}style")
    style.text = "".join(_keyframes(name, numbers, ends) for numbers, name in rules_of.items())
    result: bytes = ET.tostring(root, encoding="utf-8")
    return result


def _keyframes(name: str, numbers: tuple[int, ...], ends: list[float]) -> str:
    """Return CSS that shows a part in some frames only."""
    total, steps, was_shown = ends[-1], [], None
    for number in range(len(ends)):
        is_shown = number in numbers
        if is_shown != was_shown:
            start = 100 * (ends[number - 1] if number else 0.0) / total
            steps.append(f"{start:.3f}%{{visibility:{'visible' if is_shown else 'hidden'}}}")
        was_shown = is_shown
    return f"@keyframes {name}{{{''.join(steps)}}}.{name}{{animation:{name} {total:.1f}s step-end infinite}}"


def main() -> None:
    """Write the picture."""
    states, rules = shortest()
    picture = animated(states, rules)
    write_bytes_atomically(PICTURE, picture)
    print(f"wrote {PICTURE}: {len(states)} frames, {len(picture):,} bytes")


if __name__ == "__main__":
    main()
