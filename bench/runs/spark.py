"""Measurements of imports on Spark in a child process, and of other ways to read the same data.

Each `measure_` function is one run of `bench.child`; `bench.workloads.spark` makes the report. The
cluster is `local-cluster[N,1,M]`: N worker processes of one core each on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.child import Clock
from bench.harness import REPOSITORY, sync_folder
from bench.workload import fresh_folder

WARM = "".join(f"<http://e/{i}> <http://e/p> <http://e/{i % 9}> .\n" for i in range(2000))


def measure_import(
    path: str, folder: str, workers: int, memory: int, partitions: int, rules: str | None
) -> dict[str, Any]:
    """One import of a file into a new store; with rules, also their closure on Spark."""
    from triplestore import Store
    from triplestore.loaders.spark import StageLog, import_dataset
    from triplestore.loaders.spark.jobs.metrics import by_stage, read_events
    from triplestore.loaders.spark.jobs.stage_log import whole

    clock = Clock()
    with fresh_folder(folder) as own:
        with clock.part("start"):
            session = start(own, workers, memory, partitions)
        (own / "warm.nt").write_text(WARM)
        with clock.part("warm"):
            import_dataset(session, str(own / "warm.nt"), own / "warm.db", partitions=workers)
        log = StageLog(quiet=True)
        inferring = {"rules": [Path(rules)], "closure": "spark"} if rules else {}
        with clock.part("import"):
            done = import_dataset(
                session, path, own / "store", partitions=partitions, progress=log, **inferring
            )
        noted = sum(float(stage["seconds"]) for stage in whole(log.stages))
        log("rest", {"seconds": max(0.0, clock.seconds["import s"] - noted)})
        session.stop()
        with Store.read_only(own / "store") as store:
            found = {"triples": len(store), "digest": store.digest()}
        stages = by_stage(log.stages, read_events(own / "events"))
    return {**found, "statements": done.triples, "stages": stages, **clock.seconds}


def measure_local(path: str, folder: str, rules: str | None) -> dict[str, Any]:
    """The same with one process and no Spark: load and infer."""
    from triplestore import Store

    clock = Clock()
    with fresh_folder(folder) as own:
        (own / "warm.nt").write_text(WARM)
        with clock.part("warm"), Store(own / "warm") as store:
            store.load(path=own / "warm.nt")
            if rules:
                store.reason(rules=[Path(rules)])
        with clock.part("import"), Store(own / "store") as store:
            store.load(path=path)
            if rules:
                store.reason(rules=[Path(rules)])
        sync_folder(own / "store")
        with Store.read_only(own / "store") as store:
            return {"triples": len(store), "digest": store.digest(), **clock.seconds}


def measure_rdflib(
    path: str, folder: str, workers: int, memory: int, partitions: int
) -> dict[str, Any]:
    """Only parsing, by rdflib on the same partitions of lines."""
    clock = Clock()
    with fresh_folder(folder) as own:
        with clock.part("start"):
            session = start(own, workers, memory, partitions)
        (own / "warm.nt").write_text(WARM)
        with clock.part("warm"):
            count_by_rdflib(session, str(own / "warm.nt"))
        with clock.part("import"):
            triples = count_by_rdflib(session, path)
        session.stop()
    return {"triples": triples, **clock.seconds}


def count_by_rdflib(session: Any, path: str) -> int:
    parsed = session.read.text(path).mapInArrow(parse_by_rdflib, "triples long")
    return int(parsed.selectExpr("sum(triples)").collect()[0][0])


def parse_by_rdflib(batches: Iterator[Any]) -> Iterator[Any]:
    """On a worker: the lines of each batch into a graph of rdflib."""
    import pyarrow as pa
    from rdflib import Graph

    for batch in batches:
        text = "\n".join(batch.column(0).to_pylist())
        graph = Graph().parse(data=text, format="nt11")
        yield pa.RecordBatch.from_pydict({"triples": [len(graph)]})


def start(own: Path, workers: int, memory: int, partitions: int) -> Any:
    """A session on worker processes of one core and this many megabytes each."""
    from tests.support.spark_cluster import linked_home
    from triplestore.loaders.spark import make

    os.environ["SPARK_HOME"] = str(linked_home(own / "home"))
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    repository = REPOSITORY
    return make(
        f"local-cluster[{workers},1,{memory}]",
        name="triplestore bench",
        memory="2g",
        executor_memory=f"{memory}m",
        partitions=partitions,
        events=own / "events",
        options={
            "spark.driver.host": "127.0.0.1",
            "spark.local.dir": str(own / "local"),
            "spark.executorEnv.PYTHONPATH": str(repository),
        },
    )
