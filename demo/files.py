"""Write the demo's files, in the usual formats of such data."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from pyoxigraph import RdfFormat, serialize

from demo.network import write_network
from demo.records import write_notices, write_register
from demo.thesaurus import write_thesaurus
from demo.vocabulary import PREFIXES, Writer

ONTOLOGY = Path(__file__).parent / "ontology.ttl"


def make_files(folder: Path) -> dict[str, Path]:
    """Write all files; returns them by content."""
    folder.mkdir(parents=True, exist_ok=True)
    network, stops, lines = write_network()
    files = {
        "ontology": folder / "ontology.ttl",
        "thesaurus": folder / "thesaurus.ttl",
        "network": folder / "network.nt.gz",
        "notices": folder / "notices.trig",
        "register": folder / "register.ttl",
    }
    shutil.copyfile(ONTOLOGY, files["ontology"])
    write(files["thesaurus"], write_thesaurus(), RdfFormat.TURTLE)
    write(files["network"], network, RdfFormat.N_TRIPLES)
    write(files["notices"], write_notices(stops, lines), RdfFormat.TRIG)
    write(files["register"], write_register(stops), RdfFormat.TURTLE)
    return files


def write(path: Path, made: Writer, format: RdfFormat) -> None:
    prefixes = None if format == RdfFormat.N_TRIPLES else PREFIXES
    quads = made.quads if format.supports_datasets else [quad.triple for quad in made.quads]
    text = serialize(quads, format=format, prefixes=prefixes)
    assert text is not None
    if prefixes:
        text = sort_prefixes(text)
    # Without a time in the gzip header, so that equal data are equal bytes.
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def sort_prefixes(text: bytes) -> bytes:
    """pyoxigraph writes prefixes in an order that differs from run to run."""
    lines = text.splitlines(keepends=True)
    count = sum(line.startswith(b"@prefix ") for line in lines)
    return b"".join(sorted(lines[:count]) + lines[count:])
