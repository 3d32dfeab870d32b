"""An import with a closure on Spark, in a new process in which something fails.

Start at `main`: `python -m tests.spark.faulty_job JSON`, see `Wrong`. On a small disk one session
does all runs (`on_small_disk`), because only this process sees the disk.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from triplestore import Store, TripleStoreError
from triplestore.loaders.spark import import_dataset, make
from triplestore.loaders.spark.importing import import_job
from triplestore.loaders.spark.jobs.run_job import SessionSetting, clear_errors, run
from triplestore.loaders.spark.session import QUIET
from triplestore.storage.files.system import File, RealFiles

RULES = """
<http://e/far>[?x, ?y] :- <http://e/next>[?x, ?y] .
<http://e/far>[?x, ?z] :- <http://e/far>[?x, ?y], <http://e/next>[?y, ?z] .
<http://e/kind>[?y, ?n] :- <http://e/kind>[?x, ?n], <http://e/next>[?x, ?y], <http://e/of>[?z, ?y] .
<http://e/last>[?x, ?n] :- <http://e/kind>[?x, ?n], NOT <http://e/next>[?x, ?y] .
"""
STAGES = ("statements", "terms", "ids", "triples", "closure")
WISHED: dict[str, Any] = {
    "partitions": 2,
    "rules": RULES,
    "closure": "spark",
    "driver_facts": 0,
}
QUICK = {
    "spark.ui.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": (
        f"-Dlog4j2.configurationFile={QUIET.as_uri()} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    ),
}
"""Settings for a short session."""

KILLED = -signal.SIGKILL
INTERRUPTED = 130


def lines(name: str, count: int) -> str:
    """Chains of five, of which the first node has a kind, that goes along them."""
    made = []
    for i in range(count):
        node = f"<http://e/{name}{i}>"
        made.append(f"_:n{i % 20} <http://e/of> {node} .\n")
        if i % 5:
            made.append(f"<http://e/{name}{i - 1}> <http://e/next> {node} .\n")
        else:
            made.append(f'{node} <http://e/kind> "{name} {i % 40}"@en .\n')
    return "".join(made)


def local_store(sources: list[str]) -> Store:
    """The store that shall come out."""
    store = Store()
    store.load(path=sources)
    store.reason(rules=RULES)
    return store


@dataclass(frozen=True)
class Wrong:
    """A fault, and its time.

    kind   `kill` (this process and its children) or `interrupt` (as Ctrl-C does)
    when   a stage that ended, `round N` of the closure, `write N`: the Nth step of writing the
           store, `placing` it, or when it was `placed`
    delay  seconds after that
    """

    kind: str
    when: str
    delay: float = 0.0

    def at(self, now: str) -> None:
        """Go wrong, if this is the time."""
        if now != self.when:
            return
        if self.delay:
            threading.Timer(self.delay, self._go).start()
        else:
            self._go()

    def _go(self) -> None:
        if self.kind == "kill":
            os.killpg(0, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGINT)

    def told(self, name: str, figures: Mapping[str, Any]) -> None:
        """Called after each stage and each round."""
        now = f"round {figures['round']}" if "round" in figures else name
        sys.stdout.write(f"{now}\n")
        sys.stdout.flush()
        self.at(now)


class CountedFiles(RealFiles):
    """Files that tell of each step of writing a store."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        self._told(f"write {self._steps}")

    def create(self, path: Path) -> File:
        self._step()
        return super().create(path)

    def rename(self, old: Path, new: Path) -> None:
        self._step()
        super().rename(old, new)

    def sync_directory(self, path: Path) -> None:
        self._step()
        super().sync_directory(path)


def run_once(target: str, sources: list[str], wrong: Wrong) -> int:
    """One import; the exit status of the command line."""
    put = import_job.put_in_place

    def placing(fresh: Path, place: Path) -> None:
        wrong.at("placing")
        put(fresh, place)
        wrong.at("placed")

    import_job.put_in_place = placing
    files = CountedFiles(wrong.at)

    def job(session: Any, log: Any) -> Any:
        return import_dataset(session, sources, target, progress=wrong.told, files=files, **WISHED)

    try:
        run(job, SessionSetting(master="local[1]", options=QUICK), {}, quiet=True)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


# --- a small disk -------------------------------------------------------------------------------


class Disk:
    """A file system of a size that can be changed; needs `unshare --mount`."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._mount("size=400m", "tmpfs")

    def _mount(self, options: str, *what: str) -> None:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, *(what or ("tmpfs",)), str(self.place)],
            check=True,
        )

    def resize(self, size: int) -> None:
        """Set its size in bytes."""
        self._mount(f"remount,size={size}")

    @property
    def used(self) -> int:
        said = os.statvfs(self.place)
        return (said.f_blocks - said.f_bfree) * said.f_frsize

    def clear(self) -> None:
        self.resize(400 << 20)
        for path in self.place.iterdir():
            shutil.rmtree(path)


def on_small_disk(folder: str, sources: list[str], shuffles: bool) -> None:
    """Find the size of each stage, then run out of room in the middle of each, and continue.

    Writes for each run what stage was the last to end, what was said, and what came out behind.

    shuffles  whether it is the disk for what Spark shuffles that is small
    """
    disk = Disk(Path(folder))
    target = disk.place.with_name("x.db") if shuffles else disk.place / "x.db"
    place = {"spark.local.dir": str(disk.place / "shuffles")} if shuffles else {}
    spark = make("local[1]", options={**QUICK, **place})
    used = [disk.used]

    def measured(name: str, figures: Mapping[str, Any]) -> None:
        if "round" not in figures:
            used.append(disk.used)

    wished = {**WISHED, "tables": None if shuffles else str(disk.place / "tables")}
    import_dataset(spark, sources, target, progress=measured, keep_work=True, **wished)
    store = sum(path.stat().st_size for path in target.iterdir())
    if shuffles:
        sizes = [8 << 10]
    else:  # behind the closure, tables are written, and then the store
        ends = [*used[:-1], used[-1] - store, used[-1]]
        sizes = [(3 * before + after) // 4 for before, after in pairwise(ends)]
    for size in sizes:
        _out_of_room(spark, sources, disk, target, size, wished)
    spark.stop()


def _out_of_room(
    spark: Any, sources: list[str], disk: Disk, target: Path, size: int, wished: dict[str, Any]
) -> None:
    ended: list[str] = []

    def note(name: str, figures: Mapping[str, Any]) -> None:
        if "round" not in figures:
            ended.append(name)

    if target.is_relative_to(disk.place):
        disk.clear()
    else:
        shutil.rmtree(target, ignore_errors=True)
        shutil.rmtree(f"{target}.import", ignore_errors=True)
    gc.collect()
    disk.resize(disk.used + size)  # what was removed may be open somewhere yet
    said = ""
    try:
        with clear_errors():
            import_dataset(spark, sources, target, progress=note, **wished)
    except (TripleStoreError, OSError) as error:
        said = f"{type(error).__name__}: {error}"
    opens = True
    try:
        Store.read_only(target).close()
    except (TripleStoreError, OSError):
        opens = False
    disk.resize(400 << 20)
    again = import_dataset(spark, sources, target, **wished)
    with Store.read_only(target) as store:
        digest = store.digest() if not store.verify() else "damaged"
    shown = {"ended": ended, "said": said, "opens": opens, "digest": digest}
    sys.stdout.write(json.dumps({**shown, "resumed": list(again.resumed)}) + "\n")
    sys.stdout.flush()


def main(text: str) -> int:
    """Run the requested job."""
    asked = json.loads(text)
    if "disk" in asked:
        on_small_disk(asked["disk"], asked["sources"], asked["shuffles"])
        return 0
    return run_once(asked["target"], asked["sources"], Wrong(**asked["wrong"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
