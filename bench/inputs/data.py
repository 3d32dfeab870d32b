"""Inputs: LUBM-like files, made once and kept in `build/bench/data`."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.harness import REPOSITORY
from bench.inputs import lubm

FOLDER = REPOSITORY / "build" / "bench" / "data"


@dataclass(frozen=True)
class InputFile:
    """A file to load: its name in reports, and its number of universities."""

    name: str
    path: Path
    format: str
    universities: int


def lubm_file(universities: int, *, format: str = "ntriples", shuffle: bool = False) -> InputFile:
    """The file with this many universities, made if it does not exist yet."""
    order = " in random order" if shuffle else ""
    kind = {"ntriples": "N-Triples", "turtle": "Turtle"}[format]
    ending = {"ntriples": "nt", "turtle": "ttl"}[format]
    path = FOLDER / f"lubm{universities}{'-shuffled' if shuffle else ''}.{ending}"
    make_once(path, lambda new: lubm.write(new, universities, format=format, shuffle=shuffle))
    read_through(path)
    return InputFile(f"LUBM-like {universities}, {kind}{order}", path, format, universities)


def lubm_department() -> InputFile:
    """A university of one department, for slow reasoners."""
    path = FOLDER / "lubm-department.nt"
    make_once(path, lambda new: lubm.write(new, 1, profile=lubm.Profile(departments=(1, 1))))
    return InputFile("LUBM-like, one department, N-Triples", path, "ntriples", 1)


def original_lubm10() -> InputFile | None:
    """LUBM(10) of the original generator, where the shared data is."""
    packed = shared_data() / "lubm" / "lubm10" / "lubm10.nt.gz"
    if not packed.exists():
        return None
    path = FOLDER / "lubm10-original.nt"
    make_once(path, lambda new: _unpack(packed, new))
    read_through(path)
    return InputFile("LUBM(10) of the original generator, N-Triples", path, "ntriples", 10)


def _unpack(packed: Path, target: Path) -> None:
    with gzip.open(packed) as source, target.open("wb") as unpacked:
        shutil.copyfileobj(source, unpacked, 1 << 20)


def shared_data() -> Path:
    """The folder of shared data, which may be missing."""
    return Path(os.environ.get("TRIPLESTORE_DATA", REPOSITORY.parent / "shared" / "data"))


def make_once(path: Path, write: Callable[[Path], object]) -> None:
    """Make a file unless it exists; `write` gets another name, so it is complete or missing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        write(unfinished)
        unfinished.rename(path)


def read_through(path: Path) -> None:
    """Read a file once, so that every run finds it in the operating system's cache."""
    with path.open("rb") as file:
        while file.read(1 << 22):
            pass
