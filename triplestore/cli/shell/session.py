"""What the shell does with a statement: start at `Session.run`.

A session holds a store and some settings, and writes to an output that it is given. Errors of the
package go to the caller; nothing here knows of a terminal but its width.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplestore.cli.shell.statements import (
    QUERY_WORDS,
    UPDATE_WORDS,
    Kind,
    first_word,
    kind_of,
    prefixes_in,
)
from triplestore.data_classes import data_class
from triplestore.errors import ReadOnlyError, UsageError

if TYPE_CHECKING:
    from triplestore.store import Store
    from triplestore.store.terminal import Vocabulary


@data_class(frozen=False)
class Settings:
    """What `.facts`, `.rows` and `.timer` set, and what the terminal is like."""

    facts: str = "all"
    rows: int = 40
    timer: bool = True
    plain: bool = False  # only ASCII
    progress: bool = False  # bars on stderr


class Session:
    """A store, and how its answers are shown; `commands.py: session_of` makes one.

    run_command : carries out a command that begins with a dot
    """

    def __init__(
        self,
        run_command: Callable[[Session, str], None],
        store: Store,
        write: Callable[[str], None],
        width: Callable[[], int] = lambda: 80,
        settings: Settings | None = None,
    ) -> None:
        self._run_command = run_command
        self.store = store
        self.write = write
        self.width = width
        self.settings = settings or Settings()
        self.over = False
        self.own_prefixes: dict[str, str] = {}
        self._names: tuple[int, Vocabulary] | None = None

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of the store, and those of this session."""
        return {**self.store.prefixes, **self.own_prefixes}

    def vocabulary(self) -> Vocabulary:
        """The properties and classes of the store, looked up once for each commit."""
        # Late: it needs `sparql`, which `--help` does not.
        from triplestore.store.terminal import vocabulary_of

        commit = self.store.commit
        if self._names is None or self._names[0] != commit:
            self._names = commit, vocabulary_of(self.store)
        return self._names[1]

    def run(self, text: str) -> None:
        """Carry out a complete statement, and write what comes of it."""
        kind = kind_of(text)
        statement = text.strip().removesuffix(";").strip()
        if kind is Kind.COMMAND:
            self._run_command(self, statement)
        elif kind is Kind.QUERY:
            self.query(statement)
        elif kind is Kind.UPDATE:
            self.timed(lambda: self.store.update(statement, prefixes=self.own_prefixes or None))
        elif kind is Kind.RULES:
            self.timed(lambda: self.store.add_rules(self._with_prefixes(statement)))
        elif kind is Kind.PREFIXES:
            self.bind(prefixes_in(statement))
        elif kind is Kind.UNKNOWN:
            raise UsageError(_unknown(statement))

    def query(self, text: str) -> None:
        """Run a query and show its answer."""
        began = time.perf_counter()
        result = self.ask(text)
        lines = self.shown(result)
        self.write(f"{lines}{self._took(began)}")
        if not isinstance(result, bool) and not result:
            self.advise(result)

    def ask(self, text: str) -> Any:
        """The result of a query, with the settings and prefixes of the session."""
        return self.store.query(text, facts=self.settings.facts, prefixes=self.own_prefixes or None)

    def shown(self, result: Any) -> str:
        """An answer as text: a table, triples as Turtle, or yes or no."""
        # Late: it needs `sparql`, which `--help` does not.
        from triplestore.store.answers import are_triples, for_people
        from triplestore.store.terminal import counted, solutions_table

        if isinstance(result, bool):
            return "true" if result else "false"
        if are_triples(result):
            text = f"{for_people(result, self.prefixes)}\n" if len(result) else ""
            return text + counted(result)
        return solutions_table(
            result,
            self.prefixes,
            self.width(),
            self.settings.rows,
            plain=self.settings.plain,
        )

    def advise(self, result: Any) -> None:
        """Say what is probably wrong with a query that found nothing."""
        from triplestore.store.terminal import advice_of

        for line in advice_of(result, self.prefixes):
            self.write(f"hint: {line}")

    def table(self, names: list[str], rows: list[tuple[object, ...]], nothing: str) -> None:
        """Write other rows as a table."""
        from triplestore.store.terminal import text_table_of

        if rows:
            plain = self.settings.plain
            self.write(text_table_of(names, rows, self.width(), plain=plain))
        else:
            self.write(nothing)

    def bind(self, prefixes: dict[str, str]) -> None:
        """Keep prefixes in the store; in the session only, if the store is opened for reading."""
        for prefix, iri in prefixes.items():
            try:
                self.store.bind(prefix, iri)
            except ReadOnlyError:
                self.own_prefixes[prefix] = iri
            self.write(f"{prefix}: is <{iri}>")

    def timed(self, action: Callable[[], Any]) -> None:
        """Carry something out, and write what it gives and how long it took."""
        began = time.perf_counter()
        done = action()
        self.write(f"{done}{self._took(began)}")

    def _took(self, began: float) -> str:
        if not self.settings.timer:
            return ""
        seconds = time.perf_counter() - began
        return f" ({seconds:,.1f} s)" if seconds >= 1 else f" ({1000 * seconds:,.1f} ms)"

    def _with_prefixes(self, rules: str) -> str:
        declared = [f"@prefix {name}: <{iri}> ." for name, iri in self.own_prefixes.items()]
        return "\n".join([*declared, rules])

    def files(self, names: list[str]) -> list[Path]:
        """Paths given by the user; `~` is the home directory."""
        return [Path(name).expanduser() for name in names]


def _unknown(text: str) -> str:
    word = first_word(text)
    near = get_close_matches(word, [*QUERY_WORDS, *UPDATE_WORDS], 1) if word else []
    meant = f" (did you mean {near[0]}?)" if near else ""
    found = f"found {word or text.split()[0]!r}{meant}"
    return (
        "expected a query (SELECT ...), an update (INSERT DATA ...), a rule (... :- ... .) or a "
        f"command such as .help, {found}"
    )
