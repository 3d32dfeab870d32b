"""The direction of imports between packages, and what importing the package does not import.

The table is DESIGN section 2. A package may import itself, what stands in its row, and `errors`,
`columns`, `private` and `_version`, which are below everything.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

BELOW_ALL = {"errors", "columns", "_version", "private", "running"}
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "columns": set(),
    "_version": set(),
    "private": set(),
    "running": set(),
    "kernels": set(),
    "terms": {"kernels"},
    "tables": {"kernels"},
    "ops": {"kernels", "terms", "tables"},
    "expr": {"kernels", "terms", "tables", "ops"},
    "datalog": {"kernels", "terms", "tables", "ops", "expr"},
    "schemes": {"kernels"},
    "engine": {"kernels", "terms", "tables", "ops", "expr", "datalog", "schemes"},
    "sparql": {"kernels", "terms", "tables", "ops", "expr"},
    "storage": {"kernels", "terms", "tables", "schemes"},
    "ontologies": {"terms", "datalog"},
    "loaders": {"kernels", "terms", "tables", "storage"},
    "cli": {"store", "server", "loaders.spark"},
    "server": {"store"},
    "rdflib_store": {"store", "terms", "expr"},
    # Not a lower layer, though its folder stands in one: it makes stores, as a face does.
    "loaders.spark": {
        "loaders",
        "kernels",
        "terms",
        "tables",
        "storage",
        "ops",
        "expr",
        "datalog",
        "engine",
        "schemes",
        "ontologies",
        "sparql",
        "store",
    },
}
# The face of the package, which ties everything below together.
FACE = {"store"}
TIES = set(LAYERS) - {"cli", "server", "rdflib_store", "loaders.spark"} | FACE

# Libraries that only one place may import, and those that no library code imports at all.
HOMES = {"numba": "kernels", "llvmlite": "kernels", "pyspark": "loaders.spark", "click": "cli"}
HOMES |= {"starlette": "server", "uvicorn": "server", "rdflib": "rdflib_store"}


def modules() -> dict[str, Path]:
    """Every module of the project by its name inside the package, such as `terms.dictionary`."""
    found: dict[str, Path] = {}
    for prefix, folder in (
        ("", REPOSITORY / "triplestore"),
        ("loaders", REPOSITORY / "loaders"),
        ("ontologies", REPOSITORY / "ontologies"),
    ):
        for file in sorted(folder.rglob("*.py")):
            parts = list(file.relative_to(folder).with_suffix("").parts)
            if parts[-1] == "__init__":
                parts.pop()
            found[".".join(([prefix] if prefix else []) + parts)] = file
    return found


def imported_names(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute module name) of every import statement, wherever it stands."""
    package = ["triplestore", *module.split(".")] if module else ["triplestore"]
    if not is_package:
        package.pop()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join(base + ([node.module] if node.module else []))
            if start == "triplestore" or (node.level and not node.module):
                for alias in node.names:
                    yield node.lineno, f"{start}.{alias.name}"
            else:
                yield node.lineno, start


def layer_of(name: str) -> str:
    """The row of the table that a module belongs to: `loaders.spark` has its own."""
    first, _, rest = name.partition(".")
    deeper = f"{first}.{rest.partition('.')[0]}"
    return deeper if deeper in LAYERS else first


def breaches(module: str, source: str, is_package: bool = False) -> list[str]:
    """What the imports of one module do against the table, each as a sentence."""
    own = layer_of(module)
    if own not in LAYERS and own not in FACE | {"", "__main__"}:
        return [f"{module}: no row for {own!r} in the table of imports"]
    if own in FACE | {""}:
        allowed = TIES
    elif own == "__main__":
        allowed = {"cli"}
    else:
        allowed = LAYERS[own] | {own} | BELOW_ALL
    if own in BELOW_ALL:
        allowed = {own, "errors"}
    problems = []
    for line, name in imported_names(source, module, is_package):
        root, _, rest = name.partition(".")
        if root == "triplestore":
            target = layer_of(rest)
            named_in_package = target in LAYERS or target in FACE
            if target and named_in_package and target not in allowed:
                problems.append(f"{module}:{line} imports {name}; {own} may import {allowed}")
        elif root in {"loaders", "ontologies", "tests", "bench", "demo"}:
            problems.append(
                f"{module}:{line} imports {name}, which has no such name when installed"
            )
        elif root in HOMES and not f"{module}.".startswith(HOMES[root] + "."):
            problems.append(f"{module}:{line} imports {name}; only {HOMES[root]} may")
    return problems


def test_imports__follow_the_table() -> None:
    problems = []
    for module, file in modules().items():
        problems += breaches(module, file.read_text(), file.name == "__init__.py")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("terms.model", "from triplestore.relations.layers.layer import Layer"),
        ("terms.model", "from triplestore import tables"),
        ("terms.model", "from ..tables import layer"),
        ("tables.layer", "import triplestore.terms.dictionary"),
        ("engine.maintain", "from triplestore.sparql import plan"),
        ("sparql.plan", "from triplestore.maintenance import maintain"),
        ("storage.journal", "from triplestore.loaders import local"),
        ("cli", "from triplestore.storage.database import Database"),
        ("loaders.local", "from triplestore.loaders.spark import session"),
        ("store", "from triplestore.loaders.spark import session"),
        ("errors", "from triplestore.checked_columns import Column"),
        ("tables.layer", "from numba import njit"),
        ("store", "def f():\n    import pyspark"),
        ("store", "import click"),
        ("store", "from loaders import local"),
        ("store", "from triplestore.cli import main"),
        ("novelty", "import json"),
    ],
)
def test_imports__a_breach_is_noticed(module: str, line: str) -> None:
    assert len(breaches(module, line)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("terms.model", "from triplestore.kernels.terms.hashing import hash_bytes"),
        ("kernels.jit", "import numba"),
        ("loaders.spark.job", "import pyspark.sql"),
        ("loaders.local", "from triplestore.storage.format import Writer"),
        ("loaders.spark.job", "from triplestore.store import Store"),
        ("cli.importing", "from triplestore.loaders.spark import import_dataset"),
        ("store", "from triplestore.loaders import local"),
        ("cli", "from triplestore import Store, errors"),
        ("server.app", "from triplestore.store import Store"),
        ("ontologies.owl_rl", "from .lists import read_list"),
    ],
)
def test_imports__what_the_table_allows_passes(module: str, line: str) -> None:
    assert breaches(module, line) == []


def modules_after(statements: str) -> set[str]:
    """The modules that a fresh interpreter has imported after running `statements`."""
    program = f"{statements}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


HEAVY = {"numba", "llvmlite", "pyspark", "pyarrow", "rdflib", "starlette", "uvicorn", "matplotlib"}


def test_import_triplestore__imports_nothing_heavy() -> None:
    loaded = modules_after("import triplestore")
    assert "triplestore" in loaded
    assert not loaded & HEAVY


def test_import_store__imports_nothing_heavy() -> None:
    loaded = modules_after("from triplestore import Store, Quad, RdfFormat")
    assert "triplestore.store" in loaded
    assert not loaded & HEAVY


def test_help__imports_nothing_heavy_and_no_numpy() -> None:
    loaded = modules_after(
        "from click.testing import CliRunner\n"
        "from triplestore.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0"
    )
    assert not loaded & (HEAVY | {"numpy", "pyoxigraph"})


def test_open_add_and_look_up__do_not_import_numba(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    loaded = modules_after(
        "from triplestore import Literal, NamedNode, Quad, Store\n"
        f"with Store({path!r}) as store:\n"
        "    store.add(Quad(NamedNode('http://e/a'), NamedNode('http://e/p'), Literal('x')))\n"
        f"with Store({path!r}) as store:\n"
        "    assert len(list(store.quads_for_pattern(NamedNode('http://e/a'), None, None))) == 1\n"
        "    store.info()"
    )
    assert not loaded & HEAVY
