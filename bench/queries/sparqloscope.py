"""The queries of Sparqloscope, filled for a graph.

Start at `filled`. The templates (https://github.com/ad-freiburg/sparqloscope) are read from
the folder of shared data; they are not part of this project. Their placeholders are filled as their
generator does it: by the placeholder queries of the same file, asked of the graph itself, where the
results of the precomputed queries stand as VALUES. Ours answers them. So that every run takes the
same predicates, equal rows of an ORDER BY are ordered by their terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness import MeasurementError
from bench.inputs.data import shared_data

Rows = tuple[list[str], list[list[str]]]  # names of columns, and terms as in SPARQL
Ask = Callable[[str], Rows]

LIMIT = "10"  # of queries that say %LIMIT%; the generator's own default
PLACEHOLDER = re.compile(r"%([\w\-]+)%")
EACH = re.compile(r"%begin-foreach:(\w+)%\n?(.*?)%end-foreach:\1%", re.DOTALL)
END = re.compile(r"(ORDER BY [^{}]*?)?\s*(LIMIT\s+\d+\s*(?:OFFSET\s+\S+)?)?\s*$")


@dataclass(frozen=True)
class Template:
    """A query of the suite: its name, its group, and its text."""

    name: str
    group: str
    text: str


def templates_path() -> Path:
    """The file of the templates; a `MeasurementError` says how to get it."""
    path = shared_data() / "sparqloscope" / "query-templates.yaml"
    if not path.is_file():
        raise MeasurementError(
            f"no Sparqloscope templates at {path}: put query-templates.yaml of "
            "https://github.com/ad-freiburg/sparqloscope there"
        )
    return path


def filled(ask: Ask, path: Path | None = None) -> list[Template]:
    """All queries with their placeholders filled by what `ask` answers."""
    import yaml

    suite = yaml.safe_load((path or templates_path()).read_text())
    tables = {one["name"]: ask(_settled(ask, one["query"])) for one in suite["precomputed_queries"]}
    known: dict[str, list[str]] = {"LIMIT": [LIMIT]}
    for one in suite["placeholders"]:
        known |= _placeholder(ask, one, tables, known)
    return [
        Template(one["name"], one.get("group", "str-functions"), _fill(one["query"], known))
        for one in suite["queries"]
    ]


def _placeholder(
    ask: Ask,
    one: Mapping[str, Any],
    tables: Mapping[str, Rows],
    known: Mapping[str, list[str]],
) -> dict[str, list[str]]:
    """The values of a placeholder and its children, by their names."""
    text = PLACEHOLDER.sub(lambda found: _inlined(found[1], tables, known), one["query"])
    if re.search(r"\bASK\b", text):
        return {one["name"]: ask(text)[1][0]}
    columns, rows = ask(_settled(ask, text))
    if not rows:
        raise MeasurementError(f"the graph has nothing for the placeholder {one['name']}")
    children = one.get("children", [{"suffix": "", "variable": f"?{columns[0]}"}])
    places = {one["name"] + c["suffix"]: columns.index(c["variable"][1:]) for c in children}
    if one.get("multiplaceholder"):
        ((name, place),) = places.items()
        return {name: [_bare(row[place]) for row in rows]}
    best = rows[0]
    if "argmax" in one:
        best = max(rows, key=lambda row: _score(ask, one["argmax"], places, row))
    return {name: [_bare(best[place])] for name, place in places.items()}


def _bare(term: str) -> str:
    """An IRI as it is, a literal as its text only: the generator writes numbers so.

    >>> _bare('"12"^^<http://www.w3.org/2001/XMLSchema#decimal>'), _bare("<p>")
    ('12', '<p>')
    """
    return term.split('"')[1] if term.startswith('"') else term


def _score(ask: Ask, text: str, places: Mapping[str, int], row: Sequence[str]) -> float:
    for name, place in places.items():
        text = text.replace(f"%{name}%", row[place])
    _, rows = ask(text)
    found = re.match(r'"?([-+.\deE]+)', rows[0][0]) if rows else None
    return float(found[1]) if found else float("-inf")


def _settled(ask: Ask, text: str) -> str:
    """The text with its rows ordered by all columns after what its own ORDER BY says."""
    found = END.search(text)
    if not found or not found[1]:
        return text
    columns, _ = ask(text[: found.start()] + " LIMIT 0")
    last = " ".join(f"?{name}" for name in columns)
    return f"{text[: found.start()]} {found[1]} {last} {found[2] or ''}"


def _inlined(name: str, tables: Mapping[str, Rows], known: Mapping[str, list[str]]) -> str:
    if name not in tables:
        return known[name][0]
    columns, rows = tables[name]
    values = "\n".join(f"({' '.join(row)})" for row in rows)
    return f"{{ VALUES ({' '.join('?' + column for column in columns)}) {{ {values} }} }}"


def _fill(text: str, known: Mapping[str, list[str]]) -> str:
    """A query with its placeholders filled, and its loops written out.

    >>> _fill("{ ?s %P% ?o %begin-foreach:Q%?v%#i% %Q_%#i%% ?v%#i+1% .%end-foreach:Q% }",
    ...     {"P": ["<p>"], "Q": ["<a>", "<b>"]})
    '{ ?s <p> ?o ?v0 <a> ?v1 .?v1 <b> ?v2 . }'
    """

    def each(found: re.Match[str]) -> str:
        return "".join(_turns(found[1], found[2], known[found[1]]))

    return PLACEHOLDER.sub(lambda found: known[found[1]][0], EACH.sub(each, text)).strip()


def _turns(name: str, body: str, values: Sequence[str]) -> Iterator[str]:
    for place, value in enumerate(values):
        turn = body.replace(f"%{name}_%#i%%", value)
        yield turn.replace("%#i+1%", str(place + 1)).replace("%#i%", str(place))
