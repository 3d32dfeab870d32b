"""One Spark session for all of these tests: a cluster of two worker processes on this machine.

The tests carry one mark for pytest-xdist, so that they all run in the same process and only one
session ever exists. Without Java or pyspark they are skipped, with the reason.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.spark_cluster import linked_home
from triplestore.errors import UsageError
from triplestore.loaders.spark.java import find_java
from triplestore.loaders.spark.session import QUIET, make, pyspark_module

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
UNCLOSED = "ignore:unclosed <socket:ResourceWarning"  # pyspark leaves those of collect() open
MASTER = "local-cluster[2,1,1024]"  # two executors, of one core and 1 GiB each
# Java compiles quickly instead of well: these sessions end before the better code would pay. What
# tests cost is thereby nearly halved.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
OPTIONS = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()} {QUICK_JAVA}",
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Three workers too many in a row would end the application; tests of faults kill some.
    "spark.deploy.maxExecutorRetries": "-1",
}


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in a hook of the same name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("spark"))
            item.add_marker(pytest.mark.filterwarnings(UNCLOSED))


def need_spark() -> None:
    """Skip a test that needs Spark if Spark is missing."""
    try:
        pyspark_module()
        find_java()
    except UsageError as error:
        pytest.skip(str(error))


def workers_path() -> str:
    """Where workers find the functions of test modules that are sent to them by name."""
    places = [str(REPOSITORY), str(REPOSITORY / "tests"), os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(place for place in places if place)


@pytest.fixture(scope="session")
def spark_available() -> None:
    """For tests that start Spark in new processes."""
    need_spark()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two worker processes (tasks run in other processes than the test's)."""
    need_spark()
    folder = Path(tempfile.mkdtemp(prefix="spark-tests-"))
    before = dict(os.environ)
    os.environ["SPARK_HOME"] = str(linked_home(folder / "home"))
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = make(
        MASTER,
        memory="1g",
        executor_memory="1g",
        options={
            **OPTIONS,
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
            "spark.executorEnv.PYTHONPATH": workers_path(),
        },
    )
    try:
        yield session
    finally:
        session.stop()
        gc.collect()  # pyspark's sockets, before tests that mind them
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)
