"""Problems of a program, as reported by the parser, `check` and `stratify`.

Start at `Problem`. Always true: a problem says where, what and what to do; a program with
errors cannot be used, one with warnings can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triplestore.data_classes import data_class
from triplestore.errors import ProgramError


@data_class
class Problem:
    """One error or warning.

    code     a short name for this kind of problem, such as `unsafe-variable`
    message  what is wrong, and why
    remedy   what to do; "" if the message says it
    rule     name or text of its rule; "" if it is not in a rule

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
        """File, line and column if they are known; else the rule."""
        if self.line is not None:
            return f"{self.file or 'input'}:{self.line}:{self.column or 1}"
        return f"rule {self.rule}" if self.rule else self.file or "program"


def in_order(reading: Sequence[Problem], checking: Sequence[Problem]) -> list[Problem]:
    """The problems of reading texts and of checking their rules, by place.

    A problem with a function that reading reported is not repeated for its rule.
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
