"""The text of a program that grows: only new rules are printed.

Start reading at `ClauseTexts`. What is always true: each text reads back as its rule under the
prefixes that are declared in front of all, and these never change while a rule is there that may
use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from triplestore.datalog.program import Constant, Constraint, Program, Rule
from triplestore.datalog.text import WELL_KNOWN, read, write
from triplestore.errors import ProgramError, UsageError

Clause: TypeAlias = Rule | Constraint

_STATEMENT = re.compile(r"\n(?! )")
"""Statements begin with a line of their own; what belongs to one is indented."""


class ClauseTexts:
    """The texts of some clauses, by their identity, and the prefixes they are written with."""

    def __init__(
        self,
        prefixes: Mapping[str, str] | None = None,
        clauses: Sequence[Clause] = (),
        texts: Sequence[str] = (),
    ) -> None:
        self.prefixes = dict(prefixes or {})
        # With the clause itself, as only that keeps its identity from going to another.
        pairs = zip(clauses, texts, strict=True)
        self._texts = {id(clause): (clause, text) for clause, text in pairs}

    def knows(self, clause: Clause) -> bool:
        """Whether this very clause is one of them."""
        return id(clause) in self._texts

    def of(self, program: Program) -> ClauseTexts:
        """The texts of a program's clauses, of which many are known."""
        clauses: list[Clause] = [*program.rules, *program.constraints]
        fresh = [clause for clause in clauses if not self.knows(clause)]
        own = self.prefixes if self._texts else {}
        made = ClauseTexts({**WELL_KNOWN, **program.prefixes, **own})
        texts = {**self._texts, **made._printed(fresh)}
        made._texts = {id(clause): texts[id(clause)] for clause in clauses}
        return made

    def _printed(self, fresh: Sequence[Clause]) -> dict[int, tuple[Clause, str]]:
        rules = [clause for clause in fresh if isinstance(clause, Rule)]
        constraints = [clause for clause in fresh if isinstance(clause, Constraint)]
        program = Program(rules, constraints, self.prefixes)
        _, _, body = write(program).partition("\n\n")
        if any(clause.source is None for clause in fresh):
            # Made in Python, where more can be said than text has words for.
            _require_readable(self._with_prefixes(body), program)
        statements = _STATEMENT.split(body.rstrip("\n")) if fresh else []
        ordered: list[Clause] = [*rules, *constraints]
        pairs = zip(ordered, statements, strict=True)
        return {id(clause): (clause, statement) for clause, statement in pairs}

    def text(self) -> str:
        """The text of all, with the prefixes that it uses."""
        return self._with_prefixes("".join([f"{text}\n" for _, text in self._texts.values()]))

    def _with_prefixes(self, body: str) -> str:
        return "".join([*self._declared(body), "\n", body])

    def _declared(self, body: str) -> Iterator[str]:
        for prefix, iri in sorted(self.prefixes.items()):
            if f"{prefix}:" in body:
                yield f"@prefix {prefix}: {Constant.iri(iri)} .\n"


def _require_readable(text: str, program: Program) -> None:
    try:
        if read(text) == program:
            return
        reason = "it reads back as another one"
    except ProgramError as error:
        reason = str(error)
    raise UsageError(f"this program cannot be written as text, so it cannot be kept: {reason}")
