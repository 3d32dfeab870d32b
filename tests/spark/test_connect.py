"""Spark Connect: nothing may need features of a classic session."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from triplestore import Store
from triplestore.loaders import spark as package

(FOLDER,) = (Path(place) for place in package.__path__)
CLASSIC_ONLY = {
    *("sparkContext", "_sc", "_jvm", "_jdf", "_jsc", "_jsparkSession", "_jc", "rdd", "toJSON"),
    *("foreachPartition", "statusTracker", "setJobGroup", "accumulator"),
    "localCheckpoint",  # is there, but what it keeps is lost with a worker
}


def uses(source: str) -> list[str]:
    """Uses of a session or DataFrame that Connect does not support."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    return [f"line {n.lineno}: .{n.attr}" for n in nodes if n.attr in CLASSIC_ONLY]


def test_modules__use_what_connect_has() -> None:
    found = {file.name: uses(file.read_text()) for file in FOLDER.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("line", ["spark.sparkContext.parallelize([])", "frame.rdd", "f._jdf.x()"])
def test_modules__another_use_would_be_noticed(line: str) -> None:
    assert len(uses(line)) == 1


JOB = """
import sys
from pyspark.sql import SparkSession
from triplestore.loaders.spark import check, import_dataset
spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__
import_dataset(check(spark), sys.argv[2], sys.argv[1], partitions=2, lenient=True)
told = {"rules": sys.argv[3], "closure": "spark", "driver_facts": 0}
import_dataset(spark, sys.argv[2], sys.argv[1], partitions=2, job="closed", **told)
spark.stop()
"""
RULES = """@prefix : <http://e/> . :q[?y, ?x] :- :p1[?x, ?y] .
:r[?x, ?z] :- :p1[?x, ?y], :q[?y, ?z], FILTER(?x != ?z) ."""


@pytest.mark.long
@pytest.mark.usefixtures("spark_available")
def test_import__through_connect(tmp_path: Path) -> None:
    if find_spec("grpc") is None or find_spec("grpc_status") is None:
        pytest.skip("Spark Connect needs grpcio and grpcio-status: pip install 'pyspark[connect]'")
    lines = [f'_:b{i % 7} <http://e/p{i % 3}> "{i}" .\n' for i in range(500)]
    source, target = tmp_path / "a.nt", tmp_path / "x.db"
    source.write_text("".join(lines))
    # So pyspark takes any port that is free; otherwise it is 15002, which may be in use.
    own = {"SPARK_TESTING": "1", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.run(
        [sys.executable, "-c", JOB, str(target), str(source), RULES],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    with Store(target) as made, Store() as local:
        local.load(path=source)
        local.load(path=source)
        local.reason(rules=RULES)
        assert made.verify(closure=True) == []
        assert made.digest() == local.digest()
