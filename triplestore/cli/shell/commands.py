"""The commands of the shell, which begin with a dot. Start at `COMMANDS`.

Each is a function of the session and the text behind its name; its docstring is its help.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from triplestore.cli import completing
from triplestore.cli.shell.session import Session, Settings
from triplestore.cli.shell.statements import is_complete
from triplestore.data_classes import data_class
from triplestore.errors import UsageError

if TYPE_CHECKING:
    from triplestore.store import Store

Action = Callable[[Session, str], None]

REGIMES = (*completing.REGIMES, "none")
_MAX_LISTED = 1000

HELP = """\
Queries, updates, rules and prefixes are typed as they are:
  SELECT ?x { ?x a :Person } LIMIT 5
  INSERT DATA { :ada :parent :bob }
  :ancestor[?x, ?y] :- :parent[?x, ?y] .
  PREFIX : <http://example.org/>
A statement of one line runs at Enter. One of several lines ends with a semicolon or an empty line.
Tab completes; Ctrl-C drops what was typed or stops what is running; Ctrl-D ends the shell.
"""


@data_class
class Command:
    """One command.

    completes : what Tab offers behind the name: "files", "regimes", "names" or "facts"
    """

    name: str
    arguments: str
    action: Action
    completes: str = ""

    @property
    def help(self) -> str:
        """What it does, in a sentence or two."""
        return " ".join((self.action.__doc__ or "").split())


def session_of(
    store: Store,
    write: Callable[[str], None],
    width: Callable[[], int] = lambda: 80,
    settings: Settings | None = None,
) -> Session:
    """A session with these commands.

    write : takes what is shown, without the last line end
    width : of the terminal, in letters
    """
    return Session(run_command, store, write, width, settings)


def run_command(session: Session, text: str) -> None:
    """Carry out a command, given with its dot."""
    name, _, rest = text[1:].partition(" ")
    session_command = COMMANDS.get(name.lower())
    if session_command is None:
        near = get_close_matches(name.lower(), COMMANDS, 1)
        meant = f" (did you mean .{near[0]}?)" if near else ""
        raise UsageError(f"no command is called .{name}{meant}; .help lists them")
    session_command.action(session, rest.strip())


def _help(session: Session, text: str) -> None:
    """Show this help, or that of one command."""
    if text:
        command = COMMANDS.get(text.removeprefix(".").lower())
        if command is None:
            raise UsageError(f"no command is called {text}; .help lists them")
        session.write(f".{command.name} {command.arguments}".rstrip() + f"\n  {command.help}")
        return
    width = max(len(f".{one.name} {one.arguments}") for one in COMMANDS.values()) + 2
    lines = [
        f"  {f'.{one.name} {one.arguments}':<{width}}{one.help.partition('. ')[0].rstrip('.')}"
        for name, one in COMMANDS.items()
        if name == one.name
    ]
    session.write(HELP + "Commands:\n" + "\n".join(lines))


def _quit(session: Session, text: str) -> None:
    """End the shell."""
    session.over = True


def _info(session: Session, text: str) -> None:
    """Show what is in the store, and what it costs."""
    session.write(str(session.store.info()))


def _tables(session: Session, text: str) -> None:
    """List classes and properties with their sizes. Only names that contain TEXT."""
    _classes(session, text)
    _properties(session, text)


def _classes(session: Session, text: str) -> None:
    """List the classes with their numbers of members. Only names that contain TEXT."""
    rows = _counted(session, "SELECT ?x (COUNT(*) AS ?n) { ?s a ?x } GROUP BY ?x", text)
    session.table(["class", "members"], rows, "no classes")


def _properties(session: Session, text: str) -> None:
    """List the properties with their numbers of triples. Only names that contain TEXT."""
    rows = _counted(session, "SELECT ?x (COUNT(*) AS ?n) { ?s ?x ?o } GROUP BY ?x", text)
    session.table(["property", "triples"], rows, "no properties")


def _graphs(session: Session, text: str) -> None:
    """List the named graphs with their numbers of triples."""
    query = "SELECT ?x (COUNT(?s) AS ?n) { GRAPH ?x { OPTIONAL { ?s ?p ?o } } } GROUP BY ?x"
    session.table(["graph", "triples"], _counted(session, query, text), "no named graphs")


def _counted(session: Session, query: str, text: str) -> list[tuple[object, ...]]:
    """Names with counts, the largest first."""
    from triplestore.store.terminal import with_prefixes

    prefixes = session.prefixes
    found: list[tuple[str, int]] = []
    for name, count in session.ask(query).tuples():
        shown = with_prefixes(str(name), prefixes)
        if text.lower() in shown.lower():
            found.append((shown, int(count.value)))
    found.sort(key=lambda row: (-row[1], row[0]))
    rest = len(found) - _MAX_LISTED
    rows: list[tuple[object, ...]] = [*found[:_MAX_LISTED]]
    return rows if rest <= 0 else [*rows, (f"and {rest:,} more", "")]


def _prefixes(session: Session, text: str) -> None:
    """List the prefixes."""
    rows: list[tuple[object, ...]] = [
        (f"{name}:", f"<{iri}>") for name, iri in sorted(session.prefixes.items())
    ]
    session.table(["prefix", "namespace"], rows, "no prefixes: PREFIX ex: <http://...> adds one")


def _load(session: Session, text: str) -> None:
    """Load RDF files, folders or globs. With `into IRI` last, triples go to that named graph."""
    from pyoxigraph import NamedNode

    names = _words(text)
    graph = None
    if len(names) > 2 and names[-2].lower() == "into":
        graph, names = NamedNode(_iri(session, names[-1])), names[:-2]
    if not names:
        raise UsageError("give files: .load data.ttl more/*.nt")
    progress = session.settings.progress
    session.timed(
        lambda: session.store.load(path=session.files(names), to_graph=graph, progress=progress)
    )


def _dump(session: Session, text: str) -> None:
    """Write all asserted quads to a file. Its name gives format and compression."""
    (name,) = _exactly(1, _words(text), ".dump backup.nq.gz")
    session.store.dump(session.files([name])[0])
    session.write(f"written to {name}")


def _save(session: Session, text: str) -> None:
    """Write the answer of a query to a file.

    Its name gives the format: .csv, .tsv, .json, .xml, .parquet, .arrow; .ttl, .nt for triples.
    """
    from triplestore.store.answers import write_answer

    name, _, query = text.partition(" ")
    if not query.strip():
        raise UsageError("give a file and a query: .save out.parquet SELECT * { ?s ?p ?o }")
    result = session.ask(query.strip().removesuffix(";"))
    write_answer(result, session.files([name])[0], prefixes=session.prefixes)
    count = "" if isinstance(result, bool) else f" ({len(result):,} rows)"
    session.write(f"written to {name}{count}")


def _read(session: Session, text: str) -> None:
    """Carry out the statements of a file."""
    (name,) = _exactly(1, _words(text), ".read statements.rq")
    path = session.files([name])[0]
    try:
        lines = path.read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: {error}") from None
    for statement in statements_of(lines):
        session.run(statement)
        if session.over:
            return


def statements_of(lines: list[str]) -> list[str]:
    """The statements that lines are made of, by the rules of the prompt.

    >>> statements_of(["ASK {}", "SELECT * {", "?s ?p ?o }", "LIMIT 5;", ".quit"])
    ['ASK {}', 'SELECT * {\\n?s ?p ?o }\\nLIMIT 5;', '.quit']
    """
    found: list[str] = []
    waiting: list[str] = []
    for line in lines:
        if not waiting and not line.strip():
            continue
        waiting.append(line)
        if is_complete("\n".join(waiting)):
            found.append("\n".join(waiting))
            waiting = []
    return [*found, "\n".join(waiting)] if waiting else found


def _reason(session: Session, text: str) -> None:
    """Apply ontology languages: owl-rl, owl-el, rdfs, owl-horst, skos, swrl. Without a name, list
    those in force; `none` turns them off.
    """
    names = [name.lower() for name in _words(text)]
    if not names:
        regimes = session.store._view().regimes
        rules = len(session.store.program.rules)
        session.write(f"regimes: {', '.join(regimes) or 'none'}; rules of yours: {rules:,}")
        return
    progress = session.settings.progress
    session.timed(lambda: session.store.reason(*names, progress=progress))


def _rules(session: Session, text: str) -> None:
    """List the rules in force, or add those of files."""
    names = _words(text)
    if names:
        session.timed(lambda: session.store.add_rules(session.files(names)))
        return
    session.write(str(session.store.program).rstrip() or "no rules")


def _unrule(session: Session, text: str) -> None:
    """Remove a rule, given as its text or as a file."""
    if not text:
        raise UsageError("give a rule as it was added, or a file: .unrule family.dlog")
    rules: Any = text if ":-" in text else session.files(_words(text))
    session.timed(lambda: session.store.remove_rules(rules))


def _explain(session: Session, text: str) -> None:
    """Run a query, and show how it was evaluated."""
    if not text:
        raise UsageError("give a query: .explain SELECT * { ?s ?p ?o }")
    result = session.ask(text.removesuffix(";"))
    if isinstance(result, bool):
        raise UsageError("the answer of an ASK does not say how it was found: ask by SELECT")
    session.write(result.explain())


def _why(session: Session, text: str) -> None:
    """Prove a fact, such as `:ada :ancestor :cy`, or say why it does not hold."""
    if not text:
        raise UsageError("give a fact: .why :ada :ancestor :cy")
    session.write(session.store.why(text).text())


def _check(session: Session, text: str) -> None:
    """List the violations of constraints."""
    found = session.store.violations(_MAX_LISTED)
    for violation in found:
        session.write(str(violation))
    session.write("no violations" if not found else f"{len(found):,} violations listed")


def _describe(session: Session, text: str) -> None:
    """Show the triples of a thing, such as `:ada`."""
    if not text:
        raise UsageError("give a name: .describe :ada")
    session.query(f"DESCRIBE {text}")


def _facts(session: Session, text: str) -> None:
    """Choose the facts that queries see: all, explicit (asserted) or inferred."""
    if text not in ("all", "explicit", "inferred"):
        raise UsageError(f'give "all", "explicit" or "inferred", not {text!r}')
    session.settings.facts = text
    session.write(f"queries see {'all' if text == 'all' else f'only {text}'} facts")


def _rows(session: Session, text: str) -> None:
    """Set the maximum number of rows of an answer that are shown."""
    if not text.isdigit() or not int(text):
        raise UsageError(f"give a number of rows from 1 on, not {text!r}")
    session.settings.rows = int(text)


def _timer(session: Session, text: str) -> None:
    """Show how long statements take: on or off."""
    if text not in ("on", "off"):
        raise UsageError(f"give on or off, not {text!r}")
    session.settings.timer = text == "on"


def _refresh(session: Session, text: str) -> None:
    """Move on to the newest commit of a store that is open for reading only."""
    newer = session.store.refresh()
    session.write(f"commit {session.store.commit:,}" + ("" if newer else ", as before"))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}") from None


def _exactly(count: int, words: list[str], example: str) -> list[str]:
    if len(words) != count:
        raise UsageError(f"give one file: {example}")
    return words


def _iri(session: Session, name: str) -> str:
    """An IRI as it stands, in angle brackets, or with a prefix."""
    if name.startswith("<"):
        return name.removeprefix("<").removesuffix(">")
    prefix, colon, local = name.partition(":")
    known = session.prefixes
    return known[prefix] + local if colon and prefix in known else name


_ALL = (
    Command("help", "[COMMAND]", _help, "commands"),
    Command("quit", "", _quit),
    Command("info", "", _info),
    Command("tables", "[TEXT]", _tables),
    Command("classes", "[TEXT]", _classes),
    Command("properties", "[TEXT]", _properties),
    Command("graphs", "", _graphs),
    Command("prefixes", "", _prefixes),
    Command("describe", "NAME", _describe, "names"),
    Command("load", "FILE... [into IRI]", _load, "files"),
    Command("dump", "FILE", _dump, "files"),
    Command("save", "FILE QUERY", _save, "files"),
    Command("read", "FILE", _read, "files"),
    Command("reason", "[REGIME...]", _reason, "regimes"),
    Command("rules", "[FILE...]", _rules, "files"),
    Command("unrule", "RULE or FILE", _unrule, "files"),
    Command("why", "FACT", _why, "names"),
    Command("explain", "QUERY", _explain, "names"),
    Command("check", "", _check),
    Command("facts", "all|explicit|inferred", _facts, "facts"),
    Command("rows", "N", _rows),
    Command("timer", "on|off", _timer),
    Command("refresh", "", _refresh),
)
COMMANDS = {command.name: command for command in _ALL} | {"exit": _ALL[1]}
