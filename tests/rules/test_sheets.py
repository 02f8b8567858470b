"""Editions as files: the shipped sheets, sheets of one's own, and what is refused in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes import editions as editions_module
from millebornes_env.games.millebornes.editions import OVERRIDABLE, Edition, edition, editions
from millebornes_env.games.millebornes.rules import FIELDS, Rules
from tests.each import each
from tests.support import CARDS, Position

SHEETS = Path(editions_module.__file__).parent / "sheets"
EDITIONS = ("dujardin", "dujardin_2014", "dujardin_classic", "dutch", "parker", "winning_moves")
TABLES = {
    "parker": {(2, 2), (3, 3), (4, 2), (6, 3)},
    "dutch": {(2, 2), (3, 3), (4, 2), (6, 2)},
    "dujardin_classic": {(2, 2), (3, 3), (4, 2), (6, 3)},
    "winning_moves": {(2, 2), (3, 3), (4, 2), (6, 3)},
    "dujardin": {(2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)},
    "dujardin_2014": {(2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)},
}

# The shipped sheets ---------------------------------------------------------------------------------------


def test_the_editions_are_the_files_of_the_folder() -> None:
    """A file in the folder is an edition; no list elsewhere names it (rules, head: column -> edition)."""
    assert set(TABLES) <= set(editions())
    assert editions() == tuple(sorted(file.stem for file in SHEETS.iterdir()))


@each("name", EDITIONS)
def test_an_edition_is_called_as_its_file(name: str) -> None:
    """The name inside is the name outside, and `edition` returns the same object each time."""
    assert (edition(name).name, edition(name).label) == (name, name)
    assert edition(name) is edition(name)
    assert edition(edition(name)) is edition(name)
    assert edition(name).title.strip()
    assert edition(name).summary.endswith(".")


@each("name", EDITIONS)
def test_every_rule_of_a_sheet_has_a_source(name: str) -> None:
    """Each value, players and teams and each card included, says where it comes from."""
    sources = edition(name).sources
    assert set(sources) == set(Rules._fields) == set(FIELDS)
    assert [field for field, source in sources.items() if not source.strip()] == []


@each("name", EDITIONS)
def test_a_source_names_a_line_a_section_or_a_ruling(name: str) -> None:
    """Not just anything: "000:138", "US: scoring", "FRC p. 16", "FR14: ...", "rules 1.4", "E53"."""
    places = (":", "US", "FRC", "FR14", "rules ", "E")
    for field, source in edition(name).sources.items():
        assert any(place in source for place in places), f"{field}: {source}"
        assert any(character.isdigit() for character in source) or "does not arise" in source, field


@each("name", EDITIONS)
def test_the_tables_of_a_sheet(name: str) -> None:
    """Each can be played, and players without teams means the first one with so many (rules 1.1)."""
    result = edition(name)
    assert set(result.tables) == TABLES[name]
    assert result.players == tuple(sorted({players for players, _ in TABLES[name]}))
    for players, teams in TABLES[name]:
        rules = result.table(players, teams)
        assert (rules.players, rules.teams) == (players, teams)
        assert Position(players=players, edition=name, teams=teams, dealt=True).deck.total() == sum(
            rules.deck
        )
    assert result.table(4).teams == (4 if name in ("dujardin", "dujardin_2014") else 2)


# What is yes or a second choice in each sheet, by the profiles of rules 1.7; all other choices are 0.
EXACT = {"exact_finish", "discard_safeties"}
START_AND_EXACT = EXACT | {"start_needs_roll"}
YES = {
    "parker": START_AND_EXACT
    | {"roll_after_remedy", "roll_after_safety", "count_points"}
    | {"replay_after_safety_when_empty", "replay_after_claim_when_empty"},
    "dujardin_classic": START_AND_EXACT | {"roll_after_remedy", "count_points", "shutout_for"},
    "dutch": START_AND_EXACT
    | {"roll_after_remedy", "count_points", "shutout_for", "when_pile_is_empty", "play_out_after_extension"},
    "winning_moves": START_AND_EXACT
    | {"roll_after_remedy", "hazard_opens_pile", "opening_remedy_starts", "count_points"}
    | {"replay_after_safety_when_empty", "replay_after_claim_when_empty"},
    "dujardin_2014": START_AND_EXACT | {"when_pile_is_empty", "shutout_for"},
    "dujardin": EXACT | {"hazard_opens_pile", "when_pile_is_empty", "shutout_for"},
}


@each("name", EDITIONS)
def test_the_choices_of_a_sheet(name: str) -> None:
    """Those of its profile in the specification (rules 1.7; section 2 for the options)."""
    rules = edition(name).rules._asdict()
    assert {field for field in FIELDS if FIELDS[field].choices and rules[field]} == YES[name]
    assert (rules["max_200"], rules["hand_limit"], rules["goal"]) == (2, 6, 5000)


@each("name", EDITIONS)
def test_the_points_of_a_sheet(name: str) -> None:
    """The same in all but for a failed extension; without points, the classic ones (rules 1.5)."""
    rules = edition(name).rules._asdict()
    points = [rules[field] for field in FIELDS if field.startswith("points_")]
    assert points == [100, 300, 300, 400, 300, 300, 200, 0 if name == "winning_moves" else 200, 500]


def test_the_sources_of_a_table_join_those_of_the_sheet() -> None:
    """A rule that a table changes cites the table's source too, other rules do not."""
    sources = edition("winning_moves").sources
    assert "002:25" in sources["copies_of_accident"]
    assert "002:41-57" in sources["copies_of_accident"]
    assert "002:25" not in sources["copies_of_stop"]
    assert sources["target"].startswith("002:27; ")
    assert "002:190" in sources["players"]
    assert len(set(sources["teams"].split("; "))) == len(sources["teams"].split("; "))


# A sheet of one's own -------------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path: Path) -> Callable[..., Path]:
    """Return a copy of parker's sheet in which some texts are replaced by others."""

    def copy(*changes: tuple[str, str], name: str = "mine.toml") -> Path:
        text = (SHEETS / "parker.toml").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, f"{old!r} is not in the sheet"
            text = text.replace(old, new)
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return copy


MAX_200 = 'max_200 = { value = 2, source = "004:24" }'
HAND_LIMIT = 'hand_limit = { value = 6, source = "004:5" }'


def test_a_copied_sheet_plays_as_the_original(sheet: Callable[..., Path]) -> None:
    """A path ending in .toml is an edition, as text and as a path."""
    for result in (edition(sheet()), edition(str(sheet()))):
        assert result == edition("parker")


def test_a_sheet_with_one_change_plays_by_it(sheet: Callable[..., Path]) -> None:
    """This is what adding an edition without touching code means."""
    file = sheet((MAX_200, 'max_200 = { value = 3, source = "our house" }'), ('"parker"', '"our_house"'))
    result = edition(file)
    assert isinstance(result, Edition)
    assert (result.name, result.label, result.sources["max_200"]) == ("our_house", "our_house", "our house")
    for players, teams in TABLES["parker"]:
        assert result.table(players, teams) == edition("parker").table(players, teams)._replace(max_200=3)
    position = Position("battle 0: roll", players=4, edition=str(file)).km(0, 400, two_hundreds=2)
    assert position.hand(0, "200").can("play 200")
    assert not position.km(0, 600, two_hundreds=3).can("play 200")


def test_a_sheet_of_the_own_is_played_to_the_end(sheet: Callable[..., Path]) -> None:
    """A choice by its name, a yes, another deck and a table that no shipped sheet has: a whole round."""
    file = sheet(
        ('value = "play_out"', 'value = "end_after_turn"'),
        ("start_needs_roll = { value = true", "start_needs_roll = { value = false"),
        ("roll = 14", "roll = 9"),
        ("players = 6\nteams = 3", "players = 8\nteams = 4\nhand_limit = 5"),
        ('"parker"', '"mine"'),
    )
    position = Position(players=8, edition=str(file), dealt=True)
    assert (position.deck.total(), position.rules.teams) == (101, 4)
    assert sorted(set(position.hand_sizes())) == [5, 6]
    assert position.rules.start_needs_roll == 0
    *_, last = position.play_at_random(seed=3)
    assert last.phase == "round over"
    assert last.winner is not None or last.pile_size == 0


def test_a_sheet_of_the_own_is_overridden_like_any_other(sheet: Callable[..., Path]) -> None:
    """The label names the edition inside the file."""
    changed = edition(sheet(('"parker"', '"mine"'))).replace(max_200=4)
    assert changed.label == "mine+max_200=4"
    assert changed.table(2).max_200 == 4


def test_a_label_may_begin_with_a_file(sheet: Callable[..., Path]) -> None:
    """As command lines give it."""
    assert edition(f"{sheet()}+max_200=4+goal=3000").changes == {"max_200": 4, "goal": 3000}


MAX_200_IS_3 = (MAX_200, 'max_200 = { value = 3, source = "our house" }')


@each(
    ("change", "difference"),
    [
        (MAX_200_IS_3, "max_200 3, there 2"),
        (("players = 6\nteams = 3", "players = 8\nteams = 4"), "8 players in 4 teams"),
        (("target = 1000\n", "target = 900\n"), "target 900, there 1000"),
    ],
)
def test_other_rules_need_another_name(
    sheet: Callable[..., Path], change: tuple[str, str], difference: str
) -> None:
    """A position and a result say the name only: they would be read as those of the shipped sheet."""
    message = complaint(sheet(change))
    assert "the name 'parker' is that of a shipped sheet" in message
    assert f"differs from it ({difference})" in message
    assert edition(sheet(change, ('"parker"', '"mine"'))).name == "mine"


@each(
    ("name", "means"),
    [
        ("mini8", "that of a shipped sheet"),
        ("roadtrip8", "that of a shipped sheet"),
        ("arc_en_ciel", "that of a sheet of the game 'wielerspel'"),
        ("variants-v1:test/printed/4", "that of a drawn sheet: choose one without ':' and '/'"),
    ],
)
def test_a_name_that_already_means_other_rules_is_refused(
    sheet: Callable[..., Path], name: str, means: str
) -> None:
    """Positions with the name would be read by those rules."""
    assert f"the name '{name}' is {means}" in complaint(sheet(('name = "parker"', f'name = "{name}"')))


def test_a_table_left_out_needs_another_name(sheet: Callable[..., Path]) -> None:
    """Or a label would name a table that this sheet has not."""
    text = sheet().read_text(encoding="utf-8")
    last = text[text.rindex("[[tables]]") :]
    assert "is that of a shipped sheet" in complaint(sheet((last, "")))


def test_other_words_need_no_other_name(sheet: Callable[..., Path]) -> None:
    """Other texts do not change the game."""
    assert edition(sheet(('title = "Parker', 'title = "Our Parker'))).name == "parker"


def test_a_byte_order_mark_is_no_part_of_a_sheet(sheet: Callable[..., Path]) -> None:
    """Some editors write one at the beginning of a file in UTF-8; in UTF-16 the message says so."""
    file = sheet()
    text = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8-sig")
    assert edition(file) == edition("parker")
    file.write_text(text, encoding="utf-16")
    assert "UTF-16; save it as UTF-8" in complaint(file)


def test_texts_of_several_lines_become_one(sheet: Callable[..., Path]) -> None:
    """They stand in tables and in the headline of a description."""
    result = edition(sheet(('title = "Parker', 'title = "Our\\nown\\tParker')))
    assert result.title.startswith("Our own Parker")


# Overriding a sheet ---------------------------------------------------------------------------------------


def test_overrides_are_named_in_the_label() -> None:
    """A result saved under a label tells which rules were changed."""
    assert edition("parker").label == "parker"
    assert edition("parker").replace(max_200=4, goal=3000).label == "parker+goal=3000+max_200=4"
    assert edition("parker").replace(goal=3000).replace(max_200=4).changes == {"goal": 3000, "max_200": 4}


def test_an_override_holds_at_every_table_and_changes_no_other_edition() -> None:
    """The original stays as it is."""
    changed = edition("parker").replace(target=800)
    assert [changed.table(players).target for players in changed.players] == [800] * 4
    assert [edition("parker").table(players).target for players in (2, 3, 4, 6)] == [700, 700, 1000, 700]
    assert changed.table(4)._replace(target=1000) == edition("parker").table(4)


# What is refused ------------------------------------------------------------------------------------------


def complaint(file: Path | str) -> str:
    """Return the error message about the file, after its name."""
    with pytest.raises(EditionError) as caught:
        edition(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    return message.removeprefix(f"{file}: ")


@each("field", [field for field in OVERRIDABLE if not field.startswith("copies_of_")])
def test_a_missing_rule_is_named(sheet: Callable[..., Path], field: str) -> None:
    """With what it answers, and how it is written."""
    lines = (SHEETS / "parker.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    line = next(line for line in lines if line.startswith(f"{field} = {{"))
    message = complaint(sheet((line, "")))
    assert message.startswith(f"the rule '{field}' is missing; write {field} = {{ value = ..., source = ...")
    assert message.endswith(FIELDS[field].question)


@each(
    ("change", "message"),
    [
        ((HAND_LIMIT, f"{HAND_LIMIT}\nmax_300 = 1"), "unknown entry 'max_300'"),
        ((HAND_LIMIT, f"{HAND_LIMIT}\nplayers = 2"), "unknown entry 'players'"),
        (('title = "', 'titel = "'), "the entry 'title' is missing, or not text"),
        (('name = "parker"', "name = 4"), "the entry 'name' is missing, or not text"),
        (('summary = "', 'summary = 1 # "'), "the entry 'summary' is missing, or not text"),
        (
            (MAX_200, "max_200 = { value = 2 }"),
            "the rule 'max_200' is not understood; write max_200 = { value = ..., source = ... }; "
            "it answers: 200s that one team may lay",
        ),
        (
            (MAX_200, 'max_200 = { value = 2, source = " " }'),
            "the rule 'max_200' has no source; write max_200",
        ),
        (
            ("exact_finish = { value = true", 'exact_finish = { value = "yes"'),
            "the rule 'exact_finish' is 'yes'; it must be true or false",
        ),
        (("players = 6\n", "players = true\n"), "tables, entry 4: it needs players, teams (whole numbers)"),
        ((MAX_200, "max_200 = 2"), "the rule 'max_200' is not understood; write max_200 = { value"),
        ((MAX_200, 'max_200 = { value = 2, sauce = "p. 1" }'), "the rule 'max_200' is not understood"),
        (
            (MAX_200, 'max_200 = { value = "2", source = "p. 1" }'),
            "'max_200' is '2'; it must be a whole number",
        ),
        (
            (MAX_200, 'max_200 = { value = 2.0, source = "p. 1" }'),
            "'max_200' is 2.0; it must be a whole number",
        ),
        (
            (MAX_200, 'max_200 = { value = true, source = "p. 1" }'),
            "'max_200' is True; it must be a whole numb",
        ),
        (
            ("exact_finish = { value = true", "exact_finish = { value = 1"),
            "the rule 'exact_finish' is 1; it must be true or false",
        ),
        (
            ('value = "play_out"', 'value = "stop"'),
            "the rule 'when_pile_is_empty' is 'stop'; it must be 'play_out' or 'end_after_turn'",
        ),
        (('value = "play_out"', "value = 0"), "the rule 'when_pile_is_empty' is 0; it must be 'play_out' or"),
        (("[deck]\n", "[pack]\n"), "unknown entry 'pack'"),
        (('source = "rules 0.2"', "joker = 2"), "the table 'deck' is missing, or its 'source'"),
        (("stop = 5", "stop = 5\njoker = 2"), "deck: there is no card 'joker'"),
        (("stop = 5", 'stop = "five"'), "the rule 'copies_of_stop' is 'five'; it must be a whole number"),
        (("stop = 5", "stop = 50"), "at the table of 4 players, the deck has 151 cards: it may have at most"),
        (("players = 6\n", ""), "tables, entry 4: it needs players, teams (whole numbers) and source (text)"),
        (
            ("players = 6\n", 'players = "six"\n'),
            "tables, entry 4: it needs players, teams (whole numbers) and source (text)",
        ),
        (
            ("players = 6\nteams = 3\n", "players = 6\n"),
            "tables, entry 4: it needs players, teams (whole numbers) and source (text)",
        ),
        (
            ('source = "US: 6 players, three pairs, 700 km (rules 1.1)"', ""),
            "tables, entry 4: it needs players, teams (whole numbers) and source (text)",
        ),
        (("players = 6\n", "players = 6\nmax_300 = 1\n"), "tables, entry 4: there is no rule 'max_300'"),
        (("players = 6\n", 'players = 6\ngoal = "a"\n'), "the rule 'goal' is 'a'; it must be a whole number"),
        (
            ("players = 6\n", "players = 5\n"),
            "at the table of 5 players, 5 players in 3 teams: teams must be",
        ),
        (("players = 6\n", "players = 9\n"), "9 players in 3 teams: there may be 2 to 4 teams and at most 8"),
        (("players = 6\nteams = 3", "players = 5\nteams = 5"), "5 players in 5 teams: there may be 2 to 4"),
        (("players = 6\nteams = 3", "players = 2\nteams = 1"), "2 players in 1 teams: there may be 2 to 4"),
        (
            ("extended_target = 0", "extended_target = 900"),
            "4 players, extended_target is 900 km: it must be",
        ),
        (
            (MAX_200, 'max_200 = { value = 5, source = "p. 1" }'),
            "at the table of 2 players, max_200 is 5: the deck",
        ),
        ((HAND_LIMIT, "hand_limit = { value = 6, source = "), "line 6"),
        ((HAND_LIMIT, f"{HAND_LIMIT}\nmax_20 = 1"), "unknown entry 'max_20'. Did you mean 'max_200'?"),
        (("stop = 5", "stop = 5\nstopp = 2"), "deck: there is no card 'stopp'. Did you mean 'stop'?"),
        (
            ("players = 6\n", "players = 6\nmax_20 = 1\n"),
            "there is no rule 'max_20' for the table of 6 players in 3 teams. Did you mean 'max_200'?",
        ),
        (
            ("players = 6\n", 'players = 6\ngoal = "a"\n'),
            "tables, entry 4, the table of 6 players in 3 teams: the rule 'goal' is 'a'",
        ),
        (("players = 6\nteams = 3", "players = 2\nteams = 2"), "2 players in 2 teams is there twice"),
        (("players = 6\nteams = 3", "players = 0\nteams = 3"), "of 1 player or more"),
        (("players = 6\n", "players = 6.0\n"), "tables, entry 4: it needs players, teams (whole numbers)"),
        (
            ("players = 6\n", f"players = 0x{'f' * 9000}\n"),
            "the number of players or teams is a very large int",
        ),
        (("stop = 5", f"stop = 0x{'f' * 9000}"), "the rule 'copies_of_stop' is a very large int"),
        (("stop = 5", f"stop = {'9' * 9000}"), "this is not TOML: Exceeds the limit"),
        (("stop = 5", "stop = 5\nstop = 5"), "this is not TOML: Cannot overwrite a value"),
        (("stop = 5", f"stop = {'[' * 9000}"), "this is not TOML: "),
        (("stop = 5", "stop = nan"), "the rule 'copies_of_stop' is nan; it must be a whole number"),
        (("stop = 5", f'stop = "{"x" * 9000}"'), "the rule 'copies_of_stop' is 'xxx"),
        (('title = "Parker', 'title = "\\u001b[2J'), "the title contains '\\x1b', which cannot be printed"),
        (('source = "004:5"', 'source = "a\\u0000b"'), "the source of hand_limit contains '\\x00'"),
        (('name = "parker"', 'name = "par\\nker"'), "the name 'par\\nker' is not valid for an edition"),
        (('name = "parker"', 'name = "a+b=1"'), "the name 'a+b=1' is not valid for an edition"),
        (('name = "parker"', 'name = "a\\u0000b"'), "the name 'a\\x00b' is not valid for an edition"),
        (('name = "parker"', f'name = "{"x" * 9000}"'), "is not valid for an edition"),
        (('name = "parker"', 'name = ""'), "the entry 'name' is missing, or not text"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_named(
    sheet: Callable[..., Path], change: tuple[str, str], message: str
) -> None:
    """The file, the entry, and what may stand there, in a sentence that is not as long as the sheet."""
    said = complaint(sheet(change))
    assert message in said
    assert len(said) < 450


@each("card", range(len(CARDS)))
def test_a_missing_card_is_named(sheet: Callable[..., Path], card: int) -> None:
    """A deck lists all 19, a card that it has not with 0."""
    name = CARDS[card]
    count = edition("parker").rules.deck[card]
    file = sheet((f"\n{name} = {count}\n", "\n"))
    assert complaint(file) == f"deck: '{name}' is missing; write 0 if the deck has none"


def test_a_sheet_without_a_deck(sheet: Callable[..., Path]) -> None:
    """The whole table is named, not its first card."""
    text = sheet().read_text(encoding="utf-8")
    deck = text[text.index("[deck]") : text.index("[[tables]]")]
    assert complaint(sheet((deck, ""))) == "the table 'deck' is missing, or its 'source'"


@each("tables", ["[2]", '["two"]'])
def test_a_table_that_is_none(sheet: Callable[..., Path], tables: str) -> None:
    """An entry that is no table at all lacks players, teams and source."""
    text = sheet().read_text(encoding="utf-8")
    file = sheet((text[text.index("[[tables]]") :], ""), (HAND_LIMIT, f"tables = {tables}\n{HAND_LIMIT}"))
    assert complaint(file) == "tables, entry 1: it needs players, teams (whole numbers) and source (text)"


@each("instead", ["", "tables = []\n", "tables = 4\n"])
def test_a_sheet_without_tables(sheet: Callable[..., Path], instead: str) -> None:
    """An edition has at least one."""
    text = sheet().read_text(encoding="utf-8")
    file = sheet((text[text.index("[[tables]]") :], ""), (HAND_LIMIT, instead + HAND_LIMIT))
    assert complaint(file) == "there is no [[tables]] entry: an edition needs at least one"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The message names it and says so, for a text as for a path."""
    file = tmp_path / "none.toml"
    assert "No such file" in complaint(file)
    assert "No such file" in complaint(str(file))


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    """The message names the file and the place in it; a file that is no text is refused alike."""
    file = tmp_path / "bad.toml"
    file.write_text("name = \n", encoding="utf-8")
    assert "line 1" in complaint(file)
    file.write_bytes(b"name = '\xff'")
    assert "utf-8" in complaint(file)


def test_a_file_that_never_ends(tmp_path: Path) -> None:
    """No sheet has a million bytes; more are not read."""
    file = tmp_path / "endless.toml"
    file.symlink_to("/dev/zero")
    assert "more than 1,048,576 bytes" in complaint(file)


@each("name", ["a\0.toml", "x" * 5000 + ".toml"])
def test_a_name_that_no_file_has(name: str) -> None:
    """Neither a raw error nor an endless message."""
    with pytest.raises(EditionError) as caught:
        edition(name)
    assert len(str(caught.value)) < 200


def test_a_folder_is_no_sheet(tmp_path: Path) -> None:
    """Nothing but the package's own complaint comes out of `edition`."""
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    assert complaint(folder)
    shutil.rmtree(folder)
