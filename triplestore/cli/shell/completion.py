"""What Tab offers: commands, files, regimes; keywords, variables, prefixes, properties, classes.

Start at `candidates`, which needs no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from triplestore.cli.shell.commands import COMMANDS, REGIMES
from triplestore.cli.shell.session import Session
from triplestore.cli.shell.statements import QUERY_WORDS, UPDATE_WORDS, prefixes_in

KEYWORDS = (
    *QUERY_WORDS, *UPDATE_WORDS, "PREFIX", "WHERE", "DISTINCT", "OPTIONAL", "FILTER", "UNION",
    "MINUS", "GRAPH", "BIND", "VALUES", "ORDER BY", "GROUP BY", "HAVING", "LIMIT", "OFFSET", "DATA",
    "EXISTS", "NOT EXISTS", "COUNT", "SUM", "MIN", "MAX", "AVG", "AS", "DESC", "ASC", "REGEX",
    "CONTAINS", "STRSTARTS", "LANG", "DATATYPE", "BOUND", "FROM", "NAMED",
)  # fmt: skip
DELIMITERS = " \t\n{}()[],;|^\"'"
"""Between these the word stands that is completed."""

_VARIABLE = re.compile(r"[?$](\w+)")
_BEHIND_A = re.compile(r"(?:^|[\s;{])a\s+(?:[^\s{}]+\s*,\s*)*[^\s{}]*$")


def candidates(session: Session, before: str, line: str) -> list[str]:
    """What may stand in the place of the last word of `line`, given the lines before it."""
    word = re.split(f"[{re.escape(DELIMITERS)}]", line)[-1]
    if not before and line.lstrip().startswith("."):
        name, space, rest = line.lstrip()[1:].partition(" ")
        if not space:
            return _beginning([f".{one} " for one in COMMANDS], f".{name}")
        command = COMMANDS.get(name.lower())
        completes = "" if command is None else command.completes
        if completes == "files":
            return _files(rest.split(" ")[-1])
        if completes == "regimes":
            return _beginning([f"{regime} " for regime in REGIMES], word.lower())
        if completes == "facts":
            return _beginning(["all", "explicit", "inferred"], word)
        if completes == "commands":
            return _beginning(COMMANDS, word.removeprefix("."))
        return _in_statement(session, rest, word) if completes == "names" else []
    return _in_statement(session, f"{before}\n{line}", word)


def _in_statement(session: Session, text: str, word: str) -> list[str]:
    if word[:1] in ("?", "$"):
        names = _VARIABLE.findall(text[: len(text) - len(word)])
        return _beginning([word[0] + name for name in names], word)
    vocabulary = session.vocabulary()
    if _BEHIND_A.search(text):
        return _beginning(_short(vocabulary.classes), word) or _prefixes(session, text, word)
    names = _short((*vocabulary.properties, *vocabulary.classes))
    if ":" in word or not word:
        return _beginning(names, word)
    found = _prefixes(session, text, word)
    if word.isalpha():
        wanted = [one if word.isupper() else one.lower() for one in KEYWORDS]
        found = [*_beginning([f"{one} " for one in wanted], word), *found]
    return found


def _short(names: Iterable[str]) -> list[str]:
    """The names with a prefix: others are not typed."""
    return [name for name in names if not name.startswith("<")]


def _prefixes(session: Session, text: str, word: str) -> list[str]:
    known = {**session.prefixes, **prefixes_in(text)}
    return _beginning([f"{name}:" for name in known], word)


def _beginning(names: Iterable[str], word: str) -> list[str]:
    return sorted({name for name in names if name.startswith(word)})


def _files(word: str) -> list[str]:
    """Paths that begin with a word; folders end with a slash."""
    folder, slash, start = word.rpartition("/")
    try:
        found = list(Path(folder + slash or ".").expanduser().iterdir())
    except OSError:
        return []
    names = [path.name + ("/" if path.is_dir() else "") for path in found]
    return [folder + slash + name for name in _beginning(names, start)]
