"""Croissant metadata of a folder of recorded rounds: its files and columns for dataset search and loaders.

The format is that of https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html. Whoever publishes a
recording adds its address, licence and creator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from millebornes_env.arena.recording.card import Column, decision_columns, round_columns

_CROISSANT: Final = "http://mlcommons.org/croissant/"
_TERMS: Final = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *(
        "references",
        "regex",
        "repeated",
        "replace",
        "samplingRate",
        "separator",
        "source",
        "subField",
        "transform",
    ),
)
"""Terms of the vocabulary whose values need no mark of their own."""
_TYPES: Final = {"float32": "sc:Float", "string": "sc:Text"}
"""Types of columns; all others are `sc:Integer`."""


def croissant(described: Mapping[str, Any], summary: Mapping[str, int]) -> dict[str, Any]:
    """Return the metadata as JSON-LD.

    Args:
        described: description of the recording.
        summary: numbers of rounds, decisions, bytes and files.
    """
    agents = ", ".join(one["name"] for one in described["agents"])
    tables = {
        "decisions": ("a row for each decision", decision_columns(described)),
        "rounds": ("a row for each round", round_columns(described)),
    }
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": _CROISSANT + "1.0",
        "name": f"recorded-rounds-{described['game']}-{described['edition']}".replace("/", "-"),
        "description": (
            f"{summary['rounds']:,} rounds of {agents} at the game {described['game']}, edition "
            f"{described['edition']}, {described['players']} players in {described['teams']} teams, with "
            "observations, legal actions, actions, returns and scores, recorded by millebornes_env."
        ),
        "keywords": ["reinforcement learning", "imitation learning", "card game", "hidden information"],
        "version": f"{described['format_version']}.0.0",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": f"{name}-files",
                "name": f"{name}-files",
                "encodingFormat": "application/x-parquet",
                "includes": f"{name}/*.parquet",
            }
            for name in tables
        ],
        "recordSet": [_record_set(name, about, columns) for name, (about, columns) in tables.items()],
    }


def _record_set(name: str, about: str, columns: Sequence[Column]) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{one.name}",
            "name": one.name,
            "description": one.meaning,
            "dataType": _TYPES.get(one.type, "sc:Integer"),
            "source": {"fileSet": {"@id": f"{name}-files"}, "extract": {"column": one.name}},
            **({"repeated": True} if one.size else {}),
        }
        for one in columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": about, "field": fields}


def _context() -> dict[str, Any]:
    """Return the context of Croissant 1.0, which gives each term its meaning."""
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": _CROISSANT,
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "fileObject": "cr:fileObject",
        **{term: f"cr:{term}" for term in _TERMS},
    }
