"""What the documents name exists: files, functions, links, packages and the arrows between them.

A reference is code of the form `folder/file.py` or `folder/file.py: Class.method`. It is looked up
from the document's own folder, from the repository, and from `triplestore/`. A lone `Class.method`
must be defined in one of the files that the document names. The ways of a commit, a deletion and a
change of rules call the functions that they name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

import pytest
from test_imports import BELOW_ALL, LAYERS

from triplestore import NamedNode, Quad, Store
from triplestore.terms.vocabulary import OWL, RDF_TYPE, RDFS

REPOSITORY = Path(__file__).resolve().parent.parent
ARCHITECTURE = REPOSITORY / "ARCHITECTURE.md"
FOLDERS = ("triplestore", "loaders", "ontologies", "bench", "demo", "examples", "tests", "docs")
GENERATED = "generated/"
"""Pages that `make docs` writes; `test_docs.py` checks the links to them."""
RESULTS = REPOSITORY / "bench" / "results"
"""Reports of benches are as of the day they were made, and are not checked."""

DOCUMENTS = sorted(
    path
    for path in [
        *REPOSITORY.glob("*.md"),
        *(path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.md")),
    ]
    if RESULTS not in path.parents
)
CODE = re.compile(r"`([\w./-]+\.(?:py|tsv|toml)|[\w./-]+/[\w-]+\.md)(?:: ([\w.]+))?`")
LONE = re.compile(r"`([A-Z]\w*[a-z]\w*\.[a-z_]\w*)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ARROW = re.compile(r"^ *([\w.]+) --> ([\w.]+)$", re.MULTILINE)
NOT_DRAWN = BELOW_ALL
"""Single modules, which are in the table of packages only."""


def without_blocks(text: str) -> str:
    """A document without its fenced blocks, which hold output and examples."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def found(name: str, document: Path, root: Path) -> Path | None:
    """The file of a reference."""
    for folder in (document.parent, root, root / "triplestore"):
        if (folder / name).is_file():
            return folder / name
    return None


@cache
def names_in(file: Path) -> frozenset[str]:
    """What a module defines at its top, and the members of its classes as `Class.member`."""
    names: set[str] = set()

    def add(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    names.add(prefix + node.name)
                case ast.ClassDef():
                    names.add(prefix + node.name)
                    add(node.body, f"{prefix}{node.name}.")
                case ast.Assign():
                    names.update(
                        prefix + target.id
                        for target in node.targets
                        if isinstance(target, ast.Name)
                    )
                case ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(prefix + name)

    add(ast.parse(file.read_text()).body, "")
    return frozenset(names)


def problems_of(text: str, document: Path, root: Path = REPOSITORY) -> list[str]:
    """What is wrong with the references and links of a document, each as a sentence."""
    text = without_blocks(text)
    where = document.relative_to(root)
    problems = []
    files = set()
    for name, member in CODE.findall(text):
        file = found(name, document, root)
        files.add(file)
        if file is None:
            problems.append(f"{where}: the file {name} does not exist")
        elif member and file.suffix == ".py" and member not in names_in(file):
            problems.append(f"{where}: {name} has no {member}")
    modules = [file for file in files if file is not None and file.suffix == ".py"]
    for member in LONE.findall(text) if modules else ():
        if not any(member in names_in(file) for file in modules):
            problems += [f"{where}: no file that it names has {member}"]
    for target in LINK.findall(text):
        path, _, _ = target.partition("#")
        if path.removeprefix("../").startswith(GENERATED):
            continue
        if path and "://" not in target and not (document.parent / path).exists():
            problems.append(f"{where}: the link to {target} leads nowhere")
    return problems


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)).replace("/", "-")
)
def test_documents__name_what_exists(document: Path) -> None:
    problems = problems_of(document.read_text(), document)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("see `store/gone.py`", "file store/gone.py does not exist"),
        ("see `store/store.py: Store.gone`", "store/store.py has no Store.gone"),
        ("see `store/store.py: gone`", "store/store.py has no gone"),
        ("see [there](gone/README.md)", "leads nowhere"),
        ("see `store/store.py: Store` and `Store.gone`", "no file that it names has Store.gone"),
    ],
)
def test_problems__finds_each_mistake(text: str, problem: str) -> None:
    assert [problem in one for one in problems_of(text, ARCHITECTURE)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "see `store/store.py: Store.snapshot`, `Store.__str__` and `sparql/rewrites/__init__.py`",
        "see `tests/test_imports.py` and [the table](tests/test_imports.py), [a site](https://e.org/)",
        "```\n`store/gone.py` in an example\n```",
    ],
)
def test_problems__lets_what_exists_pass(text: str) -> None:
    assert problems_of(text, ARCHITECTURE) == []


def test_architecture__names_functions_at_all() -> None:
    assert len(CODE.findall(without_blocks(ARCHITECTURE.read_text()))) > 100


def rows_of_packages(text: str) -> set[str]:
    """The names in the first column of the table of packages."""
    table = text.partition("| package or folder |")[2].partition("\n\n")[0]
    first_cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    return {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}


def missing_rows(text: str) -> list[str]:
    """Packages, single modules and top-level folders that have no row."""
    rows = rows_of_packages(text)
    package = REPOSITORY / "triplestore"
    names = set(LAYERS)
    names |= {file.parent.name for file in package.glob("*/__init__.py")}
    names |= {file.stem for file in package.glob("*.py") if not file.stem.startswith("__")}
    tracked = {"ui", "bench", "demo", "examples", "tests", "docs"}
    names |= {f"{name}/" for name in tracked if (REPOSITORY / name).is_dir()}
    return sorted(names - rows) + sorted(f"{name} (is gone)" for name in rows - names)


def test_architecture__has_a_row_for_every_package() -> None:
    assert missing_rows(ARCHITECTURE.read_text()) == []


def test_missing_rows__finds_a_row_too_few_and_one_too_many() -> None:
    text = ARCHITECTURE.read_text().replace("| `proofs` |", "| `proof` |")
    assert missing_rows(text) == ["proofs", "proof (is gone)"]


def reachable(arrows: dict[str, set[str]], start: str) -> set[str]:
    """What a package leads to."""
    reached: set[str] = set()
    rest = [start]
    while rest:
        new = arrows.get(rest.pop(), set()) - reached
        reached |= new
        rest.extend(new)
    return reached - {start}


def wrong_arrows(text: str) -> list[str]:
    """Where the picture and LAYERS of `test_imports` say different things."""
    drawn: dict[str, set[str]] = {}
    for user, used in ARROW.findall(text):
        drawn.setdefault(user, set()).add(used)
    allowed = {name: row - NOT_DRAWN for name, row in LAYERS.items() if name not in NOT_DRAWN}
    problems = []
    for name in sorted(allowed.keys() | drawn.keys()):
        problems += [
            f"{name} --> {other} is drawn, and {name} may not import {other}"
            for other in sorted(drawn.get(name, set()) - allowed.get(name, set()))
        ]
        problems += [
            f"{name} may import {other}, and no arrows lead there"
            for other in sorted(allowed.get(name, set()) - reachable(drawn, name))
        ]
    return problems


def test_architecture__draws_the_layers() -> None:
    assert wrong_arrows(ARCHITECTURE.read_text()) == []


def test_wrong_arrows__finds_one_too_few_and_one_too_many() -> None:
    text = ARCHITECTURE.read_text()
    fewer = text.replace("  storage --> terms\n", "")
    assert "storage may import terms, and no arrows lead there" in wrong_arrows(fewer)
    more = text.replace("  storage --> terms\n", "  storage --> terms\n  storage --> sparql\n")
    assert wrong_arrows(more) == ["storage --> sparql is drawn, and storage may not import sparql"]


NOT_BY_DEFAULT = {"WritingCalls.remove", "ProgramHistory.add"} | {
    f"Transaction.{name}" for name in ("add", "reason", "report")
}
"""What the ways name beside the default, and say so."""


def called(run: Callable[[], object]) -> set[tuple[str, str]]:
    """File and name of all functions that are called."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return seen


def not_called(way: str, run: Callable[[], object]) -> set[str]:
    """The functions and methods that a way names, and that it does not call."""
    whole = ARCHITECTURE.read_text()
    text = whole.partition(f"\n**{way}**")[2].partition("\n**")[0]
    wanted = {name for _, name in CODE.findall(text)} | set(LONE.findall(text))
    wanted = {name for name in wanted if name.rpartition(".")[2].islower()} - NOT_BY_DEFAULT
    assert len(wanted) > 5
    files = {str(found(name, ARCHITECTURE, REPOSITORY)) for name, _ in CODE.findall(whole)}
    return wanted - {name for file, name in called(run) if file in files}


def test_architecture__the_ways_call_what_they_name(tmp_path: Path) -> None:
    store, kind, below = Store(tmp_path / "s"), f"<{RDF_TYPE}>", f"<{RDFS}subClassOf>"
    axioms = f"<e:A> {below} <e:B> . <e:B> {below} <e:C> . <e:p> {kind} <{OWL}TransitiveProperty>"
    store.update(f"INSERT DATA {{ {axioms} . <e:x> {kind} <e:A> . <e:x> <e:p> <e:y> }}")
    assert not_called("Reason", lambda: store.reason("owl-rl")) == set()

    def add() -> None:
        store.add(Quad(NamedNode("e:z"), NamedNode(RDF_TYPE), NamedNode("e:A")))
        store.add(Quad(NamedNode("e:y"), NamedNode("e:p"), NamedNode("e:z")))
        Store().add(Quad(NamedNode("e:y"), NamedNode("e:p"), NamedNode("e:z")))

    def delete() -> None:
        for fact in (f"<e:x> {kind} <e:A>", f"<e:A> {below} <e:B>"):
            store.update(f"DELETE DATA {{ {fact} }}")

    assert not_called("Commit", add) == set()
    assert not_called("Delete", delete) == set()
