"""Opening: stores of growing size, the command line, the first use of a fresh installation."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import lubm
from bench.child import Clock
from bench.harness import REPOSITORY, Case, Harness, Result, folder_bytes, machine, run_once
from bench.peers import PEERS
from bench.report import Report, Table
from bench.workloads.base import Workload, make_store, names, numbers

OURS = "triplestore"


def measure(peer: str, folder: str) -> dict[str, Any]:
    """In a child: import, open, and make one look-up."""
    clock = Clock()
    with clock.part("import"):
        PEERS[peer].open(None).close()
    import pyoxigraph

    with clock.part("open"):
        handle = PEERS[peer].open(Path(folder))
    subject = pyoxigraph.NamedNode("http://www.Department0.University0.edu")
    with clock.part("look-up"):
        found = handle.look_up((subject, None, None))
    if not found:
        raise AssertionError(f"{peer} does not find a department that is there")
    imported_numba = "numba" in sys.modules
    with clock.part("close"):
        handle.close()
    return {"numba": imported_numba, **clock.seconds}


def command_seconds(*arguments: str) -> float:
    """How long one call of the command line takes, from start to end of the process."""
    program = "import sys; from triplestore.cli import main; main(sys.argv[1:])"
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=REPOSITORY,
    )
    return time.perf_counter() - start


def first_use(path: str, folder: str) -> dict[str, Any]:
    """In a child: the first load of a process, whatever it has to compile."""
    from triplestore import Store

    start = time.perf_counter()
    with Store(Path(folder) / "store") as store:
        store.load(path=path, format="ntriples")
    return {"first load s": time.perf_counter() - start}


def first_use_seconds(harness: Harness, folder: Path) -> float:
    """What the first load of a fresh installation costs more than that of a later process."""
    path = folder / "small.nt"
    lubm.write(path, 1)
    seconds: list[float] = []
    for cache in ("cold", "cold", "warm", "warm", "warm"):
        own = folder / f"first-{len(seconds)}"
        own.mkdir()
        kept = folder / "kernels"
        case = Case(
            f"{__name__}:first_use",
            {"path": str(path), "folder": str(own)},
            f"first use, {cache} cache",
            {"TRIPLESTORE_CACHE": str(own if cache == "cold" else kept)},
        )
        seconds.append(float(run_once(case)["first load s"]))
        harness.say(f"{case.label}: {seconds[-1]:.2f} s")
    return min(seconds[:2]) - min(seconds[2:])


def claim_opening(report: Report, triples: int, opened: float, info: float, numba: bool) -> None:
    size = f"{triples / 1e6:.1f} M triples"
    report.claim(f"opening {size} takes under 0.2 s", f"{opened:.4f} s", opened < 0.2)
    report.claim(f"`triplestore info` on {size} takes under 0.6 s", f"{info:.2f} s", info < 0.6)
    report.claim(
        f"opening {size} and a point look-up do not import numba",
        "imported" if numba else "not imported",
        not numba,
    )


def run(given: argparse.Namespace, harness: Harness) -> Report:
    packages = sorted({name for peer in given.peers for name in PEERS[peer].packages})
    report = Report("opening", WORKLOAD.summary, machine(packages))
    opening = Table(
        "Opening",
        ["peer", "triples", "disk MB", "import s", "open s", "first look-up s", "peak MB"],
        note="A fresh process each time; the store's files are in the operating system's memory.",
    )
    command = Table("The command line", ["command", "triples", "s"])
    asked_help = min(command_seconds("--help") for _ in range(5))
    command.add("triplestore --help", None, asked_help)
    opened: list[float] = []
    with harness.temporary() as folder:
        for size in sorted(given.sizes):
            for peer in given.peers:
                store = folder / f"{peer}-{size}"
                triples = make_store(peer, size, store)
                result = open_store(peer, store, size, harness)
                report.keep([result])
                opening.add(
                    peer,
                    triples,
                    folder_bytes(store) / 1e6,
                    result.least("import s"),
                    result["open s"],
                    result.least("look-up s"),
                    result["peak bytes"] / 1e6,
                )
                if peer == OURS:
                    opened.append(result["open s"])
                    info = min(command_seconds("info", "-l", str(store)) for _ in range(5))
                    command.add("triplestore info", triples, info)
                    claim_opening(report, triples, result["open s"], info, result["numba"])
        first = first_use_seconds(harness, folder)
    command.add("first load of a fresh installation: compiling", None, first)
    report.tables += [opening, command]
    if len(opened) > 1:
        report.claim(
            "the time to open does not grow with the size (largest / smallest store)",
            f"{opened[-1] / opened[0]:.2f}",
            opened[-1] < 1.5 * opened[0],
        )
    report.claim("compiling all kernels of a load takes under 15 s", f"{first:.1f} s", first < 15)
    report.claim("`triplestore --help` takes under 0.3 s", f"{asked_help:.2f} s", asked_help < 0.3)
    return report


def open_store(peer: str, store: Path, size: int, harness: Harness) -> Result:
    case = Case(
        f"{__name__}:measure", {"peer": peer, "folder": str(store)}, f"{peer}, {size} universities"
    )
    return harness.compare([case], main="open s", repeats=max(5, harness.repeats))[0]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes", type=numbers, default=[8, 76], help="universities (8,76: 1 and 10 M triples)"
    )
    parser.add_argument("--peers", type=names, default=[OURS, "pyoxigraph"], help="who is measured")


WORKLOAD = Workload(
    "opening",
    "Opening stores of growing size in a fresh process, up to the first answer.",
    options,
    run,
)
