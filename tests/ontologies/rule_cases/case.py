"""A case of a rule, and how a table of cases is written.

Start reading at `read_cases`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent

from tests.ontologies.oracle import Fact, triples, turtle


@dataclass(frozen=True)
class RuleCase:
    """A premise and what the rule makes of it.

    rule          the id in the W3C tables
    premise       Turtle; blank nodes keep their labels
    concludes     triples that hold, and not without the rule; literals may stand anywhere
    absent        triples that do not hold
    inconsistent  True if the rule notices an inconsistency in the premise
    spare         triples of the premise that the conclusions do not need
    about         what is special in this case, if a rule has several
    """

    rule: str
    premise: str
    concludes: str = ""
    absent: str = ""
    inconsistent: bool = False
    spare: str = ""
    about: str = ""

    @property
    def name(self) -> str:
        return f"{self.rule} {self.about}".strip()

    @cached_property
    def facts(self) -> list[Fact]:
        return turtle(self.premise)  # once: the cells of a list are other nodes each time

    @property
    def conclusions(self) -> list[Fact]:
        return triples(self.concludes)

    @property
    def absences(self) -> list[Fact]:
        return triples(self.absent)

    @property
    def needed(self) -> list[Fact]:
        """The triples of the premise without which nothing is concluded."""
        spare = set(triples(self.spare))
        return [fact for fact in self.facts if fact not in spare]


def read_cases(table: dict[str, str]) -> list[RuleCase]:
    """The cases of a table: to each rule, blocks of lines.

    Blocks: about (what is special), if (the premise, in Turtle), then (the conclusions, or the
    word inconsistent), not (what does not follow), spare (what of the premise does not matter).
    """
    return [case for rule, text in table.items() for case in _cases(rule, text)]


def _cases(rule: str, text: str) -> list[RuleCase]:
    cases = []
    for block in dedent(text).strip().split("\n\n"):
        parts = {"about": "", "if": "", "then": "", "not": "", "spare": ""}
        word = "if"
        for line in block.splitlines():
            start, _, rest = line.partition(":")
            if start in parts:
                word, line = start, rest
            parts[word] += line + "\n"
        false = parts["then"].strip() == "inconsistent"
        cases.append(
            RuleCase(
                rule=rule,
                premise=parts["if"],
                concludes="" if false else parts["then"],
                absent=parts["not"],
                inconsistent=false,
                spare=parts["spare"],
                about=parts["about"].strip(),
            )
        )
    return cases
