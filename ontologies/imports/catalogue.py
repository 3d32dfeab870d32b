"""Where imported ontologies are found: files, folders, OASIS catalogues, a mapping.

Start at `Catalogue` (one IRI) and `find_imports` (all that some ontologies import, step by step).
A place is searched in this order: the mapping, the catalogues, the names that the given files (or
files of given folders) give themselves, then `file:` IRIs. An IRI is fetched from the network only
with `network=True`. What is not found is listed with a reason; it is not an error.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen

from pyoxigraph import NamedNode, RdfFormat, parse

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError
from triplestore.ontologies.imports.oasis import CatalogueFile, is_catalogue
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.vocabulary import IMPORTS, ONTOLOGY, TYPE, VERSION_IRI
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.terms.guards.document_limits import USUAL
from triplestore.terms.guards.other_syntaxes import advice, other_syntax
from triplestore.terms.guards.parser_guard import Feed, guard_of
from triplestore.thread_limits import look

SUFFIXES: dict[str, RdfFormat] = {
    "ttl": RdfFormat.TURTLE,
    "n3": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "rdf": RdfFormat.RDF_XML,
    "owl": RdfFormat.RDF_XML,
    "xml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "trig": RdfFormat.TRIG,
    "nq": RdfFormat.N_QUADS,
}
SECONDS = 30.0
"""Maximum seconds to wait for the network."""

UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, zlib.error)


@data_class
class Document:
    """An ontology that was found.

    iri     under which it was asked for
    place   the file, or the address it was fetched from
    format  of its bytes
    data    its bytes, if they came from the network
    """

    iri: str
    place: str
    format: RdfFormat
    data: bytes | None = None

    def triples(self) -> list[Triple]:
        """Its triples. Raises ParseError if it is malformed, OSError if it cannot be read."""
        data = self.data or _bytes(Path(self.place))
        try:
            return list(_parsed(data, self.format, self.iri))
        except SyntaxError as error:
            syntax = other_syntax(data)
            message = str(error.msg) if syntax is None else advice(syntax, self.place)
            line = error.lineno if syntax is None else None
            raise ParseError(message, filename=self.place, line=line) from None


@data_class
class Unresolved:
    """An import that was not found, or could not be read, and why."""

    iri: str
    reason: str


@data_class
class Imports:
    """All that is imported, directly or not: in the order in which it was asked for."""

    documents: tuple[Document, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


class Catalogue:
    """Finds the documents of ontologies by their IRIs.

    sources  ontology files, folders of them (with subfolders), OASIS catalogue files
    mapping  IRI -> file
    network  whether an IRI that is not found may be fetched by HTTP

    Files are read when nothing else resolves an IRI, each at most once and only until its name is
    found. An IRI is the same with and without `#` at its end.
    """

    def __init__(
        self,
        *sources: str | Path,
        mapping: Mapping[str, str | Path] | None = None,
        network: bool = False,
    ) -> None:
        self._network = network
        self._mapping = {_plain(iri): str(file) for iri, file in (mapping or {}).items()}
        self._catalogues: list[CatalogueFile] = []
        self._files: list[Path] = []
        for source in sources:
            self._add(Path(source))
        self._names: dict[str, Path] | None = None
        self._unread: list[str] = []

    def _add(self, source: Path) -> None:
        named, source = source, source.absolute()  # file: IRIs have absolute paths
        if source.is_dir():
            for file in sorted(source.rglob("*")):
                if is_catalogue(file):
                    self._catalogues.append(CatalogueFile(file))
                elif file.is_file() and _suffix(file) in SUFFIXES:
                    self._files.append(file)
        elif not source.is_file():
            raise UsageError(f"{named} is neither a file nor a folder; name one that exists")
        elif is_catalogue(source):
            self._catalogues.append(CatalogueFile(source))
        else:
            self._files.append(source)

    def find(self, iri: str | NamedNode) -> Document | Unresolved:
        """The document of an ontology, or the reason why it is not found."""
        name = iri.value if isinstance(iri, NamedNode) else iri
        place = self._place(name)
        if place is None:
            return self._not_found(name)
        if urlsplit(place).scheme in ("http", "https"):
            return self._fetched(name, place)
        file = _file_of(place)
        if not file.is_file():
            return Unresolved(name, f"it should be {file}, which is not there")
        return Document(name, str(file), _format(file))

    def _place(self, iri: str) -> str | None:
        """Where to look: a path or an address."""
        plain = _plain(iri)
        if plain in self._mapping:
            return self._mapping[plain]
        for catalogue in self._catalogues:
            for name in (iri, plain, plain + "#"):
                place = catalogue.resolve(name)
                if place is not None:
                    return place
        known = self._known_names().get(plain)
        if known is not None:
            return str(known)
        if urlsplit(iri).scheme == "file":
            return iri
        return None

    def _known_names(self) -> dict[str, Path]:
        """The names that files give themselves; the first file keeps a name."""
        if self._names is None:
            self._names = {}
            for file in self._files:
                try:
                    for name in _names_in(file):
                        self._names.setdefault(_plain(name), file)
                except UNREADABLE as error:
                    self._unread.append(f"{file} ({error})")
        return self._names

    def _not_found(self, iri: str) -> Document | Unresolved:
        if self._network and urlsplit(iri).scheme in ("http", "https"):
            return self._fetched(iri, iri)
        reason = "no file or catalogue given has it"
        if self._unread:
            reason += f"; not readable: {', '.join(self._unread[:3])}"
        return Unresolved(iri, reason)

    def _fetched(self, iri: str, address: str) -> Document | Unresolved:
        if not self._network:
            return Unresolved(iri, f"it is at {address}, and the network is not allowed")
        accept = "text/turtle, application/rdf+xml;q=0.9, application/n-triples;q=0.8"
        request = Request(address, headers={"Accept": accept})
        try:
            with urlopen(request, timeout=SECONDS) as response:
                data = response.read(ONTOLOGIES.document_bytes + 1)
                media = response.headers.get_content_type()
        except (OSError, ValueError) as error:
            return Unresolved(iri, f"{address} could not be fetched: {error}")
        if len(data) > ONTOLOGIES.document_bytes:
            return Unresolved(iri, f"{address} has more than {ONTOLOGIES.document_bytes} bytes")
        format = RdfFormat.from_media_type(media) or _sniffed(data, RdfFormat.TURTLE)
        return Document(iri, address, format, data)


def find_imports(imports: Iterable[str | NamedNode], catalogue: Catalogue) -> Imports:
    """The imported ontologies, directly or indirectly; each once, also with cycles.

    imports  IRIs, as `Ontology.imports` has them

    >>> find_imports([NamedNode("http://example.org/wine")], Catalogue()).unresolved
    (Unresolved(iri='http://example.org/wine', reason='no file or catalogue given has it'),)
    """
    documents: list[Document] = []
    unresolved: list[Unresolved] = []
    seen: set[str] = set()
    places: set[str] = set()
    waiting = [iri.value if isinstance(iri, NamedNode) else iri for iri in imports]
    for iri in waiting:  # grows during the loop
        if _plain(iri) in seen:
            continue
        seen.add(_plain(iri))
        found = catalogue.find(iri)
        if isinstance(found, Document) and found.place not in places:
            places.add(found.place)
            try:
                triples = found.triples()
            except UNREADABLE as error:
                unresolved.append(Unresolved(iri, f"{found.place} could not be read: {error}"))
                continue
            documents.append(found)
            waiting.extend(
                value.value
                for _, predicate, value in triples
                if predicate == IMPORTS and isinstance(value, NamedNode)
            )
        elif isinstance(found, Unresolved):
            unresolved.append(found)
    return Imports(tuple(documents), tuple(unresolved))


def _plain(iri: str) -> str:
    """An IRI without `#` at its end: OWL 1 files wrote either."""
    return iri.removesuffix("#")


def _suffix(file: Path) -> str:
    return file.name.removesuffix(".gz").rpartition(".")[2].lower()


def _format(file: Path) -> RdfFormat:
    """The format of a file by its name, and by its first bytes where many call all `.owl`."""
    named = SUFFIXES.get(_suffix(file), RdfFormat.TURTLE)
    if named is not RdfFormat.RDF_XML and _suffix(file) in SUFFIXES:
        return named
    return _sniffed(_bytes(file, 1024), RdfFormat.TURTLE)


def _sniffed(data: bytes, otherwise: RdfFormat) -> RdfFormat:
    """RDF/XML if it begins like XML."""
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    is_xml = start.startswith((b"<?xml", b"<rdf:", b"<!--", b"<!DOCTYPE", b"\xff\xfe", b"\xfe\xff"))
    return RdfFormat.RDF_XML if is_xml else otherwise


def _bytes(file: Path, most: int = -1) -> bytes:
    if file.suffix == ".gz":
        with gzip.open(file) as stream:
            data = stream.read(most if most >= 0 else ONTOLOGIES.document_bytes + 1)
        if len(data) > ONTOLOGIES.document_bytes:
            raise ParseError(
                f"expected at most {ONTOLOGIES.document_bytes:,} bytes", filename=str(file)
            )
        return data
    with file.open("rb") as stream:
        return stream.read(most)


def _parsed(data: bytes, format: RdfFormat, base: str) -> Iterator[Triple]:
    feed = Feed(data, guard_of(format, USUAL), look)
    for quad in parse(cast(Any, feed), format=format, base_iri=base):
        yield quad.subject, quad.predicate, quad.object


def _names_in(file: Path) -> Iterator[str]:
    """The names and version of the first ontology in a file, as soon as they are found."""
    first = None
    for subject, predicate, value in _parsed(_bytes(file), _format(file), file.as_uri()):
        if predicate == TYPE and value == ONTOLOGY and isinstance(subject, NamedNode):
            first = first or subject
            yield subject.value
        elif predicate == VERSION_IRI and isinstance(value, NamedNode):
            yield value.value
        elif first is not None and subject != first:
            break


def _file_of(place: str) -> Path:
    parts = urlsplit(place)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(place)
