"""Command lines that make no sense: the arguments of each command, and what may not be a file."""

from __future__ import annotations

from collections.abc import Sequence

NUMBERS = ("x", "", "nan", "-1", "1e3", "9" * 5000, "\ud800")
WHOLE = (*NUMBERS, "1.5", "0x10")

EDITIONS = (
    *("", "no_such", "parker+", "parker+goal", "parker+goal=x", "parker+goal=1+goal=2", "parker+players=3"),
    *("no.toml", "parker+stop=5", "x" * 5000, "a\0b", "../parker", "parker+goal=" + "9" * 5000),
)
AGENTS = (
    *("", "no_such", "holder:pile=x", "holder:pile=-1", "holder:hole=1", "runs/none", ":", "+search"),
    *(
        "policy:",
        "policy:none",
        "human+search",
        "search:z=x",
        "x" * 5000,
        "a\0b",
        "greedy:x=1",
        "champion:which=x",
    ),
)
COMMANDS: dict[str, list[Sequence[str]]] = {
    "millebornes_env": [
        *([], ["x"], ["editions", "--x"], ["replay"], ["replay", "none.txt"], ["replay", "."]),
        *(["replay", "empty.txt"], ["replay", "binary.txt"], ["replay", "binary.jsonl"], ["replay", "a\0b"]),
        *(["replay", "empty.txt", "--edition", edition] for edition in EDITIONS),
        *(["editions", edition] for edition in EDITIONS),
    ],
    "evaluate": [
        *([], ["--x"], ["greedy", "greedy"]),
        *([agent] for agent in AGENTS),
        *(["greedy", "--against", agent] for agent in AGENTS),
        *(["greedy", "--edition", edition] for edition in EDITIONS),
        *(["greedy", "--players", number] for number in (*WHOLE, "0", "5", "99")),
        *(["greedy", "--deals", number] for number in (*WHOLE, "0")),
        *(["greedy", "--teams", number] for number in ("x", "", "0", "-1", "3", "99")),
        *(["greedy", "--threads", number] for number in (*WHOLE, "0")),
        *(["greedy", "--seed", number] for number in (*WHOLE, "18446744073709551616")),
        *(["greedy", "--episode", word] for word in ("", "x", "Match", "1")),
    ],
    "compare": [
        *([], ["--x"], ["greedy"], ["greedy", "random", "holder"]),
        *(["greedy", agent, "--deals", "2"] for agent in AGENTS),
        *(["greedy", "random", "--edition", edition] for edition in EDITIONS),
        *(["greedy", "random", "--players", number] for number in (*WHOLE, "0", "5", "99")),
        *(["greedy", "random", "--deals", number] for number in (*WHOLE, "0", "1")),
        *(["greedy", "random", "--until", word] for word in ("", "x", "-1", "nan", "0")),
    ],
    "arena": [
        *([], ["--x"], ["greedy"], ["greedy", "greedy"], ["greedy", "random", "--anchor", "holder"]),
        *(["greedy", agent, "--deals", "1"] for agent in AGENTS),
        *(["greedy", "random", "--edition", edition] for edition in EDITIONS),
        *(["greedy", "random", "--players", number] for number in (*WHOLE, "0", "5", "99")),
        *(["greedy", "random", "--teams", number] for number in ("x", "", "0", "-1", "3", "99")),
        *(["greedy", "random", "--deals", number] for number in (*WHOLE, "0")),
        *(["greedy", "random", "--threads", number] for number in (*WHOLE, "0")),
        *(["greedy", "random", "--seed", number] for number in (*WHOLE, "18446744073709551616")),
        *(["greedy", "random", "--episode", word] for word in ("", "x", "Match", "1")),
        *(["greedy", "random", "--until", word] for word in ("", "x", "-1", "nan", "0")),
    ],
    "play": [
        *(["--x"], ["x"]),
        *(["--against", agent] for agent in AGENTS),
        *(["--edition", edition] for edition in EDITIONS),
        *(["--players", number] for number in (*WHOLE, "0", "5", "99")),
        *(["--seed", number] for number in (*WHOLE, "18446744073709551616")),
        *(["--episode", word] for word in ("", "x", "Match", "1")),
    ],
}
"""The arguments of each command, all wrong."""
