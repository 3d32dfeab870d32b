"""The session: its settings, the place of its work, and errors about missing requirements."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.spark.conftest import workers_path
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
    with pytest.raises(UsageError, match=r"pip install 'entailstore\[spark\]'"):
        session.pyspark_module()


@pytest.fixture(autouse=True)
def spark_4_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests do not depend on the Spark that is installed."""
    monkeypatch.setattr(java, "_installed_spark", lambda: "4.1.4")


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
    expected = r"runs on Java 17 or 21, and Java was not found .*: install Java 17"
    with pytest.raises(UsageError, match=expected) as caught:
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
    ("home", "wrong"),
    [
        ("old", "which is Java 11"),
        ("untested", "which is Java 25"),
        ("broken", "has no Java that runs"),
        ("nowhere", "has no Java that runs"),
    ],
)
def test_java_home__that_spark_cannot_use_is_one_line_that_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, wrong: str
) -> None:
    """Spark always uses JAVA_HOME, so another Java must not hide that it is wrong."""
    fake_java(tmp_path / "old", 'openjdk version "11.0.2"')
    fake_java(tmp_path / "untested", 'openjdk version "25.0.3" 2026-04-21 LTS')
    fake_java(tmp_path / "broken", "cannot open shared object file")
    new = fake_java(tmp_path / "new", 'openjdk version "21.0.1" 2024-01-01')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
    expected = f"^Spark 4.1 runs on Java 17 or 21, and JAVA_HOME is {tmp_path / home}, .*{wrong}"
    with pytest.raises(UsageError, match=f"{expected}.*install Java 17") as caught:
        java.find_java()
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "n*"),))
    with pytest.raises(UsageError, match=rf"{expected}.*set it to {new} \(Java 21\)$"):
        java.find_java()


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize(
    ("spark_version", "chosen"),
    [("3.5.8", 11), ("4.0.2", 21), ("4.1.4", 21), ("4.2.0", 25), ("5.0.0", 25)],
)
def test_find_java__depends_on_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark_version: str, chosen: int
) -> None:
    for number in (11, 21, 25):
        fake_java(tmp_path / str(number), f'openjdk version "{number}.0.3" 2026-04-21')
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "*"),))
    assert java.find_java(spark_version).version == chosen


@pytest.mark.usefixtures("no_java")
def test_find_java__names_all_that_were_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (11, 25):
        fake_java(tmp_path / str(number), f'openjdk version "{number}.0.3" 2026-04-21')
    (tmp_path / "link").symlink_to(tmp_path / "25")
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "*"),))
    with pytest.raises(UsageError, match=r"and .*/link/bin/java is Java 25, .*is Java 11: install"):
        java.find_java()


@pytest.mark.parametrize("home", ["untested", "nowhere"])
def test_command__with_a_wrong_java_home_ends_in_one_line(tmp_path: Path, home: str) -> None:
    pytest.importorskip("pyspark")
    fake_java(tmp_path / "untested", 'openjdk version "99.0.3" 2026-04-21 LTS')
    (tmp_path / "a.nt").write_text("<x:a> <x:b> <x:c> .\n")
    run = subprocess.run(
        [sys.executable, "-m", "triplestore", "import", "-l", "x.db", "a.nt"],
        env={**os.environ, "JAVA_HOME": str(tmp_path / home), "PYTHONPATH": workers_path()},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout == "" and len(run.stderr.splitlines()) == 1, run.stderr
    assert f"JAVA_HOME is {tmp_path / home}, which" in run.stderr
    assert not (tmp_path / "x.db").exists()


class NoGateway:
    """The effect of a Java that does not start."""

    def config(self, key: str, value: str) -> NoGateway:
        return self

    def getOrCreate(self) -> None:  # the name that Spark gave it
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before ...")


def test_java_that_does_not_start__is_one_line() -> None:
    with pytest.raises(UsageError, match=r"could not start Java.*JAVA_HOME"):
        session._configured(NoGateway(), {"a": "b"}, None)
