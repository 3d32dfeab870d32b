"""Inputs: LUBM-like files, made once and kept in `build/bench/data`."""

from __future__ import annotations

import gzip
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench import lubm
from bench.harness import REPOSITORY

FOLDER = REPOSITORY / "build" / "bench" / "data"


@dataclass(frozen=True)
class Input:
    """A file to load: what it is called in reports, and how many universities it holds."""

    name: str
    path: Path
    format: str
    universities: int


def lubm_file(universities: int, *, format: str = "ntriples", shuffle: bool = False) -> Input:
    """The file with this many universities, made if it does not exist yet."""
    order = " in random order" if shuffle else ""
    kind = {"ntriples": "N-Triples", "turtle": "Turtle"}[format]
    ending = {"ntriples": "nt", "turtle": "ttl"}[format]
    path = FOLDER / f"lubm{universities}{'-shuffled' if shuffle else ''}.{ending}"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        lubm.write(unfinished, universities, format=format, shuffle=shuffle)
        unfinished.rename(path)
    read_through(path)
    return Input(f"LUBM-like {universities}, {kind}{order}", path, format, universities)


def lubm_department() -> Input:
    """A university of one department, for reasoners that cannot do more."""
    path = FOLDER / "lubm-department.nt"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        lubm.write(path, 1, profile=lubm.Profile(departments=(1, 1)))
    return Input("LUBM-like, one department, N-Triples", path, "ntriples", 1)


def original_lubm10() -> Input | None:
    """LUBM(10) of the original generator, where the shared data is."""
    shared = Path(os.environ.get("TRIPLESTORE_DATA", REPOSITORY.parent / "shared" / "data"))
    packed = shared / "lubm" / "lubm10" / "lubm10.nt.gz"
    if not packed.exists():
        return None
    path = FOLDER / "lubm10-original.nt"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        with gzip.open(packed) as source, unfinished.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        unfinished.rename(path)
    read_through(path)
    return Input("LUBM(10) of the original generator, N-Triples", path, "ntriples", 10)


def read_through(path: Path) -> None:
    """Read a file once, so that it is in the operating system's cache for every run."""
    with path.open("rb") as file:
        while file.read(1 << 22):
            pass
