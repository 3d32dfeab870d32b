"""LUBM with two properties more, in the shape of the papers' LUBM-LE. Start at `lubm_le`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.inputs.data import lubm_file
from bench.inputs.programs import RULES, Setting
from bench.inputs.random_numbers import I64, below
from bench.reasoners.program import number_constants
from bench.reasoners.task import columns_of_file
from triplestore.datalog.text import read

U32 = NDArray[np.uint32]

UB = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
STUDENTS, STAFF = 20, 12
"""Members of a group that studies together, or works together."""

TOGETHER = """
ub:{0}[?y, ?x] :- ub:{0}[?x, ?y] .
ub:{0}[?x, ?z] :- ub:{0}[?x, ?y], ub:{0}[?y, ?z] .
"""


def lubm_le(universities: int) -> Setting:
    """Published: 133.6 M statements, 332.6 M facts (2.49 times as many), 107 rules, 22 of them
    recursive; one module for a transitive property, two for symmetric ones.

    Here groups of students of a department, and of its staff, are connected by random trees.
    """
    text = (RULES / "lubm.dlog").read_text()
    text += TOGETHER.format("studiesWith") + TOGETHER.format("worksWith")
    program = read(text)
    source = lubm_file(universities)
    columns = columns_of_file(source.path, source.format, program)
    numbers = number_constants(program)

    def number(name: str) -> int:
        return numbers[b"\x01" + (UB + name).encode()]

    parts = [(columns.s, columns.p, columns.o)]
    for place, name, size in (
        ("memberOf", "studiesWith", STUDENTS),
        ("worksFor", "worksWith", STAFF),
    ):
        rows = columns.p == number(place)
        s, o = grouped(columns.s[rows], columns.o[rows], size, name)
        parts.append((s, np.full(len(s), number(name), np.uint32), o))
    s, p, o = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Setting(f"lubmle-{universities}", program, s, p, o, numbers)


def grouped(members: U32, places: U32, size: int, seed: str) -> tuple[U32, U32]:
    """Edges that connect members of the same place in groups, each by a random tree."""
    order = np.lexsort((below(1 << 32, seed, len(members)), places))
    members, places = members[order], places[order]
    here: I64 = np.arange(len(members))
    begins = np.ones(len(members), np.bool_)
    begins[1:] = places[1:] != places[:-1]
    within = (here - np.maximum.accumulate(np.where(begins, here, 0))) % size
    above = here - within + (below(1 << 32, f"{seed}/above", len(members)) * within >> 32)
    linked = within > 0
    return members[linked], members[above[linked]]
