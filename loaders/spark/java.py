"""Find Java, which Spark needs and pip does not install.

`find_java` returns the command and its version, or raises an error of one line that says what to
install. Spark uses `JAVA_HOME` if it is set, so it must be a Java that Spark can use. Otherwise
`find_java` searches `PATH`, then the usual places of systems.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from triplestore.errors import UsageError

NEEDED = 17
"""Spark 4 needs Java 17; Spark 3.5 also works with it."""

HOW_TO_INSTALL = (
    f"install Java {NEEDED} (Debian: sudo apt-get install openjdk-17-jre-headless, macOS: brew "
    "install openjdk@17) or point JAVA_HOME at one"
)
_PLACES = (
    "/usr/lib/jvm/*",
    "/opt/homebrew/opt/openjdk*",
    "/Library/Java/JavaVirtualMachines/*/*/Home",
)


class Java(NamedTuple):
    """An installed Java: its command and the first number of its version."""

    command: Path
    version: int

    @property
    def home(self) -> Path:
        """The value of `JAVA_HOME` for this Java."""
        return self.command.resolve().parent.parent


def find_java(needed: int = NEEDED) -> Java:
    """The first Java that is new enough; an error of one line without one.

    >>> find_java(needed=999)
    Traceback (most recent call last):
        ...
    triplestore.errors.UsageError: ...Spark needs Java 999 or later...
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        return _java_of(Path(home), needed)
    too_old = None
    for command in _candidates():
        version = version_of(command)
        if version is not None and version >= needed:
            return Java(command, version)
        if version is not None and too_old is None:
            too_old = Java(command, version)
    found = f"{too_old.command} is Java {too_old.version}" if too_old else "Java was not found"
    raise UsageError(f"Spark needs Java {needed} or later, and {found}: {HOW_TO_INSTALL}")


def _java_of(home: Path, needed: int) -> Java:
    """The Java of `JAVA_HOME`; an error of one line if Spark cannot use it."""
    command = home / "bin" / "java"
    version = version_of(command)
    if version is not None and version >= needed:
        return Java(command, version)
    wrong = f"is Java {version}" if version else f"has no Java that runs ({command})"
    others = (each for each in _candidates() if (version_of(each) or 0) >= needed)
    other = next(others, None)
    remedy = f"unset it, or set it to {Java(other, needed).home}" if other else HOW_TO_INSTALL
    raise UsageError(
        f"JAVA_HOME is {home}, which {wrong}; Spark needs Java {needed} or later: {remedy}"
    )


def version_of(command: Path) -> int | None:
    """The first number of the version that `command -version` prints; None if it fails."""
    try:
        run = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_version(run.stderr + run.stdout) if run.returncode == 0 else None


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


def _candidates() -> Iterator[Path]:
    """Commands that may be Java, starting with the one that Spark uses by default."""
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    for place in _PLACES:
        for folder in sorted(Path("/").glob(place.removeprefix("/")), reverse=True):
            yield folder / "bin" / "java"
