"""The rules of a store: what is kept of them, and how callers give them.

Start reading at `Rules`, which a store keeps as bytes: the program's text, and of each rule the
file it came from and the place there. `read_rules` reads what callers may give as rules: a text, a
path, a `Program`, or several of these. Parsing 40,000 rules takes 0.6 s, and printing them 0.3 s;
so both are done once for the same bytes, not before they are needed, and only for rules that are
new: the texts of the others are known (`written`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from triplestore.data_classes import data_class
from triplestore.datalog.check import Checked, check
from triplestore.datalog.problems import Problem, in_order, raise_errors
from triplestore.datalog.program import (
    Constant,
    Constraint,
    Program,
    Rule,
    Source,
    Term,
    TripleAtom,
)
from triplestore.datalog.rules import signature
from triplestore.datalog.text import parse, read, show
from triplestore.errors import FormatError, ProgramError, UsageError, unreadable
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.program.program_text import ClauseTexts
from triplestore.storage.files.sections import decoding
from triplestore.storage.metadata import PROGRAM
from triplestore.terms.term_keys import BLANK, IRI

RulesLike: TypeAlias = "str | PathLike[str] | Program | Iterable[Any]"
"""A text of rules, the path of a file of them, a `Program`, or several of these."""

Clause: TypeAlias = Rule | Constraint

_FORMAT = 1

MAX_MISSING = 10
"""Maximum number of rules to remove that are not in force and named in warnings."""


@data_class
class GivenRules:
    """Rules as a caller gave them.

    declared  the prefixes that their texts declare
    paths     whole path of each file -> the name it was given by
    problems  what is wrong with the text itself
    """

    program: Program
    declared: Mapping[str, str]
    paths: Mapping[str, str]
    problems: Sequence[Problem]


class Rules:
    """The rules of a store, as they are kept: frozen, and equal if the same rules are kept.

    >>> from triplestore.datalog.text import read
    >>> rules = Rules.of(read("@prefix : <http://e/> . :b[?x] :- :a[?x] .", file="a.dlog"))
    >>> len(rules), Rules(rules.data).program.rules[0].source.file
    (1, 'a.dlog')
    """

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    @classmethod
    def of(
        cls,
        program: Program,
        paths: Mapping[str, str] | None = None,
        known: ClauseTexts | None = None,
    ) -> Rules:
        """The rules of a program; `paths` as in `GivenRules`, `known` texts of some of them."""
        if not len(program):
            return cls()
        written = (known or ClauseTexts()).of(program)
        clauses = list(_clauses(program))
        sources = [clause.source for clause in clauses]
        names = dict.fromkeys(source.file for source in sources if source and source.file)
        numbers = {name: number for number, name in enumerate(names)}
        whole = {name: path for path, name in (paths or {}).items()}
        outline = {
            "format": _FORMAT,
            "rules": len(program.rules),
            "constraints": len(program.constraints),
            "files": [[name, whole.get(name)] for name in names],
            "places": [_place(source, numbers) for source in sources],
            "text": written.text(),
        }
        made = cls(json.dumps(outline, ensure_ascii=False, separators=(",", ":")).encode())
        # What is known already need not be read again.
        made.__dict__.update(_outline=outline, program=program, _written=written)
        return made

    def __len__(self) -> int:
        return self.rule_count + self.constraint_count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"<{self.rule_count} rules and {self.constraint_count} constraints>"

    @cached_property
    def _outline(self) -> dict[str, Any]:
        with _decoding():
            outline = dict(json.loads(self.data)) if self.data else {"format": _FORMAT}
            kept = outline["format"]
        if kept != _FORMAT:
            raise FormatError(
                f"the rules of this store are of format {kept}, written by a newer version of "
                f"triplestore; this one reads format {_FORMAT}: upgrade triplestore"
            )
        return outline

    @property
    def rule_count(self) -> int:
        """How many rules there are."""
        with _decoding():
            return int(self._outline.get("rules", 0))

    @property
    def constraint_count(self) -> int:
        """How many constraints there are."""
        with _decoding():
            return int(self._outline.get("constraints", 0))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints."""
        return self.program.constraints

    @property
    def paths(self) -> dict[str, str]:
        """The files the rules came from: whole path -> the name it was given by."""
        with _decoding():
            return {path: name for name, path in self._outline.get("files", ()) if path}

    @cached_property
    def program(self) -> Program:
        """The rules as a program, each with its source."""
        with no_collection(), _decoding():
            return self._read() if self.data else Program()

    def _read(self) -> Program:
        program = read(self._outline["text"])
        files = [name for name, _ in self._outline["files"]]
        texts, placed = [], []
        for clause, place in zip(_clauses(program), self._outline["places"], strict=True):
            texts.append("" if clause.source is None else clause.source.text)
            placed.append(replace(clause, source=_source(place, files, clause)))
        count = self.rule_count
        made = Program(placed[:count], placed[count:], program.prefixes)  # type: ignore[arg-type]
        self.__dict__["_written"] = ClauseTexts(program.prefixes, placed, texts)
        return made

    @property
    def written(self) -> ClauseTexts:
        """The text of each rule."""
        _ = self.program
        found: ClauseTexts | None = self.__dict__.get("_written")
        return found or ClauseTexts()

    @cached_property
    def checked(self) -> Checked:
        """The results of checking each rule by itself."""
        return Checked()

    @cached_property
    def may_hide(self) -> bool:
        """Whether they may conclude what is not a triple of RDF: a literal as subject, say."""
        return any(_may_hide(rule) for rule in self.program.rules)

    def with_added(self, given: GivenRules) -> Rules:
        """These rules and those; rules of the same files that are not in them any more are
        removed."""
        again = {name for path, name in self.paths.items() if path in given.paths}
        if not again:
            return self._changed(self.program + given.program, {**self.paths, **given.paths})
        fresh = {signature(clause): clause for clause in _clauses(given.program)}
        kept: list[Clause] = []
        for clause in _clauses(self.program):
            if clause.source is None or clause.source.file not in again:
                kept.append(clause)
            elif (same := fresh.get(signature(clause))) is not None:
                kept.append(same)  # it may stand in another line now
        program = _program_of(kept, self.program.prefixes) + given.program
        return self._changed(program, {**self.paths, **given.paths})

    def without(self, given: GivenRules) -> Rules:
        """These rules without those."""
        return self._changed(self.program - given.program, self.paths)

    def _changed(self, program: Program, paths: Mapping[str, str]) -> Rules:
        made = Rules.of(program, paths, self.written)
        if made == self:
            return self
        if self.__dict__.get("may_hide") is False:  # then only new rules might
            fresh = [rule for rule in program.rules if not self.written.knows(rule)]
            made.__dict__["may_hide"] = any(_may_hide(rule) for rule in fresh)
        made.__dict__["checked"] = self.checked  # of the same rules, for the most part
        return made


def _decoding() -> AbstractContextManager[None]:
    """Anything wrong with stored rules is damage: they were checked before they were stored."""
    return decoding(f"the store's value {PROGRAM!r}", "a rule")


_KNOWN: dict[bytes, Rules] = {}
_MAX_KNOWN = 8


def rules_of(meta: Mapping[str, bytes]) -> Rules:
    """The rules that a store keeps; the same object for the same bytes."""
    data = meta.get(PROGRAM, b"")
    return _KNOWN.get(data) or remember(Rules(data))


def remember(rules: Rules) -> Rules:
    """Let `rules_of` find these, which a store keeps now."""
    for oldest in list(_KNOWN)[: 1 - _MAX_KNOWN]:
        _KNOWN.pop(oldest, None)
    return _KNOWN.setdefault(rules.data, rules)


# -- what callers give ----------------------------------------------------------------------------


def read_rules(rules: RulesLike, prefixes: Mapping[str, str]) -> GivenRules:
    """The rules of a text, path or program, with everything that is wrong with their text.

    prefixes  known besides those that a text declares
    """
    program, paths = Program(), dict[str, str]()
    problems: list[Problem] = []
    for part in _parts(rules):
        if isinstance(part, Program):
            program = program + part
            continue
        name = None
        if isinstance(part, Path):
            name = str(part)
            text = _text_of(part)
            paths[str(part.resolve())] = name
        else:
            text = part
        one, wrong = _read_text(text, name, prefixes)
        program = program + one
        problems += wrong
    known = Program(prefixes={**prefixes, **program.prefixes})
    return GivenRules(known + program, program.prefixes, paths, problems)


def _read_text(
    text: str, file: str | None, prefixes: Mapping[str, str]
) -> tuple[Program, list[Problem]]:
    """The rules of a text, which may be CONSTRUCT queries."""
    if not may_be_rule_set(text):
        return parse(text, file=file, prefixes=prefixes)
    # Late: the parser of SPARQL.
    from triplestore.sparql_rules.construct_rules import is_rule_set, read_rule_set

    read_text = read_rule_set if is_rule_set(text) else parse
    return read_text(text, file=file, prefixes=prefixes)


def may_be_rule_set(text: str) -> bool:
    """Whether a text may be rules in SPARQL."""
    return _SPARQL.search(text) is not None


_SPARQL = re.compile(r"""(?i)\b(?:CONSTRUCT\b|RULE\s*[^\s"'\w]|(?:IF|DATA)\s*\{)""")


def raise_or_warn(
    rules: Rules, problems: Sequence[Problem] = (), known: Collection[bytes] | None = None
) -> list[Problem]:
    """Raise one error for everything wrong with rules and their text; else return the warnings."""
    found = check(rules.program, known, rules.checked)
    problems = in_order(problems, found)
    raise_errors(problems)
    return problems


def not_in_force(rules: Rules, taken: GivenRules) -> list[Problem]:
    """Warnings about the first few rules that are to be removed and are not in force."""
    known = rules.program
    missing = [clause for clause in _clauses(taken.program) if clause not in known]
    found = []
    for clause in missing[:MAX_MISSING]:
        message = f"no such rule is in force: {show(clause, taken.program.prefixes)}"
        remedy = "compare it with `store.program` (`triplestore rules`)"
        problem = Problem("not-in-force", message, remedy, warning=True)
        if (place := clause.source) is not None:
            problem = replace(problem, file=place.file, line=place.line, column=place.column)
        found.append(problem)
    if len(missing) > MAX_MISSING:
        left = len(missing) - MAX_MISSING
        found.append(Problem("not-in-force", f"and {left:,} more are not", warning=True))
    return found


def check_rules(
    rules: RulesLike,
    prefixes: Mapping[str, str] | None = None,
    known: Collection[bytes] | None = None,
) -> list[Problem]:
    """Everything that is wrong with rules, of their text and their meaning; nothing is raised.

    >>> for problem in check_rules("ex:p[?x] :- ex:q[?y] ."):
    ...     print(problem)
    input:1:1: error: ...
    """
    read_so_far = read_rules(rules, prefixes or {})
    problems = in_order(read_so_far.problems, check(read_so_far.program, known))
    if all(problem.warning for problem in problems):
        # Late: few runs need it.
        from triplestore.rules.simplify import simplify

        try:
            simplify(read_so_far.program)
        except ProgramError as error:
            lifted = [one for one in error.problems if isinstance(one, Problem)]
            problems = in_order(problems, lifted)
    return problems


def _parts(rules: RulesLike | Any) -> Iterator[str | Path | Program]:
    if isinstance(rules, Program):
        yield rules
    elif isinstance(rules, str):
        yield _text_or_path(rules)
    elif isinstance(rules, PathLike):
        yield Path(rules)
    elif isinstance(rules, Iterable) and not isinstance(rules, bytes):
        for part in rules:
            yield from _parts(part)
    else:
        raise UsageError(
            "rules are a text, the path of a file, a Program, or several of these, "
            f"not {type(rules).__name__}"
        )


def _text_or_path(text: str) -> str | Path:
    """Every text of rules has a bracket; a text without one that is not a file is a mistake."""
    if "[" in text or "{" in text or "\n" in text or not text.strip():
        return text
    path = Path(text)
    if path.is_file():
        return path
    if text.lstrip().startswith(("#", "@", "//")):
        return text
    raise UsageError(
        f"file {text!r} does not exist, and this is not a text of rules either, such as "
        "'ex:ancestor[?x, ?y] :- ex:parent[?x, ?y] .'"
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error}; save it as UTF-8") from None
    except OSError as error:
        raise unreadable(path, error) from error


# -- parts of programs ----------------------------------------------------------------------------


def _clauses(program: Program) -> Iterator[Clause]:
    yield from program.rules
    yield from program.constraints


def _program_of(clauses: Sequence[Clause], prefixes: Mapping[str, str]) -> Program:
    rules = [clause for clause in clauses if isinstance(clause, Rule)]
    constraints = [clause for clause in clauses if isinstance(clause, Constraint)]
    return Program(rules, constraints, prefixes)


def _place(source: Source | None, numbers: Mapping[str, int]) -> list[int] | None:
    """Number of the file (-1: none), line and column."""
    if source is None:
        return None
    number = -1 if source.file is None else numbers[source.file]
    return [number, source.line, source.column]


def _source(place: list[int] | None, files: Sequence[str], clause: Clause) -> Source | None:
    if place is None:
        return None
    number, line, column = place
    text = clause.source.text if clause.source is not None else ""
    return Source(None if number < 0 else files[number], line, column, text)


def _may_hide(rule: Rule) -> bool:
    """Whether the head of a rule may be not a triple of RDF though all facts in its body are.

    Where no rule of a program is so, no fact that follows can be.
    """
    triples = [atom for atom in rule.atoms if isinstance(atom, TripleAtom)]
    nodes = {atom.s for atom in triples} | {atom.p for atom in triples}
    names = {atom.p for atom in triples}
    return any(
        not (_is_one(head.s, nodes, (IRI, BLANK)) and _is_one(head.p, names, (IRI,)))
        for head in rule.heads
        if isinstance(head, TripleAtom)
    )


def _is_one(term: Term, bound: Collection[Term], kinds: Collection[int]) -> bool:
    return term.kind in kinds if isinstance(term, Constant) else term in bound
