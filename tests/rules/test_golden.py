"""Rules in, compiled form out: `golden/NAME.dlog` must give `golden/NAME.txt`.

A new case needs no Python: add a file of rules, run `python -m tests.rules.test_golden`, which
writes the texts anew, and read the difference before you commit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from triplestore.datalog.text import read, show
from triplestore.rules.compiled_program import Compiled
from triplestore.terms import Dictionary

GOLDEN = Path(__file__).parent / "golden"
HELPERS = {kind: f"x-triplestore:{kind}/" for kind in ("not", "aggregate", "constraint")}


def compiled_form(text: str) -> str:
    """What the passes make of a program: strata of simple rules, modules, blocks and families."""
    made = Compiled(read(text), Dictionary().encode_keys)
    return "\n".join(_lines(made, {**made.program.prefixes, **HELPERS})) + "\n"


def _lines(made: Compiled, prefixes: dict[str, str]) -> Iterator[str]:
    yield made.stratification.describe(prefixes)
    for number, owned in made.modules.items():
        names = ", ".join(str(name, "utf-8")[1:] for name in owned.group.relations)
        yield f"module: {owned.group.structure.kind} closure of {names} owns stratum {number}"
    for number, first in made.blocks.items():
        yield f"block: stratum {number} is in the block of stratum {first}"
    for name, constraint in made.simple.violations.items():
        yield f"violations: {str(name, 'utf-8')[1:]} lists those of {show(constraint, prefixes)}"
    for family in made.strata.families:
        kind = "recursive" if family.recursive else "nonrecursive"
        rules = ", ".join(map(str, family.rules))
        columns = 0 if family.table is None else len(family.table.columns)
        yield (
            f"family {family.number}: {kind}, stratum {family.stratum}, rules {rules}, "
            f"{columns} columns of constants"
        )


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.dlog")), ids=lambda path: path.stem)
def test_compilation__gives_the_golden_form(path: Path) -> None:
    assert compiled_form(path.read_text()) == path.with_suffix(".txt").read_text()


if __name__ == "__main__":
    for file in GOLDEN.glob("*.dlog"):
        file.with_suffix(".txt").write_text(compiled_form(file.read_text()))
