"""Point queries over HTTP: requests per second and times, with one client and with many."""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY, Case, Harness, machine
from bench.inputs import lubm
from bench.report import BenchReport, ReportTable, ratio
from bench.serving.load_client import loaded
from bench.workload import Workload, make_store, numbers, quantile

OURS, PEER = "triplestore", "pyoxigraph"
COURSE = f"{lubm.UNIV_BENCH}takesCourse"


def point_queries(count: int) -> list[str]:
    """Queries for the courses of one student each."""
    subjects = sorted(
        {
            line.split(" ", 1)[0]
            for line in lubm.ntriples_lines(next(lubm.universities(1)))
            if f"<{COURSE}>" in line
        }
    )
    chosen = random.Random(1).sample(subjects, count)
    return [f"SELECT ?course {{ {subject} <{COURSE}> ?course }}" for subject in chosen]


def measure(peer: str, folder: str, clients: int, seconds: float) -> dict[str, Any]:
    """In a child: a server in another process, warmed up and then loaded."""
    command = [sys.executable, "-m", "bench.serving.server_process", peer, folder]
    server = subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None and server.stdin is not None
    try:
        port, queries = int(server.stdout.readline()), point_queries(500)
        asyncio.run(loaded(port, queries, clients, min(seconds, 2.0)))
        times, whole, size = asyncio.run(loaded(port, queries, clients, seconds))
        memory = _peak_memory(server.pid)
    finally:
        server.stdin.close()
        server.wait(30)
        server.stdout.close()
    times.sort()
    return {
        "µs per request": whole / len(times) * 1e6,
        "requests per second": len(times) / whole,
        "p50 ms": quantile(times, 0.5) * 1e3,
        "p99 ms": quantile(times, 0.99) * 1e3,
        "bytes of an answer": size * clients / len(times),
        "memory MB": memory / 1e6,
    }


def _peak_memory(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = [OURS, PEER, "starlette", "uvicorn", "h11", "numpy"]
    report = BenchReport("server", WORKLOAD.summary, machine(packages))
    columns = ["clients", "server", "requests/s", "p50 ms", "p99 ms", "memory MB", "rate"]
    table = ReportTable(
        f"Point queries on LUBM({given.universities})",
        columns,
        note="Each query asks for the courses of one student, as JSON. Clients and server share "
        "the machine, in two processes. The peer is pyoxigraph behind starlette and uvicorn, "
        "without limits, metrics or headers of security. Memory is the peak of the server.",
    )
    with harness.temporary() as folder:
        for peer in (OURS, PEER):
            make_store(peer, given.universities, folder / peer)
        for clients in given.clients:
            common = {"clients": clients, "seconds": given.seconds}
            ours, peer_result = harness.compare(
                [
                    Case(
                        f"{__name__}:measure",
                        {"peer": peer, "folder": str(folder / peer), **common},
                        f"{peer}, {clients} clients",
                    )
                    for peer in (OURS, PEER)
                ],
                "µs per request",
            )
            report.keep([ours, peer_result])
            for name, found in ((OURS, ours), (PEER, peer_result)):
                rate = ratio(found["µs per request"], peer_result["µs per request"])
                table.add(
                    clients,
                    name,
                    found["requests per second"],
                    found["p50 ms"],
                    found["p99 ms"],
                    found["memory MB"],
                    rate if name == OURS else "1 x",
                )
            share = ours["µs per request"] / peer_result["µs per request"]
            who = "one client" if clients == 1 else f"{clients} clients"
            report.claim(
                f"a request of {who} takes at most three times the peer's time",
                f"{share:.2f}",
                share <= 3,
            )
    report.tables.append(table)
    return report


def _options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--clients", type=numbers, default=[1, 8, 64], help="numbers of clients")
    verb.add_argument("--seconds", type=float, default=5.0, help="seconds of each measurement")
    verb.add_argument("--universities", type=int, default=1, help="size of the data")


WORKLOAD = Workload(
    "server", "Point queries over HTTP with one client and with many.", _options, run
)
