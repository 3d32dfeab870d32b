"""The known formats and compressions, and how a file's name or first bytes show them.

Start at `format_of` (a name, an `RdfFormat`, an extension) and `split_name` (a path). Formats are
pyoxigraph's; the names are the values of `--format`.
"""

from __future__ import annotations

from pathlib import PurePath

import pyoxigraph as ox

from triplestore.errors import UsageError

#: The names of each format; messages use the first one.
NAMES: dict[str, ox.RdfFormat] = {
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "nt": ox.RdfFormat.N_TRIPLES,
    "n-triples": ox.RdfFormat.N_TRIPLES,
    "nquads": ox.RdfFormat.N_QUADS,
    "nq": ox.RdfFormat.N_QUADS,
    "n-quads": ox.RdfFormat.N_QUADS,
    "turtle": ox.RdfFormat.TURTLE,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "rdf": ox.RdfFormat.RDF_XML,
    "xml": ox.RdfFormat.RDF_XML,
    "rdf/xml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
    "json-ld": ox.RdfFormat.JSON_LD,
    "n3": ox.RdfFormat.N3,
}

#: The extensions that directories and globs are searched for.
EXTENSIONS: dict[str, ox.RdfFormat] = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ntriples": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".nquads": ox.RdfFormat.N_QUADS,
    ".ttl": ox.RdfFormat.TURTLE,
    ".turtle": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".rdfs": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
    ".n3": ox.RdfFormat.N3,
}

#: The extensions of tables, with the delimiters of those that are text; see `tabular`.
TABLE_EXTENSIONS: dict[str, str | None] = {
    ".csv": ",",
    ".tsv": "\t",
    ".tab": "\t",
    ".psv": "|",
    ".parquet": None,
    ".pq": None,
    ".arrow": None,
    ".arrows": None,
    ".feather": None,
    ".ipc": None,
}

COMPRESSIONS: dict[str, str] = {
    ".gz": "gzip",
    ".gzip": "gzip",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".lzma": "xz",
    ".zst": "zstd",
    ".zstd": "zstd",
}

_MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
MAGIC_BYTES = max(map(len, _MAGIC))
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors write before UTF-8; it is not part of the text."""

LINE_FORMATS = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)


def format_of(given: ox.RdfFormat | str) -> ox.RdfFormat:
    """The format meant by an `RdfFormat`, a name, an extension or a media type.

    >>> format_of("ttl"), format_of(".nq"), format_of("application/rdf+xml")
    (<RdfFormat Turtle>, <RdfFormat N-Quads>, <RdfFormat RDF/XML>)
    """
    if isinstance(given, ox.RdfFormat):
        return given
    wanted = given.strip().lower()
    found = NAMES.get(wanted) or EXTENSIONS.get(wanted if wanted[:1] == "." else f".{wanted}")
    if found is None and "/" in wanted:
        found = ox.RdfFormat.from_media_type(wanted)
    if found is None:
        raise UsageError(
            f"{given!r} is not a known RDF format; give one of: {', '.join(known_names())}"
        )
    return found


def known_names() -> list[str]:
    """The name of each format in messages and help texts.

    >>> known_names()
    ['ntriples', 'nquads', 'turtle', 'trig', 'rdfxml', 'jsonld', 'n3']
    """
    names: dict[ox.RdfFormat, str] = {}
    for name, form in NAMES.items():
        names.setdefault(form, name)
    return list(names.values())


def split_name(path: str | PurePath) -> tuple[ox.RdfFormat | None, str | None]:
    """The format and the compression that a file's name shows; None if it shows none.

    >>> split_name("data/dump.nt.gz")
    (<RdfFormat N-Triples>, 'gzip')
    """
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    return (EXTENSIONS.get(suffixes[-1]) if suffixes else None), compression


def sniff_compression(first_bytes: bytes) -> str | None:
    """The compression that the first bytes of a file show, or None."""
    for magic, compression in _MAGIC.items():
        if first_bytes.startswith(magic):
            return compression
    return None
