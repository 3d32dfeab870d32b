"""The command line: `python -m bench loading --sizes 1,10`, `python -m bench all`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.harness import REPOSITORY, Harness, MeasurementError
from bench.workloads import WORKLOADS


def main(arguments: list[str] | None = None) -> int:
    """Measure, write the reports, print them; 1 if a claim does not hold."""
    given = parser().parse_args(arguments)
    harness = Harness(given.repeats, given.scratch, verbose=not given.quiet)
    failed = 0
    for name in list(WORKLOADS) if given.workload == "all" else [given.workload]:
        workload = WORKLOADS[name]
        options = given if given.workload == name else defaults(name, given)
        harness.say(f"{name}: {workload.summary}")
        try:
            report = workload.run(options, harness)
        except MeasurementError as error:
            print(f"bench {name}: {error}", file=sys.stderr)
            return 2
        if given.note:
            report.machine["note"] = given.note
        files = report.write(given.results)
        print(report.markdown())
        harness.say("wrote " + ", ".join(str(file) for file in files))
        failed += sum(not claim.holds for claim in report.claims)
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure this project beside its peers, each run in a fresh process.",
    )
    made.set_defaults(workload="all")
    verbs = made.add_subparsers(metavar="WORKLOAD", required=True)
    everything = verbs.add_parser("all", help="every workload with its defaults")
    everything.set_defaults(workload="all")
    add_common(everything)
    for workload in WORKLOADS.values():
        verb = verbs.add_parser(workload.name, help=workload.summary)
        verb.set_defaults(workload=workload.name)
        add_common(verb)
        workload.options(verb)
    return made


def add_common(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--repeats", type=int, default=3, help="runs of each case; the best counts")
    verb.add_argument("--results", type=Path, default=REPOSITORY / "bench" / "results")
    verb.add_argument(
        "--scratch",
        type=Path,
        default=REPOSITORY / "build" / "bench",
        help="where temporary stores go: the disk that is measured",
    )
    verb.add_argument("--note", default="", help="a remark about the machine, for the report")
    verb.add_argument("--quiet", action="store_true", help="print the report only")


def defaults(name: str, given: argparse.Namespace) -> argparse.Namespace:
    """The default options of a workload."""
    only = argparse.ArgumentParser()
    WORKLOADS[name].options(only)
    return only.parse_args([], argparse.Namespace(**vars(given)))


if __name__ == "__main__":
    sys.exit(main())
