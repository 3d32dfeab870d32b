"""The packaged job, handed by spark-submit to a standalone master with two workers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.spark_cluster import Cluster, environment, spark_home
from triplestore import Store
from triplestore.loaders.spark.jobs.packaging import write_all

LINES = "".join(
    f'<http://e/s{i}> <http://e/p{i % 3}> "{i % 50}" .\n_:b{i % 9} <http://e/q> <http://e/s{i}> .\n'
    for i in range(400)
)


@pytest.mark.usefixtures("spark_available")
@pytest.mark.long
def test_submit__the_packaged_job_to_two_workers(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"part{number}.nt").write_text(LINES.replace("/s", f"/{number}s"))
    archive, job = write_all(tmp_path / "job")
    target, report = tmp_path / "x.db", tmp_path / "report.json"
    with Cluster(tmp_path / "cluster", workers=2) as cluster:
        command = [
            *(str(spark_home() / "bin" / "spark-submit"), "--master", cluster.master),
            *("--py-files", str(archive), "--driver-memory", "600m", "--executor-memory", "600m"),
            # Workers unpack the package for themselves: that it lies there shows that they had to.
            *("--conf", f"spark.executorEnv.TRIPLESTORE_CACHE={tmp_path / 'workers'}"),
            *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"),
            *(str(job), "import", "-l", str(target), str(tmp_path / "part*.nt")),
            *("--partitions", "2", "--report", str(report)),
        ]
        run = subprocess.run(
            command,
            env={**environment(tmp_path), "TRIPLESTORE_CACHE": str(tmp_path / "driver")},
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=280,
            check=False,
        )
        workers = {log.parent.name for log in (tmp_path / "cluster").glob("worker-*/app-*/*")}
    assert run.returncode == 0, run.stderr
    assert "statements" in run.stdout  # where spark-submit sends what a program says
    assert len(list((tmp_path / "driver").glob("package-*"))) == 1
    assert len(list((tmp_path / "workers").glob("package-*"))) == 1
    assert workers, "no worker had anything to do"
    said = json.loads(report.read_text())
    assert said["ok"] and said["result"]["files"] == 4
    with Store() as local, Store(target) as made:
        local.load(path=sorted(map(os.fspath, tmp_path.glob("part*.nt"))))
        assert made.digest() == local.digest()
        assert made.verify() == []
