"""What tasks say beside statements: faults, and what each part of a file held; as text of JSON.

Start at `Notes`, which a task fills for one part of a file, and `FIELDS`, the schema by which Spark
reads the notes again. Lines and bytes of a fault count from the beginning of its part: where that
is in the file is known only when all parts before it were read, and is added then (faults.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

FIELDS = (
    "kind string, part long, line long, byte long, text string, reason string, "
    "lines long, bytes long, statements long, bad long, prefixes map<string, string>"
)
"""The fields of notes, as Spark writes a schema."""

FAULT = "fault"
PART = "part"

_AT_ONCE = 1 << 12


class Notes:
    """The notes of one part of a file; `part` says where it begins, and orders the parts.

    What has no place (rows of a table) is noted without line and byte.
    """

    def __init__(self, part: int, has_places: bool = True) -> None:
        self.part = part
        self._has_places = has_places
        self.lines = 0
        self.bytes = 0
        self.statements = 0
        self.bad = 0
        self.prefixes: Mapping[str, str] = {}
        self._faults: list[str] = []

    def fault(
        self, line: int | None, byte: int | None, column: int | None, text: str | None, reason: str
    ) -> None:
        """Note what is wrong in a line (from 1) and byte of the part."""
        self.bad += 1
        where = "" if column is None else f"column {column}: "
        fields: dict[str, Any] = {"text": text, "reason": where + reason}
        if self._has_places:
            fields |= {"line": line, "byte": byte}
        self._faults.append(self._written(FAULT, fields))

    def waiting(self) -> Iterator[list[str]]:
        """Faults in handfuls, as soon as there are many."""
        if len(self._faults) >= _AT_ONCE:
            yield self._faults
            self._faults = []

    def all(self) -> list[str]:
        """What is left to say, at the end of the part.

        >>> notes = Notes(0)
        >>> notes.fault(2, 30, 7, "<a> .", "expected an IRI")
        >>> [json.loads(note)["kind"] for note in notes.all()]
        ['fault', 'part']
        """
        fields = {
            "lines": self.lines,
            "bytes": self.bytes,
            "statements": self.statements,
            "bad": self.bad,
            "prefixes": dict(self.prefixes),
        }
        return [*self._faults, self._written(PART, fields)]

    def _written(self, kind: str, fields: Mapping[str, Any]) -> str:
        return json.dumps({"kind": kind, "part": self.part, **fields}, ensure_ascii=True)
