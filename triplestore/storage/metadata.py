"""What a store keeps beside its quads: prefixes, files counted, rules and how to apply them.

Each is a named value in the storage's `meta`, as bytes. All names in use are in this file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from triplestore.storage.state import value_of

PREFIXES = "prefixes"
"""Prefix to IRI, as JSON."""

FILES = "files"
"""How many files were loaded: the next file's blank nodes are named by it."""

GRAPH_FILES = "graph-files"
"""Graph to [first file number, how many], as JSON, of graphs loaded with `replace_graph`: loading
the same files again names their blank nodes as before, so that nothing changes."""

PROGRAM = "program"
"""The rules, as `rules.Rules` writes them; absent if there are none."""

TUNING = "tuning"
"""What `reason(tuning=...)` said, as JSON."""

REGIMES = "regimes"
"""The names of the regimes in force and their options, as JSON; absent if there are none."""

STRICT = "strict"
"""There if commits that add violations are refused."""

HIDDEN = "hidden"
"""How many facts follow that are no triples of RDF (a literal as subject), and are not shown."""

IMPORTS = "imports"
"""The names of the last import jobs that were committed, as JSON: one that is tried again after it
was committed is not done twice."""

STALE = "stale"
"""There if something was committed without bringing the closure up to date: what that is thought
to take, as JSON (`facts`, `seconds`). See `stale`."""

_JOBS_KEPT = 1000


def prefixes_of(meta: Mapping[str, bytes]) -> dict[str, str]:
    """The prefixes that are kept.

    >>> prefixes_of({"prefixes": b'{"ex": "http://ex.org/"}'}), prefixes_of({})
    ({'ex': 'http://ex.org/'}, {})
    """
    return value_of(meta, PREFIXES, _texts, {})


def bytes_of_prefixes(prefixes: Mapping[str, str]) -> bytes:
    """The form in which prefixes are kept."""
    return json.dumps(dict(prefixes), ensure_ascii=False).encode()


def file_count(meta: Mapping[str, bytes]) -> int:
    """How many files were loaded so far."""
    return value_of(meta, FILES, int, 0)


def graph_files(meta: Mapping[str, bytes]) -> dict[str, tuple[int, int]]:
    """The file numbers, first and how many, of graphs that were loaded with `replace_graph`."""
    return value_of(meta, GRAPH_FILES, _numbers, {})


def hidden_count(meta: Mapping[str, bytes]) -> int:
    """How many facts hold that are no triples of RDF."""
    return value_of(meta, HIDDEN, int, 0)


def import_jobs(meta: Mapping[str, bytes]) -> list[str]:
    """The names of the import jobs that were committed, the newest last."""
    return value_of(meta, IMPORTS, lambda value: list(map(str, json.loads(value))), [])


def bytes_of_jobs(jobs: Sequence[str]) -> bytes:
    """The form in which the names of jobs are kept: the last thousand."""
    return json.dumps(list(jobs)[-_JOBS_KEPT:]).encode()


def _texts(value: bytes) -> dict[str, str]:
    return {str(name): str(text) for name, text in json.loads(value).items()}


def _numbers(value: bytes) -> dict[str, tuple[int, int]]:
    found = json.loads(value).items()
    return {graph: (int(first), int(count)) for graph, (first, count) in found}
