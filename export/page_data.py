"""The data of the page besides the kernels, as JSON: layouts, tables and words.

Everything is read from the package; no facts about the game are repeated here.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from export.build import WEIGHTS
from export.page_kernels import FACTS, agents_of, table_of
from export.platforms import ExportError
from millebornes_env.agents.champion import CHAMPIONS, PREFERRED, ChampionAgent, champion_for
from millebornes_env.agents.compiled.agent import MAX_OPTIONS, MEMORY
from millebornes_env.agents.options import defaults_of
from millebornes_env.agents.policy.files import WEIGHTS_FILE
from millebornes_env.agents.policy.network import ADDRESS, MAX_ACTIONS, MODE, MODES, padded
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.agent import VALUE_IN_POINTS, SearchAgent
from millebornes_env.agents.search.kernels import CHUNK, FEWEST_REDEALS, new_decisions
from millebornes_env.agents.search.over import OVER_A_JUDGE
from millebornes_env.engine.action_sets import SET_SIZE
from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.kernels import (
    BEGIN,
    CHECK,
    CHECK_AND_STEP,
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    SKIP,
    STEP,
    Settings,
)
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.audit import MESSAGES, SCRATCH_SIZE
from millebornes_env.games.millebornes.cards import DECK_SIZE, Card, hazard_of, safety_against
from millebornes_env.games.millebornes.editions import Edition, edition, editions, mini_decks
from millebornes_env.games.millebornes.reasons import REASONS, where_roll_goes
from millebornes_env.games.millebornes.rule_checks import LONGEST_TRIP, PROBLEMS
from millebornes_env.games.millebornes.rules import FIELDS, RULES, Rules, rules_array
from millebornes_env.games.millebornes.sections import ObservationSpec, sections
from millebornes_env.games.millebornes.state import MAX_SEATS, MAX_TEAMS, PHASE_NAMES, SCORE_LINES, STATE
from millebornes_env.notation.lines import AND_OTHERS, NOTHING, PLAYS, RESULT
from millebornes_env.notation.millebornes.actions import write_action
from millebornes_env.notation.millebornes.position_reader import (
    COUP_FOURRE,
    LINE_NAMES,
    OPENING_WORDS,
    TOP_UNKNOWN,
)
from millebornes_env.notation.records import DEAL
from millebornes_env.play.web.table import agent_entries, card_entry, choice, edition_entry, rule_entry

CHAMPION: Final = "champion"

ROLL_RULES: Final = ("start_needs_roll", "roll_after_remedy", "roll_after_safety")
"""The rules that decide where a Roll may be played (`reasons.where_roll_goes`)."""


def described() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the contents of `engine.json`, and the files of weights by name."""
    champions, weights = _champions()
    data = {
        "records": {"state": _layout(STATE), "rules": _layout(RULES)},
        "sizes": _sizes(),
        "constants": _constants(),
        "cards": [_card(card) for card in Card],
        "phases": list(PHASE_NAMES),
        "score_lines": [{"line": line, "title": _title_of_line(line)} for line in SCORE_LINES],
        "rules": [rule_entry(name) | {"unit": FIELDS[name].unit} for name in Rules._fields],
        "problems_of_rules": list(PROBLEMS),
        "reasons": list(REASONS),
        "roll_goes": _where_rolls_go(),
        "violations": list(MESSAGES),
        "actions": {teams: _actions(teams) for teams in range(2, MAX_TEAMS + 1)},
        "notation": _notation(),
        "agents": agent_entries(),
        "champions": champions,
        "search": _search(),
        "editions": [_edition(edition(name)) for name in (*editions(), *mini_decks())],
    }
    return data, weights


# Layouts ---------------------------------------------------------------------------------------------------


def _layout(record: np.dtype[np.void]) -> dict[str, Any]:
    """Return the size of a record, and of each field [offset, NumPy's letter and bytes, shape]."""
    fields = {}
    for name, (kind, offset, *_) in (record.fields or {}).items():
        fields[name] = [offset, kind.base.str[1:], list(kind.shape)]
    return {"size": record.itemsize, "fields": fields}


def _sizes() -> dict[str, Any]:
    """Return the sizes that the page allocates: shapes of buffers, in words, for the largest tables."""
    shapes = {}
    rules = edition("parker").table(2)
    settings = Settings(0, 0, DISABLED, ObservationSpec(), 0)
    for name, array in new_buffers(rulebook, 1, rules, settings)._asdict().items():
        shapes[name] = [array.dtype.str[1:], array.ndim]
    decisions = {}
    for name, array in new_decisions(1, 2, 42, np.zeros(3, STATE))._asdict().items():
        decisions[name] = array.dtype.str[1:]
    return {
        "max_seats": MAX_SEATS,
        "max_teams": MAX_TEAMS,
        "memory": MEMORY,
        "max_options": MAX_OPTIONS,
        "deck": DECK_SIZE,
        "redeal_room": rulebook.REDEAL_ROOM,
        "facts": list(FACTS),
        "buffers": shapes,
        "decisions": decisions,
        "audit_scratch": SCRATCH_SIZE,
        "most_outputs": MAX_ACTIONS + 1,
        "settings": list(Settings._fields),
    }


def _constants() -> dict[str, Any]:
    return {
        "SAME_STEP": SAME_STEP,
        "NEXT_STEP": NEXT_STEP,
        "DISABLED": DISABLED,
        "SKIP": SKIP,
        "CHECK": CHECK,
        "STEP": STEP,
        "CHECK_AND_STEP": CHECK_AND_STEP,
        "BEGIN": BEGIN,
        "EPISODES": list(rulebook.EPISODES),
        "REWARDS": list(rulebook.REWARDS),
        "OBSERVATION_SPEC": list(ObservationSpec()),
        "ADDRESS": ADDRESS,
        "MODE": MODE,
        "MODES": list(MODES),
        "CHUNK": CHUNK,
        "FEWEST_REDEALS": FEWEST_REDEALS,
        "POINTS_PER_REWARD": rulebook.POINTS_PER_REWARD,
        "SET_SIZE": SET_SIZE,
        "MAX_INT8": int(np.iinfo(np.int8).max),
        "LONGEST_TRIP": LONGEST_TRIP,
    }


# Words -----------------------------------------------------------------------------------------------------


def _card(card: Card) -> dict[str, Any]:
    """Describe a card for the page."""
    data = card_entry(card.value)
    if data["kind"] == "hazard":
        data["safety"] = int(safety_against(card.value))
    if data["kind"] == "remedy":
        data["hazard"] = int(hazard_of(card.value))
    return data


def _title_of_line(line: str) -> str:
    return line.replace("_", " ").replace("coups fourres", "coups fourrés")


def _where_rolls_go() -> list[list[Any]]:
    """Describe where a Roll may be played: the deciding rules, and the words by the rules' values as bits."""
    rules = edition("parker").table(2)
    words = [
        where_roll_goes(rules._replace(**{name: bits >> place & 1 for place, name in enumerate(ROLL_RULES)}))
        for bits in range(1 << len(ROLL_RULES))
    ]
    return [list(ROLL_RULES), words]


def _actions(teams: int) -> list[list[dict[str, Any]]]:
    """List the actions of tables with this number of teams, for each team that acts; words name no seats."""
    rules = next(
        edition(name).table(*table)
        for name in editions()
        for table in edition(name).tables
        if table[1] == teams
    )
    return [[_action(action, rules, team) for action in range(num_actions(teams))] for team in range(teams)]


def _action(action: int, rules: Rules, team: int) -> dict[str, Any]:
    return choice(action, rules, team) | {"notation": write_action(action, rules, team)}


def _notation() -> dict[str, Any]:
    """Return the words of positions and records (`millebornes_env.notation`)."""
    return {
        "lines": LINE_NAMES,
        "openings": list(OPENING_WORDS.values()),
        "nothing": NOTHING,
        "and_others": AND_OTHERS,
        "coup_fourre": COUP_FOURRE,
        "top_unknown": TOP_UNKNOWN,
        "plays": PLAYS,
        "result": RESULT,
        "next_round": DEAL,
    }


# Editions, agents, champions --------------------------------------------------------------------------------


def _edition(sheet: Edition) -> dict[str, Any]:
    tables = [_table(sheet, players, teams) for players, teams in sheet.tables]
    return edition_entry(sheet.name) | {"tables": tables}


def _table(sheet: Edition, players: int, teams: int) -> dict[str, Any]:
    """Describe a table: its rules as numbers and as the record that kernels read, and its agents."""
    table = table_of(sheet.name, players, teams)
    rules: Rules = table.rules
    record: npt.NDArray[np.void] = rules_array(rules)
    layout = sections(rules)
    starts, size = SearchAgent(table)._default_starts, layout[-1].stop
    agents = {name: agent.options.tolist() for name, agent in agents_of(table).items()}
    return {
        "players": players,
        "teams": teams,
        "values": list(rules),
        "record": base64.b64encode(record.tobytes()).decode(),
        "observation_size": size,
        "num_actions": int(num_actions(teams)),
        "starts": list(starts),
        "agents": agents,
        CHAMPION: _champion_of(table),
        "champions_if_changed": _champions_if_changed(table),
    }


def _champion_of(table: Table, preferred: str | None = None) -> str | None:
    try:
        return champion_for(table, preferred=preferred)
    except AgentError:
        return None


def _champions_if_changed(table: Table) -> list[str | None]:
    """List the champions for overridden rules, indexed by the result of the kernel `preferred_champion`."""
    changed = dataclasses.replace(table, edition="")  # not the rules that a champion was trained on
    return [_champion_of(changed, preferred) for preferred in PREFERRED]


def _champions() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the network and the file of each champion that plays at a table, with or without overrides."""
    sheets = [edition(name) for name in (*editions(), *mini_decks())]
    tables = [table_of(sheet.name, *table) for sheet in sheets for table in sheet.tables]
    result: dict[str, Any] = {}
    files = {}
    playing = [
        (table, name) for table in tables for name in (_champion_of(table), *_champions_if_changed(table))
    ]
    for table, name in playing:
        if name is None or name in result:
            continue
        agent = ChampionAgent(table, which=name)
        options = agent.options.tolist()
        options[ADDRESS] = 0  # filled in by the page
        layers, content = network_file(name)
        result[name] = {
            "file": f"{name}{WEIGHTS}",
            "layers": layers,
            "options": options,
            "value": agent.value,
        }
        files[f"{name}{WEIGHTS}"] = content
    return result, files


def network_file(name: str) -> tuple[list[list[int]], bytes]:
    """Return a champion's weights as the page loads them: 8-bit integers with a scale for each row.

    Args:
        name: name of the champion's folder.

    Returns:
        For each layer the numbers of biases, rows and columns, padding included; and the file's contents:
        float32 biases and row scales of each layer, then the int8 rows of each layer.

    Raises:
        ExportError: its weights are not rounded.
    """
    tensors = load_file(CHAMPIONS / name / WEIGHTS_FILE)
    count = len(tensors) // 3
    layers: list[list[int]] = []
    floats, numbers = [], []
    for number in range(count):
        weight, scale, bias = (tensors.get(f"layers.{number}.{part}") for part in ("weight", "scale", "bias"))
        if weight is None or scale is None or bias is None or weight.dtype != np.int8:
            raise ExportError(
                f"the weights of the champion {name!r} are not rounded: "
                "run python -m train.tools.round_weights"
            )
        rows = weight if number == count - 1 else weight.T
        if scale.size != len(rows):
            raise ExportError(f"the champion {name!r} does not have one scale for each row: round it again")
        padded_bias, padded_rows = padded(bias[np.newaxis]), padded(rows)
        layers.append([padded_bias.size, *padded_rows.shape])
        floats += [padded_bias.astype("<f4").tobytes(), scale.ravel().astype("<f4").tobytes()]
        numbers.append(np.ascontiguousarray(padded_rows).tobytes())
    if not layers:
        raise ExportError(f"the champion {name!r} has no layers: its folder is damaged")
    return layers, b"".join([*floats, *numbers])


def _search() -> dict[str, Any]:
    """Return the default options of `X+search`."""
    options = defaults_of(SearchAgent)
    usual = {name: options[name] for name in ("rollouts", "z", "depth")}
    return {
        "usual": usual,
        "over_a_judge": usual | OVER_A_JUDGE,
        "judges": VALUE_IN_POINTS,
    }
