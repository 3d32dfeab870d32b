"""Statements with a program, by name, as files that a store can load; for experiments.

    lubm10               LUBM-like data of 10 universities, under the rules of its ontology
    original             LUBM(10) of the original generator, from the shared data
    deep-1000            a taxonomy of 1,000 levels, with one instance
    deep-1000-5000000    ... and 5,000,000 statements that no rule uses
    go-20000-500000      a real hierarchy: 20,000 subclass rules, 500,000 instances
    recursive            the highly recursive program (`bench.inputs.recursive`), with its data
    recursive-800-8000   ... of 800 rules and 8,000 statements
    sales-5000           other small programs with 5,000 people or nodes (`bench.inputs.sales`)

Start at `dataset`. Files are made once and kept beside those of `bench.inputs.data`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import MeasurementError
from bench.inputs.data import FOLDER, InputFile, lubm_file, make_once, original_lubm10

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bench.inputs.programs import Setting
    from triplestore.datalog.program import Program

    Rows = NDArray[np.int64]
    U32 = NDArray[np.uint32]

KINDS = ("uniform", "walk")


@dataclass(frozen=True)
class Dataset:
    """A file of statements, and its program."""

    name: str
    path: Path
    format: str
    program: Callable[[], Program]


def dataset(name: str) -> Dataset:
    """The dataset of a name, made if it does not exist."""
    kind, *sizes = name.split("-")
    if kind == "original" or (kind.startswith("lubm") and kind[4:].isdigit()):
        return _lubm(name, kind)
    setting = made(kind, [int(size) for size in sizes])
    path = FOLDER / f"{name}.nt"
    make_once(path, setting.write)
    return Dataset(name, path, "ntriples", lambda: setting.program)


def _lubm(name: str, kind: str) -> Dataset:
    from bench.inputs.programs import lubm_program

    source: InputFile | None = original_lubm10() if kind == "original" else lubm_file(int(kind[4:]))
    if source is None:
        raise MeasurementError("the original LUBM(10) is in the shared data, which is missing")
    return Dataset(name, source.path, source.format, lubm_program)


def made(kind: str, sizes: list[int]) -> Setting:
    """A generated program with statements, by the parts of a dataset's name."""
    from bench.inputs.programs import HIERARCHIES, deep_taxonomy, hierarchy

    if kind == "deep" and len(sizes) in (1, 2):
        return deep_taxonomy(sizes[0], unrelated=sizes[1] if len(sizes) > 1 else 0)
    if kind in HIERARCHIES and len(sizes) == 2:
        if found := hierarchy(kind, sizes[1], rules=sizes[0]):
            return found
        raise MeasurementError(f"{kind} is in the shared data, which is missing")
    if kind == "recursive" and len(sizes) in (0, 2):
        from bench.inputs.recursive import highly_recursive

        return highly_recursive(sizes[0], sizes[1]) if sizes else highly_recursive()
    from bench.inputs.sales import KINDS as SMALL

    if kind in SMALL and len(sizes) == 1:
        return SMALL[kind](sizes[0])
    raise MeasurementError(f"no dataset {kind} with {len(sizes)} sizes; see bench.inputs.datasets")


def draw(kind: str, columns: tuple[U32, U32, U32], size: int, seed: int) -> Rows:
    """A sample of statements: their places in the columns s, p, o."""
    from bench.inputs.samples import random_walk, uniform

    s, _, o = columns
    return uniform(len(s), size, seed) if kind == "uniform" else random_walk(s, o, size, seed)
