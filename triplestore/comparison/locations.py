"""The files and lines that assert quads: start at `Places`.

Lines of N-Triples and N-Quads are exact. In Turtle and TriG the line is that of the object at the
outer level of its statement, so a quad inside of brackets has the line where these begin. Quads of
other formats have a file and no line. A large Turtle file is cut at ends of lines where a statement
probably ends, and only the blocks that name a subject are scanned; what is not found has no line.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import pyoxigraph as ox

from triplestore.comparison.sides.files_of_side import SideFile
from triplestore.comparison.thresholds import COMPARISON
from triplestore.comparison.turtle_statements import Statement, statements_of
from triplestore.data_classes import data_class
from triplestore.loaders.formats import split_name

_LINES = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_STATEMENTS = (ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG)
_OPENERS = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}

_ENDS = re.compile(r"\.[ \t]*\r?\n(?=[^\s#])")
_HEADING = re.compile(r"^[ \t]*@?(?:prefix|base)\b[^\n]*", re.MULTILINE | re.IGNORECASE)


@data_class
class Location:
    """A file, and the line if the syntax tells.

    >>> print(Location("onto.ttl", 88))
    onto.ttl:88
    """

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Places:
    """Where one file asserts quads; it is read when it is first asked.

    base  what relative IRIs in it are relative to
    """

    def __init__(self, file: SideFile, base: str) -> None:
        self._file, self._base = file, base
        self._format, self._packed = split_name(file.name)

    @cached_property
    def _data(self) -> bytes:
        data = self._file.read()
        return _OPENERS[self._packed](data) if self._packed else data

    @cached_property
    def _lines(self) -> dict[bytes, int]:
        """The number of the first line with each text."""
        found: dict[bytes, int] = {}
        for number, line in enumerate(self._data.split(b"\n"), 1):
            found.setdefault(line.rstrip(), number)
        return found

    def of(self, quads: Iterable[ox.Quad]) -> dict[ox.Quad, Location]:
        """The location of each quad; one with blank nodes is known by its other terms."""
        wanted = list(quads)
        name = self._file.name
        found = dict.fromkeys(wanted, Location(name))
        known = self._packed is None or self._packed in _OPENERS
        if not wanted or not known or self._format not in (*_LINES, *_STATEMENTS):
            return found
        if self._format in _LINES:
            places = self._in_lines(wanted)
        else:
            places = self._in_turtle(_Search(wanted))
        for quad, line in places:
            if found[quad].line is None:
                found[quad] = Location(name, line)
        return found

    # -- N-Triples ---------------------------------------------------------------------------------

    def _in_lines(self, wanted: Sequence[ox.Quad]) -> Iterator[tuple[ox.Quad, int]]:
        left = []
        for quad in wanted:
            number = self._lines.get(f"{quad} .".encode())
            if number is None:
                left.append(quad)
            else:
                yield quad, number
        if left:
            yield from self._in_other_lines(_Search(left))

    def _in_other_lines(self, search: _Search) -> Iterator[tuple[ox.Quad, int]]:
        """Lines that are not written as we write them."""
        form = self._format
        assert form is not None
        for line, number in self._lines.items():
            if not search.is_open:
                return
            head = line.lstrip()
            if not head or head[:1] == b"#":
                continue
            if head[:1] == b"<":
                subject = head[: head.find(b">") + 1]
                if b"\\" not in subject and not search.may_have(subject.decode("utf-8", "replace")):
                    continue
            for quad in search.found_in(_parsed(line.decode("utf-8", "replace"), form)):
                yield quad, number

    # -- Turtle ------------------------------------------------------------------------------------

    @cached_property
    def _text(self) -> str:
        return self._data.decode("utf-8", "replace")

    def _blocks(self, search: _Search) -> Iterator[tuple[str, int]]:
        """Parts of the text that may have a statement with a wanted subject, and their lines."""
        text = self._text
        if len(text) <= COMPARISON.scanned_characters:
            yield text, 1
            return
        headings = [found.group() for found in _HEADING.finditer(text)]
        yield "\n".join(headings), 0
        named = search.written(_prefixes(headings))
        starts = [0, *(end.end() for end in _ENDS.finditer(text)), len(text)]
        line, seen = 1, 0
        for start, end in pairwise(starts):
            block = text[start:end]
            if any(one in block for one in named):
                line += text.count("\n", seen, start)
                seen = start
                yield block, line

    def _in_turtle(self, search: _Search) -> Iterator[tuple[ox.Quad, int]]:
        headings: list[str] = []
        prefixes: dict[str, str] = {}
        for text, first in self._blocks(search):
            for one in statements_of(text):
                if not search.is_open:
                    return
                if one.heading:
                    headings.append(f"{one.text} ." if one.text.startswith("@") else one.text)
                    prefixes |= _prefixes([one.text])
                elif _may_have(one, search, prefixes):
                    for quad, line in self._in_statement(one, headings, search):
                        yield quad, line + first - 1

    def _in_statement(
        self, one: Statement, headings: Sequence[str], search: _Search
    ) -> Iterator[tuple[ox.Quad, int]]:
        for part in one.parts:
            written = f"{part.subject} {part.predicate} {part.object} ."
            if one.graph:
                written = f"{one.graph} {{ {written} }}"
            text = "\n".join([*headings, written])
            for quad in search.found_in(_parsed(text, ox.RdfFormat.TRIG, self._base)):
                yield quad, part.line


class _Search:
    """Quads that are looked for, by what is written of them."""

    def __init__(self, wanted: Sequence[ox.Quad]) -> None:
        self._by_shape: dict[tuple[str, str, str, str], list[ox.Quad]] = {}
        self._subjects = {_shape(quad.subject) for quad in wanted}
        for quad in wanted:
            self._by_shape.setdefault(_shapes(quad), []).append(quad)

    @property
    def is_open(self) -> bool:
        """Whether quads are left to be found."""
        return bool(self._by_shape)

    def may_have(self, subject: str) -> bool:
        """Whether quads with this subject, or with a blank node, are looked for."""
        return subject in self._subjects or "_:" in self._subjects

    def written(self, prefixes: Mapping[str, str]) -> list[str]:
        """How the wanted subjects may be written; blank nodes are not found by their names."""
        found = [subject for subject in self._subjects if subject != "_:"]
        for prefix, namespace in prefixes.items():
            start = f"<{namespace}"
            found += [
                f"{prefix}:{subject[len(start) : -1]}"
                for subject in self._subjects
                if subject.startswith(start)
            ]
        return found

    def found_in(self, quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
        """Those of the wanted quads that are among some that were read, each once."""
        for quad in quads:
            shape = _shapes(quad)
            known = self._by_shape.get(shape)
            if known:
                yield known.pop(0)
                if not known:
                    del self._by_shape[shape]


def _shape(term: object) -> str:
    return "_:" if isinstance(term, ox.BlankNode) else str(term)


def _shapes(quad: ox.Quad) -> tuple[str, str, str, str]:
    s, p, o, g = quad
    return _shape(s), _shape(p), _shape(o), _shape(g)


def _prefixes(headings: Iterable[str]) -> dict[str, str]:
    found = {}
    for heading in headings:
        words = heading.split()
        if len(words) > 2 and "prefix" in words[0].lower():
            found[words[1].rstrip(":")] = words[2].strip("<>")
    return found


def _may_have(one: Statement, search: _Search, prefixes: Mapping[str, str]) -> bool:
    if not one.parts:
        return False
    subject = one.parts[0].subject
    prefix, colon, local = subject.partition(":")
    if colon and not subject.startswith(("<", "[", "(", "_:")) and "\\" not in subject:
        namespace = prefixes.get(prefix)
        if namespace is not None and ":" in namespace and "\\" not in namespace:
            return search.may_have(f"<{namespace}{local}>")
    return True


def _parsed(text: str, form: ox.RdfFormat, base: str | None = None) -> list[ox.Quad]:
    try:
        return list(ox.parse(text.encode(), format=form, base_iri=base))
    except (SyntaxError, ValueError):
        return []
