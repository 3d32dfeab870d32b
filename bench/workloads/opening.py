"""Opening: stores of growing size, the command line, the first use of a fresh installation."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.child import Clock
from bench.harness import REPOSITORY, Case, Harness, Result, folder_bytes, machine, run_once
from bench.inputs import lubm
from bench.peers import PEERS
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, make_store, names, numbers

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


def measure_space(folder: str) -> dict[str, Any]:
    """In a child: the sizes that the store reports."""
    from triplestore import Store

    with Store.read_only(folder) as store:
        return store.info().as_dict()


def command_seconds(*arguments: str) -> float:
    """Seconds of one call of the command line, from start to end of the process."""
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
    """In a child: the first load of a process, with compilation if necessary."""
    from triplestore import Store

    start = time.perf_counter()
    with Store(Path(folder) / "store") as store:
        store.load(path=path, format="ntriples")
    return {"first load s": time.perf_counter() - start}


def compile_all() -> dict[str, Any]:
    """In a child: compile every kernel of the package, one after the other."""
    from triplestore import kernels
    from triplestore.kernels.jit import all_kernels

    start = time.perf_counter()
    for module in pkgutil.iter_modules(kernels.__path__, "triplestore.kernels."):
        importlib.import_module(module.name)
    for kernel in all_kernels():
        kernel.prepare()
    count = sum(len(kernel.signatures) for kernel in all_kernels())
    return {"s": time.perf_counter() - start, "signatures": count}


def compile_all_afresh(harness: Harness, folder: Path) -> Result:
    """With an empty cache, twice; the better one."""
    cases = [
        Case(
            f"{__name__}:compile_all",
            {},
            "compiling all kernels",
            {"TRIPLESTORE_CACHE": str(folder / f"cache-{i}")},
        )
        for i in range(2)
    ]
    return min(harness.compare(cases, main="s", repeats=1), key=lambda result: float(result["s"]))


def first_use_seconds(harness: Harness, folder: Path) -> float:
    """The additional cost of the first load after an installation."""
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


def claim_opening(
    report: BenchReport, triples: int, opened: float, info: float, numba: bool
) -> None:
    size = f"{triples / 1e6:.1f} M triples"
    report.claim(f"opening {size} takes under 0.2 s", f"{opened:.4f} s", opened < 0.2)
    report.claim(f"`triplestore info` on {size} takes under 0.6 s", f"{info:.2f} s", info < 0.6)
    report.claim(
        f"opening {size} and a point look-up do not import numba",
        "imported" if numba else "not imported",
        not numba,
    )


def add_space(space: ReportTable, report: BenchReport, store: Path) -> None:
    """A row with the sizes of a store, and the claims about them."""
    case = Case(f"{__name__}:measure_space", {"folder": str(store)}, "space")
    found = run_once(case)
    triples, terms, text = found["default_graph"], found["terms"], found["term_text_bytes"]
    bound = 1.3 * text + 24 * terms
    space.add(
        triples,
        found["fact_bytes_per_triple"],
        terms,
        text / terms,
        found["dictionary_bytes_per_term"],
        found["dictionary_bytes"] / bound,
        found["disk_bytes"] / triples,
    )
    size = f"{triples / 1e6:.1f} M triples"
    report.claim(
        f"the tables of {size} take at most 24 bytes a triple",
        f"{found['fact_bytes_per_triple']:.1f}",
        found["fact_bytes_per_triple"] <= 24,
    )
    report.claim(
        f"the dictionary of {size} takes at most 1.3 times its text and 24 bytes a term",
        f"{found['dictionary_bytes'] / bound:.2f} of that",
        found["dictionary_bytes"] <= bound,
    )
    report.claim(
        f"the files of {size} are within the limits of tables and dictionary",
        f"{found['disk_bytes'] / (bound + 24 * triples):.2f} of that",
        found["disk_bytes"] <= bound + 24 * triples,
    )


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = sorted({name for peer in given.peers for name in PEERS[peer].packages})
    report = BenchReport("opening", WORKLOAD.summary, machine(packages))
    opening = ReportTable(
        "Opening",
        ["peer", "triples", "disk MB", "import s", "open s", "first look-up s", "peak MB"],
        note="A fresh process each time; the store's files are in the operating system's memory.",
    )
    space = ReportTable(
        "Space",
        [
            "triples",
            "tables, bytes a triple",
            "terms",
            "text, bytes a term",
            "beside text, bytes a term",
            "of the dictionary's limit",
            "disk in all, bytes a triple",
        ],
        note="As reported by `store.info()`. Tables: both orders, status, statistics and "
        "characteristic sets; the same bytes in memory (mapped) and on disk. A store without "
        "deletions keeps no counters, and one without named graphs no graph columns.",
    )
    command = ReportTable("The command line", ["command", "triples", "s"])
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
                    add_space(space, report, store)
                    info = min(command_seconds("info", "-l", str(store)) for _ in range(5))
                    command.add("triplestore info", triples, info)
                    claim_opening(report, triples, result["open s"], info, result["numba"])
        first = first_use_seconds(harness, folder)
        compiled = compile_all_afresh(harness, folder)
    command.add("first load of a fresh installation: compiling", None, first)
    command.add(f"compiling all {compiled['signatures']} signatures", None, compiled["s"])
    report.tables += [opening, space, command]
    if len(opened) > 1:
        report.claim(
            "opening the largest store takes as long as opening the smallest (to 5 ms)",
            f"{1000 * (opened[-1] - opened[0]):+.2f} ms",
            opened[-1] - opened[0] < 0.005,
        )
    report.claim(
        "compiling all kernels, once after installing, takes under 15 s",
        f"{compiled['s']:.1f} s",
        compiled["s"] < 15,
    )
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
    "Opening stores of growing size in a fresh process, their sizes, and the command line.",
    options,
    run,
)
