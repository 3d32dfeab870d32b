"""Terms as short text with prefixes, for a model to read and to write back.

Start at `ShortNames`. Namespaces that the store has no prefix for get one of their own, so that
answers are short; it stays the same while the server runs, and queries may use it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import pyoxigraph as ox

from triplestore.browse.term_data import USUAL_PREFIXES
from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.terms import Term

_NAMESPACE = re.compile(r"[^\s<>\"{}|\\^`]+[/#]")
_WRITTEN_IRI = re.compile(r"<([^<>\"{}|\\^`\s]+)>")
_KNOWN = {
    "http://schema.org/": "schema",
    "https://schema.org/": "schema",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://www.w3.org/ns/shacl#": "sh",
    "http://www.w3.org/ns/prov#": "prov",
    "http://www.opengis.net/ont/geosparql#": "geo",
}
_CUT = " […]"
_JSON_TEXT = 300


class MadePrefixes:
    """Prefixes for namespaces without one.

    >>> made = MadePrefixes()
    >>> made.add(["http://ex.org/onto/univ-bench.owl#", "http://xmlns.com/foaf/0.1/"], {"p": "x:"})
    >>> made.prefixes
    {'univ-bench': 'http://ex.org/onto/univ-bench.owl#', 'foaf': 'http://xmlns.com/foaf/0.1/'}
    """

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, namespaces: Iterable[str], known: Mapping[str, str]) -> None:
        """Make a prefix for each namespace that has none."""
        with self._lock:
            for namespace in namespaces:
                taken = {**known, **self.prefixes}
                if namespace in taken.values():
                    continue
                name = base = _KNOWN.get(namespace) or _base_name(namespace)
                number = 1
                while name in taken:
                    number += 1
                    name = f"{base}{number}"
                # Replaced, not changed: others may be reading it.
                self.prefixes = {**self.prefixes, name: namespace}


def namespace_of(iri: str) -> str | None:
    """An IRI up to its last `/` or `#`.

    >>> namespace_of("http://ex.org/onto#Person"), namespace_of("urn:x")
    ('http://ex.org/onto#', None)
    """
    match = _NAMESPACE.match(iri)
    return None if match is None or match[0].endswith("://") else match[0]


class ShortNames:
    """Writes terms, and remembers which prefixes they need.

    >>> names = ShortNames({"ex": "http://ex.org/", "p": "http://p.org/"})
    >>> names.text(ox.NamedNode("http://ex.org/ada")), names.text(ox.Literal("a\\nb"))
    ('ex:ada', '"a\\\\nb"')
    >>> names.header()
    'prefixes: ex: <http://ex.org/>'
    """

    def __init__(self, *prefixes: Mapping[str, str]) -> None:
        self.prefixes: dict[str, str] = dict(USUAL_PREFIXES)
        for some in prefixes:
            self.prefixes.update(some)
        self._namer = Namer(self.prefixes)

    def text(self, term: Term | None, most: int | None = None) -> str:
        """A term as in Turtle, an unbound one as an empty text, a long one cut after `most`."""
        if term is None:
            return ""
        text = self._namer.term(Constant.of(term))
        return text if most is None or len(text) <= most else text[: most - len(_CUT)] + _CUT

    def iri(self, iri: str) -> str:
        """An IRI."""
        return self._namer.iri(iri)

    def shortened(self, text: str) -> str:
        """A text in which IRIs between `<` and `>` become prefixed names.

        >>> ShortNames({"ex": "http://ex.org/"}).shortened("<http://ex.org/A>[<urn:x>]")
        'ex:A[<urn:x>]'
        """
        return _WRITTEN_IRI.sub(lambda match: self.iri(match[1]), text)

    def json_text(self, term: Mapping[str, Any]) -> str:
        """A term in the form of SPARQL's JSON results."""
        return self.text(_term_of(term), _JSON_TEXT)

    @property
    def used(self) -> dict[str, str]:
        """The prefixes of what was written."""
        return {name: self.prefixes[name] for name in sorted(self._namer.used)}

    def header(self) -> str:
        """A line with the prefixes of what was written; empty without any."""
        listed = "  ".join(f"{name}: <{iri}>" for name, iri in self.used.items())
        return f"prefixes: {listed}" if listed else ""

    def triple(self, text: str) -> ox.Triple | None:
        """A triple written as in Turtle; None for another text.

        >>> print(ShortNames({"ex": "http://ex.org/"}).triple("ex:a a ex:B"))
        <http://ex.org/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/B>
        """
        found = self._parsed(f"{text.strip().rstrip('.')} .")
        return found[0] if found is not None and len(found) == 1 else None

    def term(self, text: str) -> Term:
        """A term written as in Turtle; an IRI may also come without `<` and `>`."""
        text = text.strip()
        subject = ox.NamedNode("x:s")
        for spelt in (text, f"<{text}>"):
            found = self._parsed(f"{subject} <x:p> {spelt} .")
            if found is not None and len(found) == 1 and found[0].subject == subject:
                return found[0].object
        raise UsageError(
            f"{text!r} is not a term: write <http://example.org/a>, a prefixed name with one of "
            f"the prefixes {', '.join(f'{name}:' for name in sorted(self.prefixes))}, or a literal"
        )

    def _parsed(self, turtle: str) -> list[ox.Triple] | None:
        declared = "".join(f"@prefix {n}: <{iri}> .\n" for n, iri in self.prefixes.items())
        try:
            return [quad.triple for quad in ox.parse(declared + turtle, ox.RdfFormat.TURTLE)]
        except (SyntaxError, ValueError):
            return None


def _term_of(term: Mapping[str, Any]) -> Term:
    kind, value = term["type"], term["value"]
    if kind == "uri":
        return ox.NamedNode(value)
    if kind == "bnode":
        return ox.BlankNode(value)
    if kind == "triple":
        parts: Any = [_term_of(value[name]) for name in ("subject", "predicate", "object")]
        return ox.Triple(*parts)
    datatype = term.get("datatype")
    return ox.Literal(
        value,
        language=term.get("xml:lang"),
        datatype=None if datatype is None else ox.NamedNode(datatype),
    )


def _base_name(namespace: str) -> str:
    """A short name from the end of a namespace."""
    parts = [part for part in re.split(r"[/#]", namespace.partition("://")[2]) if part]
    for part in reversed(parts):
        name = re.sub(r"\.(owl|rdf|ttl|org|com|net|edu|xml)$", "", part.lower()).rpartition("www.")[
            2
        ]
        name = re.sub(r"[^a-z0-9-]+", "-", name).strip("-")
        if re.fullmatch(r"[a-z][a-z0-9-]{0,19}", name):
            return name
    return "ns"
