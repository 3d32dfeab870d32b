"""OASIS XML catalogues, as ontology editors write them (`catalog-v001.xml`).

Start at `CatalogueFile`. It understands `uri`, `rewriteURI`, `group`, `nextCatalog`, and `system`
and `rewriteSystem` like the first two; everything else is skipped.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree

from triplestore.errors import ParseError

NAMESPACE = "{urn:oasis:names:tc:entity:xmlns:xml:catalog}"
BASE = "{http://www.w3.org/XML/1998/namespace}base"
NAMES = {"uri": "name", "system": "systemId"}
REWRITES = {"rewriteURI": "uriStartString", "rewriteSystem": "systemIdStartString"}


def is_catalogue(file: Path) -> bool:
    """Whether a file is an OASIS catalogue, by its root element."""
    if file.suffix != ".xml" or not file.is_file():
        return False
    with file.open("rb") as stream:
        start = stream.read(4096)
    return b"<catalog" in start and b"oasis:names:tc:entity" in start


class CatalogueFile:
    """The entries of a catalogue file and of those it continues in.

    Relative places count from the catalogue's folder, or from `xml:base`. Raises ParseError if the
    file is malformed.
    """

    def __init__(self, file: Path, seen: set[Path] | None = None) -> None:
        self._uris: dict[str, str] = {}
        self._rewrites: list[tuple[str, str]] = []
        self._next: list[CatalogueFile] = []
        self._seen = seen if seen is not None else set()
        self._seen.add(file.resolve())
        try:
            root = ElementTree.parse(file).getroot()
        except ElementTree.ParseError as error:
            line, column = error.position
            raise ParseError(
                f"not an XML catalogue: {error}",
                filename=str(file),
                line=line,
                column=column + 1,
            ) from error
        self._read(root, file.resolve().as_uri())

    def resolve(self, iri: str) -> str | None:
        """The place of an IRI (a `file:` or other address), or None."""
        if iri in self._uris:
            return self._uris[iri]
        rewrites = [pair for pair in self._rewrites if iri.startswith(pair[0])]
        if rewrites:
            start, prefix = max(rewrites, key=lambda pair: len(pair[0]))
            return prefix + iri[len(start) :]
        places = (catalogue.resolve(iri) for catalogue in self._next)
        return next((place for place in places if place is not None), None)

    def _read(self, element: ElementTree.Element, base: str) -> None:
        base = urljoin(base, element.get(BASE, ""))
        for child in element:
            kind = str(child.tag).removeprefix(NAMESPACE)
            here = urljoin(base, child.get(BASE, ""))
            if kind == "group":
                self._read(child, base)
            elif kind in NAMES:
                self._uris.setdefault(
                    child.get(NAMES[kind], ""), urljoin(here, child.get("uri", ""))
                )
            elif kind in REWRITES:
                prefix = urljoin(here, child.get("rewritePrefix", ""))
                self._rewrites.append((child.get(REWRITES[kind], ""), prefix))
            elif kind == "nextCatalog":
                self._continue(urljoin(here, child.get("catalog", "")))

    def _continue(self, place: str) -> None:
        """Read a further catalogue, if it was not read yet."""
        parts = urlsplit(place)
        file = Path(url2pathname(parts.path))
        if parts.scheme == "file" and file.is_file() and file.resolve() not in self._seen:
            self._next.append(CatalogueFile(file, self._seen))
