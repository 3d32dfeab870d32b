"""Find Java, which Spark needs and pip does not install.

`find_java` returns a Java that the installed Spark runs on, or raises an error of one line. The
line says which versions serve, what was found and where, and what to do. Spark uses `JAVA_HOME` if
it is set, so another Java must not hide that it is wrong. Otherwise `find_java` searches `PATH`,
then the usual places of systems.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from triplestore.errors import UsageError

SERVING = {(3, 5): (8, 11, 17), (4, 0): (17, 21), (4, 1): (17, 21), (4, 2): (17, 21, 25)}
"""The versions of Java that the documentation of each Spark names. Spark 4.1 starts on Java 25, but
Hadoop's file systems fail there. A Spark that is not in this table counts as the nearest older."""

TO_INSTALL = 17
"""The version that every Spark runs on."""

HOW_TO_INSTALL = (
    f"install Java {TO_INSTALL} (Debian: sudo apt-get install openjdk-17-jre-headless, macOS: brew "
    "install openjdk@17) or set JAVA_HOME to one"
)
_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "/Library/Java/JavaVirtualMachines/*/*/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


class Java(NamedTuple):
    """An installed Java: its command and the first number of its version."""

    command: Path
    version: int

    @property
    def home(self) -> Path:
        """The value of `JAVA_HOME` for this Java."""
        return self.command.resolve().parent.parent


def find_java(spark: str | None = None) -> Java:
    """The first Java that this version of Spark runs on; an error of one line without one.

    spark -- by default the version of pyspark that pip has installed.
    """
    spark = spark or _installed_spark()
    wanted = serving(spark)
    home = os.environ.get("JAVA_HOME")
    if home:
        command = Path(home) / "bin" / "java"
        found = version_of(command)
        if found in wanted:
            return Java(command, found)
        is_wrong = f"is Java {found}" if found else f"has no Java that runs ({command})"
        wrong = f"JAVA_HOME is {home}, which {is_wrong}"
        raise UsageError(_one_line(spark, wrong, _first(wanted, _installed())))
    passed = []
    for java in _installed():
        if java.version in wanted:
            return java
        passed.append(f"{java.command} is Java {java.version}")
    missing = "Java was not found in JAVA_HOME, PATH and the usual places"
    raise UsageError(_one_line(spark, ", ".join(passed) or missing, None))


def serving(spark: str) -> tuple[int, ...]:
    """The versions of Java that a version of Spark runs on.

    >>> serving("3.5.8"), serving("4.1.0.dev1"), serving("5.0")
    ((8, 11, 17), (17, 21), (17, 21, 25))
    """
    numbers = tuple(int(part) for part in spark.split(".")[:2])
    return SERVING[max((each for each in SERVING if each <= numbers), default=min(SERVING))]


def runs_on(spark: str) -> str:
    """
    >>> runs_on("3.5.8")
    'Spark 3.5 runs on Java 8, 11 or 17'
    """
    *others, last = map(str, serving(spark))
    return f"Spark {'.'.join(spark.split('.')[:2])} runs on Java {', '.join(others)} or {last}"


def version_of(command: Path) -> int | None:
    """The first number of the version that `command -version` prints; None if it fails."""
    try:
        run = subprocess.run([command, "-version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = (run.stderr + run.stdout).decode(errors="replace")
    return read_version(printed) if run.returncode == 0 else None


def read_version(text: str) -> int | None:
    """The first number of a Java version, in the old and the new numbering.

    >>> read_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> read_version('java version "1.8.0_292"')
    8
    """
    match = re.search(r'version "(\d+)(?:\.(\d+))?', text)
    if match is None:
        return None
    first, second = match.groups()
    return int(second) if first == "1" and second else int(first)


def _one_line(spark: str, found: str, other: Java | None) -> str:
    """What serves, what was found, and what to do."""
    remedy = HOW_TO_INSTALL
    if other is not None:
        remedy = f"unset JAVA_HOME, or set it to {other.home} (Java {other.version})"
    return f"{runs_on(spark)}, and {found}: {remedy}"


def _first(wanted: Iterable[int], found: Iterable[Java]) -> Java | None:
    return next((java for java in found if java.version in wanted), None)


def _installed() -> Iterator[Java]:
    """Every Java that runs, once, starting with the one that Spark uses by default."""
    seen = set()
    for command in _candidates():
        if command.resolve() in seen:  # /usr/lib/jvm has links to its own folders
            continue
        seen.add(command.resolve())
        number = version_of(command)
        if number is not None:
            yield Java(command, number)


def _candidates() -> Iterator[Path]:
    """Commands that may be Java."""
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    for place in _PLACES:
        pattern = os.path.expanduser(place)  # noqa: PTH111 - a pattern, not a path
        for folder in sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True):
            yield folder / "bin" / "java"


def _installed_spark() -> str:
    """The version of pyspark; without one, the newest known."""
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return ".".join(map(str, max(SERVING)))
