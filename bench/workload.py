"""The type of workloads, and shared helpers."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, run_once
from bench.inputs.data import lubm_file
from bench.report import BenchReport


@dataclass(frozen=True)
class Workload:
    """A name for the command line, the options it takes, and the function that measures."""

    name: str
    summary: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Harness], BenchReport]


def numbers(text: str) -> list[int]:
    """A list of numbers on the command line: `1,10,50`."""
    return [int(part) for part in text.split(",")]


def names(text: str) -> list[str]:
    return text.split(",")


@contextmanager
def fresh_folder(inside: str) -> Iterator[Path]:
    """A folder for one run's store, on the measured disk."""
    with tempfile.TemporaryDirectory(dir=inside) as folder:
        yield Path(folder)


def build_store(peer: str, path: str, format: str, folder: str) -> dict[str, Any]:
    """In a child: load a file into a new store, and leave it there."""
    from bench.peers import PEERS

    handle = PEERS[peer].open(Path(folder))
    handle.load(Path(path), format)
    count = handle.count()
    handle.close()
    return {"triples": count}


def make_store(peer: str, universities: int, folder: Path) -> int:
    """Make a peer's store with this many universities; returns its number of triples."""
    source = lubm_file(universities)
    arguments = {
        "peer": peer,
        "path": str(source.path),
        "format": source.format,
        "folder": str(folder),
    }
    case = Case(f"{__name__}:build_store", arguments, f"{peer} store of {universities}")
    return int(run_once(case)["triples"])


def copy_store(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def quantile(sorted_values: list[float], share: float) -> float:
    """The quantile of sorted values."""
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]
