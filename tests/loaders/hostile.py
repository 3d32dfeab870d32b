"""Broken and hostile documents of every format: a list of known attacks, and a mutator."""

# ruff: noqa: E501 - long tables of pieces are easier to read than tall ones

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENDINGS = ("nt", "nq", "ttl", "trig", "n3", "rdf", "jsonld")
_RDF = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="a:" '
    b'rdf:version="1.2">'
)
_ABOUT = b'<rdf:Description rdf:about="a:s">'
_TRIPLE = _ABOUT + b'<e:p rdf:parseType="Triple">'


def _nested(start: bytes, opening: bytes, inner: bytes, closing: bytes, end: bytes) -> Any:
    return lambda n: start + opening * n + inner + closing * n + end


def _xml(text: bytes) -> bytes:
    return _RDF + b"<e:C>" + text + b"</e:C></rdf:RDF>"


def _bomb(count: int) -> bytes:
    entities = b"".join(
        b'<!ENTITY a%d "%s">' % (i + 1, b"&a%d;" % i * 10) for i in range(min(count, 30))
    )
    types = b'<!DOCTYPE rdf:RDF [<!ENTITY a0 "aaaaaaaaaa">' + entities + b"]>"
    return types + _xml(b"<e:p>&a%d;</e:p>" % min(count, 30))


_TERM = _nested(b"<a:s> <a:p> ", b"<<( <a:s> <a:p> ", b"<a:o>", b" )>>", b" .\n")

#: Attacks by name: the ending of the file, and the document of a size.
ATTACKS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    **{f"triple terms {ending}": (ending, _TERM) for ending in ("nt", "nq", "ttl", "n3")},
    "triple terms trig": (
        "trig",
        _nested(b"<a:g> { <a:s> <a:p> ", b"<<( <a:s> <a:p> ", b"1", b" )>>", b" }"),
    ),
    "triple terms hidden by comments": (
        "ttl",
        _nested(b"<a:s> <a:p> ", b'<<( <a:s>#)>> " <<(\n<a:p>', b"<a:o>", b" )>>", b" ."),
    ),
    "triple terms in elements": (
        "rdf",
        _nested(
            _RDF, _TRIPLE, _ABOUT + b"<e:p>1</e:p></rdf:Description>",
            b"</e:p></rdf:Description>", b"</rdf:RDF>",
        ),
    ),
    "reifiers": ("ttl", _nested(b"<a:s> <a:p> ", b"<< ", b"<a:o>", b" <a:p> <a:q> >>", b" .")),
    "brackets": ("ttl", _nested(b"<a:s> <a:p> ", b"[ <a:p> ", b"1", b" ]", b" .")),
    "open brackets": ("ttl", lambda n: b"<a:s> <a:p> " + b"[ <a:p> " * n),
    "lists": ("trig", _nested(b"<a:s> <a:p> ", b"( ", b"1", b" )", b" .")),
    "formulas": ("n3", _nested(b"<a:s> <a:p> ", b"{ <a:s> <a:p> ", b"1", b" }", b" .")),
    "paths": ("n3", lambda n: b"<a:s> <a:p> <a:o>" + b"!<a:p>" * n + b" ."),
    "elements": ("rdf", _nested(_RDF, b"<e:C><e:p>", b"", b"</e:p></e:C>", b"</rdf:RDF>")),
    "elements in tags of comments": (
        "rdf",
        _nested(_RDF, b'<e:C e:x="</e:C>"><!-- </e:C> --><e:p>', b"", b"</e:p></e:C>", b"</rdf:RDF>"),
    ),
    "collections": (
        "rdf",
        _nested(_RDF, b'<e:C><e:p rdf:parseType="Collection">', b"", b"</e:p></e:C>", b"</rdf:RDF>"),
    ),
    "elements of XML literals": (
        "rdf",
        lambda n: _xml(b'<e:p rdf:parseType="Literal">' + b"<x>" * n + b"</x>" * n + b"</e:p>"),
    ),
    "namespaces": (
        "rdf",
        lambda n: _RDF + b"<e:C " + b" ".join(b'xmlns:n%d="a:"' % i for i in range(n)) + b"/></rdf:RDF>",
    ),
    "attributes": (
        "rdf",
        lambda n: _RDF + b"<e:C " + b" ".join(b'e:n%d="1"' % i for i in range(n)) + b"/></rdf:RDF>",
    ),
    "entities in entities": ("rdf", _bomb),
    "entities often used": (
        "rdf",
        lambda n: b'<!DOCTYPE a [<!ENTITY a "%s">]>' % (b"a" * 50_000)
        + _xml(b"<e:p>" + b"&a;" * n + b"</e:p>"),
    ),
    "a tag without an end": ("rdf", lambda n: _RDF + b"<e:C " + b"a" * 200 * n),
    "a comment without an end": ("rdf", lambda n: _RDF + b"<!--" + b"-" * 200 * n),
    "a text without an end": ("rdf", lambda n: _RDF + b"<e:C><e:p>" + b"x" * 200 * n),
    "objects": ("jsonld", lambda n: b'{"a:p":' * n + b"1" + b"}" * n),
    "arrays": ("jsonld", lambda n: b'{"a:p":' + b"[" * n + b"1" + b"]" * n + b"}"),
    "JSON lists": ("jsonld", lambda n: b'{"a:p":' + b'{"@list":[' * n + b"1" + b"]}" * n + b"}"),
    "contexts in contexts": (
        "jsonld",
        lambda n: b'{"@context":' + b'{"t":{"@id":"a:t","@context":' * n + b"{}" + b"}}" * n
        + b',"t":"x"}',
    ),
    "terms by terms": (
        "jsonld",
        lambda n: b'{"@context":{"t0":"a:t",'
        + b",".join(b'"t%d":"t%d:x"' % (i, i - 1) for i in range(n, 0, -1))
        + b'},"t1":"x"}',
    ),
    "terms by terms in disguise": (
        "jsonld",
        lambda n: b'{"\\u0040context":{"t0":"a:t",'
        + b",".join(b'"t%d":"t%d:x"' % (i, i - 1) for i in range(n, 0, -1))
        + b'},"t1":"x"}',
    ),
    "a context elsewhere": ("jsonld", lambda n: b'{"@context":"http://127.0.0.1:9/c","a:p":1}'),
    "prefixes": ("ttl", lambda n: b"".join(b"@prefix n%d: <a:> .\n" % i for i in range(n))),
    "a line without an end": ("nt", lambda n: b"\0" * 1_400 * n),
    "a string without an end": ("nt", lambda n: b'<a:s> <a:p> "' + b"x" * 200 * n),
    "a Turtle string without an end": ("ttl", lambda n: b'<a:s> <a:p> """' + b"x" * 200 * n),
    "a number without an end": ("ttl", lambda n: b"<a:s> <a:p> " + b"9" * 200 * n),
    "bomb nt.gz": ("nt.gz", lambda n: gzip.compress(b"\0" * 1_400 * n, 6)),
    "bomb nt.bz2": ("nt.bz2", lambda n: bz2.compress(b"\0" * 14_000 * min(n, 700)) * (1 + n // 6_000)),
    "bomb ttl.xz": ("ttl.xz", lambda n: lzma.compress(b'<a:s> <a:p> "' + b"x" * 200 * n, preset=0)),
}  # fmt: skip

#: Pieces that mean something to one parser or other.
TOKENS: list[bytes] = [
    b"<<( <a:s> <a:p> ", b")>>", b"<<", b">>", b"[", b"]", b"(", b")", b"{", b"}", b"{|", b"|}", b"<", b">",
    b'"', b"'", b'"""', b"'''", b"\\", b"\\u0000", b"\\uD800", b"\\U00110000", b"#", b".", b";", b",", b"^^", b"@",
    b"@prefix : <a:> .", b"@base <b:> .", b"BASE <", b"a", b"_:", b"_:b", b":", b"\0", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b"1e9999", b"-", b"=>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?x ?>",
    b'<!DOCTYPE a [<!ENTITY a "b">]>', b"&a;", b"&#0;", b"&#x110000;", b"&lt;", b"</", b"/>", b"xmlns:a='b'",
    b"rdf:parseType='Literal'", b"rdf:parseType='Triple'", b"rdf:parseType='Collection'", b"rdf:ID='a'",
    b'"@context"', b'"@id"', b'"@type"', b'"@list"', b'"@graph"', b'"@reverse"', b'"@included"', b'"@nest"',
    b'"@container"', b'"@index"', b'"@vocab"', b'"@base"', b'"@json"', b'"@value"', b'"@language"', b'"@import"',
    b'"@propagate":true', b'"@version":1.1', b"null", b"true", b"1E400", b"[[", b"]]", b"VERSION \"1.2\"", b"--ltr",
    b"@en", b"<http://a/\xc3\xa9>", b"\xf4\x90\x80\x80", b"@forAll", b"!", b"^", b"<-", b"is a of",
    b"</e:x>", b"<q:z></q:z>", b"<rdf:Description></e:x>", b"<e:p rdf:parseType='Triple'></e:x>",
]  # fmt: skip


def mutated(choose: random.Random, seeds: list[bytes]) -> bytes:
    """A mutation of one or two documents by a few changes, some repeated many times."""
    data = bytearray(choose.choice(seeds))
    for _ in range(choose.choice([1, 1, 2, 3, 5, 10])):
        at = choose.randrange(len(data) + 1)
        to = min(len(data), at + choose.choice([1, 1, 2, 5, 20, 100, 1000]))
        kind = choose.randrange(9)
        if kind == 0:
            data[at:to] = b""
        elif kind == 1:
            data[at:at] = choose.choice(TOKENS)
        elif kind == 2:
            data[at:to] = bytes(data[at:to]) * choose.choice([2, 3, 10, 300, 3000])
        elif kind == 3 and at < len(data):
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 4:
            other = choose.choice(seeds)
            start = choose.randrange(len(other) + 1)
            data[at:at] = other[start : start + choose.choice([10, 100, 1000])]
        elif kind == 5:
            data[at:at] = choose.choice(TOKENS) * choose.choice([2, 10, 150, 5_000])
        elif kind == 6:
            del data[at:]
        elif kind == 7:
            data[at:to] = b"".join(choose.sample(TOKENS, 4))
        elif words := list(re.finditer(rb"[\w:@/#.]+", data)):
            one, two = choose.choice(words), choose.choice(words)
            data[one.start() : one.end()] = bytes(two[0])
        del data[400_000:]
    return bytes(data)


class Worker:
    """A process that loads documents on request; it is started again after its end."""

    def __init__(self, folder: Path, memory: int, seconds: float) -> None:
        self._folder = folder
        self._memory = memory
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def load(self, data: bytes | Path, ending: str, large: bool, **options: Any) -> str:
        """The outcome of loading a document; `died` and `hangs` are failures."""
        path = self._folder / f"case.{ending}"
        if isinstance(data, Path):
            path = data
        else:
            path.write_bytes(data)
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"path": str(path), "large": large, **options}) + "\n")
        process.stdin.flush()
        answer = self._answer()
        if answer is None:
            return f"hangs: longer than {self._seconds} s"
        if not answer:
            return f"died {signal.Signals(-process.returncode).name}"
        said, _ = json.loads(answer)
        return str(said)

    def _answer(self) -> str | None:
        """A line; empty if the process ended, None if it takes too long (and is then ended)."""
        process = self._process
        assert process is not None and process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], self._seconds)
        line = process.stdout.readline() if ready else None
        if not line:
            if line is None:
                process.kill()
            self._end(process)
        return line

    def _end(self, process: subprocess.Popen[str]) -> None:
        with process:
            pass
        self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, "-m", "tests.loaders.hostile_worker", str(self._memory)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, bufsize=1,
                env={**os.environ, "MALLOC_ARENA_MAX": "2"},  # each thread would reserve 64 MB
            )  # fmt: skip
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._end(self._process)
