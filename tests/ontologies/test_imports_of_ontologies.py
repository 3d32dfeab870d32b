"""Imports: where they are looked for, and that nothing is fetched unless allowed."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, RdfFormat

from triplestore import Store
from triplestore.errors import ParseError, UsageError
from triplestore.ontologies.imports import catalogue as catalogue_module
from triplestore.ontologies.imports.catalogue import Catalogue, Document, Unresolved, find_imports
from triplestore.ontologies.thresholds import ONTOLOGIES

OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
E = "http://example.org/"


def ontology(name: str, *imports: str) -> str:
    lines = "".join(f"<{E}{name}> owl:imports <{E}{other}> .\n" for other in imports)
    return f"{OWL}<{E}{name}> a owl:Ontology .\n{lines}<{E}C{name}> a owl:Class ."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ontologies a -> b -> c -> a and b -> missing, in files of other names."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.ttl").write_text(ontology("a", "b"))
    (tmp_path / "deep" / "two.owl").write_text(ontology("b", "c", "missing"))
    (tmp_path / "three.ttl.gz").write_bytes(gzip.compress(ontology("c", "a").encode()))
    (tmp_path / "notes.txt").write_text("not an ontology")
    return tmp_path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(catalogue_module, "urlopen", refuse)


def found(
    iri: str, *sources: Path, mapping: Mapping[str, Path] | None = None, network: bool = False
) -> str:
    """The name of the file an IRI leads to, or the reason why there is none."""
    result = Catalogue(*sources, mapping=mapping, network=network).find(E + iri)
    return Path(result.place).name if isinstance(result, Document) else result.reason


def test_find__by_the_name_a_file_has_for_itself(folder: Path, no_network: None) -> None:
    assert found("a", folder) == "one.ttl"
    assert found("b", folder) == "two.owl"
    assert found("c", folder) == "three.ttl.gz"
    assert found("a", folder / "one.ttl") == "one.ttl"
    assert found("b", folder / "one.ttl") == "no file or catalogue given has it"


def test_find__by_its_version(tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    file.write_text(f"{OWL}<{E}o> a owl:Ontology ; owl:versionIRI <{E}o/1> .")
    assert found("o/1", file) == "o.ttl"


def test_find__with_and_without_a_hash_at_the_end(folder: Path) -> None:
    assert found("a#", folder) == "one.ttl"
    (folder / "four.ttl").write_text(ontology("d#"))
    assert found("d", folder) == "four.ttl"
    assert found("x", mapping={f"{E}x#": folder / "one.ttl"}) == "one.ttl"


def test_find__takes_the_mapping_first(folder: Path) -> None:
    assert found("a", folder, mapping={f"{E}a": folder / "notes.txt"}) == "notes.txt"
    assert "not there" in found("a", folder, mapping={f"{E}a": folder / "gone.ttl"})


def test_find__a_file_iri_is_the_file(folder: Path) -> None:
    document = Catalogue().find((folder / "one.ttl").as_uri())
    assert isinstance(document, Document)
    assert document.place == str(folder / "one.ttl")
    assert len(document.triples()) == 3


def test_find__names_files_it_could_not_read(tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("this is not turtle")
    assert "bad.ttl" in found("a", tmp_path)


def test_format__of_files_that_are_all_called_owl(tmp_path: Path) -> None:
    xml = f'<?xml version="1.0"?><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Ontology r:about="{E}x"/></r:RDF>'
    (tmp_path / "x.owl").write_text(xml)
    (tmp_path / "y.owl").write_text(ontology("y"))
    for name, format in (("x", RdfFormat.RDF_XML), ("y", RdfFormat.TURTLE)):
        document = Catalogue(tmp_path).find(E + name)
        assert isinstance(document, Document)
        assert document.format == format


def test_sources__that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        Catalogue(tmp_path / "gone")


def test_find_imports__all_the_way_with_circles(folder: Path, no_network: None) -> None:
    imports = find_imports([NamedNode(f"{E}b")], Catalogue(folder))
    assert [document.iri for document in imports.documents] == [f"{E}b", f"{E}c", f"{E}a"]
    assert imports.unresolved == (
        Unresolved(f"{E}missing", "no file or catalogue given has it"),
    )  # fmt: skip


def test_find_imports__of_a_malformed_file_are_unresolved(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text("this is not turtle")
    imports = find_imports([f"{E}a", f"{E}b"], Catalogue(mapping={f"{E}a": bad, f"{E}b": "gone"}))
    assert imports.documents == ()
    assert [unresolved.iri for unresolved in imports.unresolved] == [f"{E}a", f"{E}b"]
    assert "could not be read" in imports.unresolved[0].reason


def test_find_imports__of_hostile_files_are_unresolved(tmp_path: Path) -> None:
    """As deep as this, a parser could still bear it; ten times as deep would end the process."""
    rdf = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="a:">'
    bombs = {
        "deep.ttl": "<a:s> <a:p> " + "<<( <a:s> <a:p> " * 500 + "1" + " )>>" * 500 + " .",
        "deep.rdf": rdf + "<e:C><e:p>" * 800 + "</e:p></e:C>" * 800 + "</rdf:RDF>",
        "deep.jsonld": '{"a:p":' * 500 + "1" + "}" * 500,
    }
    for name, text in bombs.items():
        (tmp_path / name).write_text(text)
        imports = find_imports(["a:x"], Catalogue(mapping={"a:x": tmp_path / name}))
        assert imports.documents == ()
        assert re.search("nested at most [0-9,]+ deep", imports.unresolved[0].reason)


def test_find_imports__of_what_a_compressed_file_becomes_has_a_limit(
    tmp_path: Path, tune: Callable[..., None]
) -> None:
    tune(ONTOLOGIES, document_bytes=1_000)
    (tmp_path / "a.ttl.gz").write_bytes(gzip.compress(b"#" * 100_000))
    imports = find_imports(["a:x"], Catalogue(mapping={"a:x": tmp_path / "a.ttl.gz"}))
    assert "at most 1,000 bytes" in imports.unresolved[0].reason


def test_find_imports__lists_what_is_missing_once(folder: Path) -> None:
    imports = find_imports([f"{E}x", f"{E}x#", f"{E}b", f"{E}missing"], Catalogue(folder))
    assert [unresolved.iri for unresolved in imports.unresolved] == [f"{E}x", f"{E}missing"]


def test_find_imports__of_one_file_by_two_names_reads_it_once(folder: Path) -> None:
    mapping = {f"{E}x": folder / "one.ttl", f"{E}b": folder / "deep" / "two.owl"}
    imports = find_imports([f"{E}x", f"{E}a"], Catalogue(folder, mapping=mapping))
    assert [Path(document.place).name for document in imports.documents].count("one.ttl") == 1


# --- OASIS catalogues ----------------------------------------------------------------------------

CATALOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<catalog prefer="public" xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
  <group id="Folder" prefer="public" xml:base="deep/">
    <uri id="x" name="http://example.org/by-group" uri="two.owl"/>
  </group>
  <uri name="http://example.org/by-name" uri="one.ttl"/>
  <uri name="http://example.org/by-hash#" uri="one.ttl"/>
  <system systemId="http://example.org/by-system" uri="one.ttl"/>
  <rewriteURI uriStartString="http://example.org/lib/" rewritePrefix="./"/>
  <rewriteURI uriStartString="http://example.org/lib/d/" rewritePrefix="deep/"/>
  <uri name="http://example.org/by-own-base" xml:base="deep/" uri="two.owl"/>
  <uri name="http://example.org/away" uri="http://example.com/elsewhere"/>
  <public publicId="-//X" uri="nothing"/>
  <nextCatalog catalog="more.xml"/>
  <nextCatalog catalog="gone.xml"/>
</catalog>
"""
MORE = """<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
  <uri name="http://example.org/by-next" uri="three.ttl.gz"/>
  <uri name="http://example.org/by-name" uri="three.ttl.gz"/>
  <nextCatalog catalog="catalog-v001.xml"/>
</catalog>
"""


@pytest.fixture
def with_catalogue(folder: Path) -> Path:
    (folder / "catalog-v001.xml").write_text(CATALOGUE)
    (folder / "more.xml").write_text(MORE)
    return folder


@pytest.mark.parametrize(
    ("iri", "place"),
    [
        ("by-name", "one.ttl"),
        ("by-hash", "one.ttl"),
        ("by-hash#", "one.ttl"),
        ("by-system", "one.ttl"),
        ("by-group", "two.owl"),
        ("lib/one.ttl", "one.ttl"),
        ("lib/d/two.owl", "two.owl"),
        ("by-own-base", "two.owl"),
        ("by-next", "three.ttl.gz"),
        ("none", "no file or catalogue given has it"),
    ],
)
def test_catalogue_file__resolves(with_catalogue: Path, iri: str, place: str) -> None:
    assert found(iri, with_catalogue / "catalog-v001.xml") == place


def test_catalogue_file__is_found_in_a_folder(with_catalogue: Path) -> None:
    assert found("by-name", with_catalogue) == "one.ttl"
    assert found("a", with_catalogue) == "one.ttl"


def test_catalogue_file__does_not_open_the_network(with_catalogue: Path, no_network: None) -> None:
    reason = found("away", with_catalogue)
    assert "http://example.com/elsewhere" in reason
    assert "not allowed" in reason


def test_catalogue_file__that_is_malformed_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "catalog.xml"
    file.write_text('<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">\n<uri>')
    with pytest.raises(ParseError, match=r"catalog\.xml:2:"):
        Catalogue(file)


# --- Relative paths, and imports of loaded data ---------------------------------------------------


@pytest.mark.parametrize("place", ["deep/two.owl", "deep", ".", "catalog.xml", "./deep/../deep"])
def test_reason__finds_imports_in_relative_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(folder)
    Path("catalog.xml").write_text(
        f'''<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
        <uri name="{E}b" uri="deep/two.owl"/></catalog>'''
    )
    store = Store()
    report = store.reason("owl-rl", ontology="one.ttl", imports=[place])
    assert all(not one.startswith(f"{E}b:") for one in report.unresolved)
    assert NamedNode(f"{E}b") in [*store.named_graphs()]


def unresolved(store: Store) -> list[str]:
    return [one.partition(": ")[0] for one in store.reason("owl-rl").unresolved]


def test_reason__says_which_imports_of_the_data_are_missing() -> None:
    store = Store()
    store.load(ontology("a", "b", "c#"), "ttl")
    store.load(ontology("d", "e"), "ttl", to_graph=NamedNode(f"{E}graph"))
    assert unresolved(store) == [f"{E}b", f"{E}c#", f"{E}e"]
    assert "not imported" in str(store.reason("owl-rl"))
    store.load(ontology("c"), "ttl")
    assert unresolved(store) == [f"{E}b", f"{E}e"]
    store.load(f"{OWL}<{E}x> a owl:Ontology ; owl:versionIRI <{E}b> .", "ttl")
    store.load("<http://e/s> <http://e/p> 1 .", "ttl", to_graph=NamedNode(f"{E}e"))
    assert unresolved(store) == []


def test_reason__names_an_import_once(folder: Path) -> None:
    store = Store()
    store.load(ontology("a", "missing"), "ttl")
    report = store.reason("owl-rl", ontology=folder / "deep" / "two.owl")
    assert [one.partition(": ")[0] for one in report.unresolved].count(f"{E}missing") == 1


# --- The network ---------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """Serves `/a` as Turtle; nothing else."""

    def do_GET(self) -> None:
        if self.path != "/a":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/turtle; charset=utf-8")
        self.end_headers()
        self.wfile.write(ontology("a").encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_network__is_asked_only_if_allowed(server: str) -> None:
    assert isinstance(Catalogue().find(f"{server}/a"), Unresolved)
    imports = find_imports([f"{server}/a", f"{server}/b"], Catalogue(network=True))
    (document,) = imports.documents
    assert document.format == RdfFormat.TURTLE
    assert len(document.triples()) == 2
    assert "404" in imports.unresolved[0].reason


def test_network__is_not_asked_for_other_schemes(no_network: None) -> None:
    for iri in ("urn:x:y", "ftp://example.org/x", "mailto:x"):
        assert isinstance(Catalogue(network=True).find(iri), Unresolved)


def test_find_imports__in_real_folders(shared_data: Path, no_network: None) -> None:
    catalogue = Catalogue(shared_data / "owl-real" / "ssn" / "ontology")
    imports = find_imports(["http://www.w3.org/ns/ssn/"], catalogue)
    assert len(imports.documents) == 7
    assert imports.unresolved == ()
