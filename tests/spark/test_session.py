"""The session: its settings, the place of its work, and errors about missing requirements."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from triplestore.errors import UsageError
from triplestore.loaders import spark as package
from triplestore.loaders.spark import java, session


def where_it_runs(batches: Any) -> Any:
    import pyarrow as pa

    for batch in batches:
        row = {"process": [os.getpid()], "python": [sys.executable], "rows": [batch.num_rows]}
        yield pa.RecordBatch.from_pydict(row)


def test_session__works_in_other_processes_with_this_python(spark: Any) -> None:
    places = spark.range(0, 100, 1, 8).mapInArrow(
        where_it_runs, "process long, python string, rows long"
    )
    rows = places.collect()
    assert sum(row.rows for row in rows) == 100
    assert os.getpid() not in {row.process for row in rows}
    assert {row.python for row in rows} == {sys.executable}


def test_make__takes_the_session_that_runs_and_sets_what_it_needs(spark: Any) -> None:
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == str(session.BATCH_ROWS)
    assert session.check(spark) is spark


@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize("name", package.__all__)
def test_package__gives_every_name_it_offers(name: str) -> None:
    assert callable(getattr(package, name))


def test_package__knows_no_other_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_check__refuses_other_objects_than_sessions() -> None:
    with pytest.raises(UsageError, match="dict is not a SparkSession"):
        session.check({})


def test_pyspark_module__says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError, match=r"pip install 'triplestore\[spark\]'"):
        session.pyspark_module()


def fake_java(folder: Path, says: str) -> Path:
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    command.chmod(0o755)
    return folder


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(java, "_PLACES", ())


@pytest.mark.usefixtures("no_java")
def test_find_java__none_is_one_line_that_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="Java was not found: install Java 17") as caught:
        java.find_java()
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("no_java")
def test_find_java__an_old_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "old", 'openjdk version "1.8.0_292"')
    monkeypatch.setenv("PATH", str(home / "bin"))
    with pytest.raises(UsageError, match=r"old/bin/java is Java 8: install Java 17"):
        java.find_java()


@pytest.mark.usefixtures("no_java")
def test_find_java__passes_over_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake_java(tmp_path / "old", 'openjdk version "11.0.2"')
    new = fake_java(tmp_path / "new", 'openjdk version "21.0.1" 2024-01-01')
    monkeypatch.setenv("PATH", str(old / "bin"))
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "n*"),))
    found = java.find_java()
    assert (found.version, found.home) == (21, new)


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize(
    ("home", "wrong"), [("old", "which is Java 11"), ("nowhere", "has no Java that runs")]
)
def test_java_home__that_spark_cannot_use_is_one_line_that_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, wrong: str
) -> None:
    """Spark always uses JAVA_HOME, so another Java must not hide that it is wrong."""
    fake_java(tmp_path / "old", 'openjdk version "11.0.2"')
    new = fake_java(tmp_path / "new", 'openjdk version "21.0.1" 2024-01-01')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
    with pytest.raises(UsageError, match=f"{wrong}.*install Java 17") as caught:
        java.find_java()
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "n*"),))
    with pytest.raises(UsageError, match=f"{wrong}.*set it to {new}"):
        java.find_java()


class NoGateway:
    """The effect of a Java that does not start."""

    def config(self, key: str, value: str) -> NoGateway:
        return self

    def getOrCreate(self) -> None:  # the name that Spark gave it
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before ...")


def test_java_that_does_not_start__is_one_line() -> None:
    with pytest.raises(UsageError, match=r"could not start Java.*JAVA_HOME"):
        session._configured(NoGateway(), {"a": "b"}, None)
