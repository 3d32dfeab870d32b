"""What can be wrong with a program: one form for the reader, `check` and `stratify`.

Start at `Problem`. What is always true: a problem says where, what and what to do; errors keep a
program from being used, warnings do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triplestore.errors import ProgramError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    code     a short name for this sort of problem, such as `unsafe-variable`
    message  what is wrong, and the reason
    remedy   what to do; "" where the message says it
    rule     name or text of the rule it is in; "" if it is in none

    >>> print(Problem("syntax", "expected '.'", line=3, column=7, file="a.dlog"))
    a.dlog:3:7: error: expected '.' [syntax]
    """

    code: str
    message: str
    remedy: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    rule: str = ""
    warning: bool = False

    def __str__(self) -> str:
        grade = "warning" if self.warning else "error"
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.place}: {grade}: {self.message}{remedy} [{self.code}]"

    @property
    def place(self) -> str:
        """File, line and column as far as they are known; else the rule."""
        if self.line is not None:
            return f"{self.file or 'input'}:{self.line}:{self.column or 1}"
        return f"rule {self.rule}" if self.rule else self.file or "program"


def in_order(reading: Sequence[Problem], checking: Sequence[Problem]) -> list[Problem]:
    """What reading texts and checking their rules found, by place.

    What the reader said of a function, with its place, is not said again of the rule it is in.
    """
    said = {problem.file for problem in reading if problem.code == "function"}
    left = [p for p in checking if p.code != "function" or p.line is None or p.file not in said]
    return sorted(
        [*reading, *left], key=lambda one: (one.file or "", one.line or 0, one.column or 0)
    )


def raise_errors(problems: Iterable[Problem]) -> None:
    """Raise `ProgramError` with all problems, if an error is among them."""
    found = list(problems)
    errors = [problem for problem in found if not problem.warning]
    if errors:
        raise program_error(found)


def program_error(problems: list[Problem]) -> ProgramError:
    """The exception for these problems; errors come first."""
    ordered = sorted(problems, key=lambda problem: problem.warning)
    return ProgramError(
        "\n".join(map(str, ordered)),
        ordered,
        filename=ordered[0].file,
        line=ordered[0].line,
        column=ordered[0].column,
    )
