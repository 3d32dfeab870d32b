"""The direction of imports between packages, import cycles, and what an import may load.

ARCHITECTURE.md has the same table. A package may import itself, the packages in its row, and the
modules of `BELOW_ALL`.
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

BELOW_ALL = {
    "errors",
    "checked_columns",
    "data_classes",
    "kept_results",
    "_version",
    "live_line",
    "private_folder",
    "text_limits",
    "thread_limits",
    "thresholds",
}
LAYERS: dict[str, set[str]] = {name: set() for name in BELOW_ALL}
LAYERS |= {
    "kernels": set(),
    "terms": {"kernels"},
    "relations": {"kernels"},
    "closures": {"kernels", "relations"},
    "operators": {"kernels", "relations"},
    "expressions": {"kernels", "terms", "operators"},
    "network": {"operators"},
    "notebook": {"terms", "expressions"},
    "datalog": {"terms", "expressions", "notebook"},
    "rules": {"kernels", "relations", "closures", "expressions", "datalog"},
    "evaluate": {"terms", "relations", "operators", "expressions", "datalog", "rules"},
    "maintenance": {
        "kernels",
        "terms",
        "relations",
        "closures",
        "operators",
        "expressions",
        "datalog",
        "rules",
        "evaluate",
        "notebook",
    },
    "sparql": {"terms", "relations", "operators", "expressions", "notebook", "network"},
    "storage": {"terms", "relations", "closures"},
    "ontologies": {"terms", "datalog"},
    "loaders": {"kernels", "terms", "relations", "storage"},
    "server": {"store", "browse", "loaders", "network"},
    "rdflib_store": {"store", "shacl", "terms", "expressions", "network"},
}
LAYERS["proofs"] = LAYERS["maintenance"] | {"maintenance"}
LAYERS["sparql_rules"] = {"sparql", "datalog", "expressions", "terms"}
LAYERS["reasoning"] = LAYERS["proofs"] | {"proofs", "storage", "ontologies", "loaders"}
LAYERS["reasoning"] |= {"sparql_rules"}
LAYERS["consequences"] = LAYERS["reasoning"] | {"reasoning"}
LAYERS["classification"] = LAYERS["reasoning"] | {"reasoning"}
LAYERS["live"] = LAYERS["reasoning"] | {"reasoning", "sparql", "network"}
LAYERS["versions"] = {"terms", "relations", "rules", "storage", "reasoning", "live"}
LAYERS["text_search"] = {"terms", "relations", "operators", "storage", "loaders"}
LAYERS["shacl"] = LAYERS["live"] | {"live"}
LAYERS["store"] = LAYERS["shacl"] | {"shacl", "versions", "consequences", "text_search"}
LAYERS["store"] |= {"classification"}
LAYERS["comparison"] = LAYERS["store"] | {"store"}
LAYERS["browse"] = LAYERS["store"] | {"store"}
LAYERS["mcp_server"] = {"browse", "store", "reasoning", "sparql", "expressions", "operators"}
LAYERS["mcp_server"] |= {"terms"}
LAYERS["cli"] = {"kernels", "live", "store", "reasoning", "server", "mcp_server", "loaders.spark"}
LAYERS["cli"] |= {"comparison", "classification", "versions", "terms"}
# Not a lower layer, although its folder is in one: it makes stores, as the store does.
LAYERS["loaders.spark"] = LAYERS["store"] | {"store"}
TIES = set(LAYERS)  # the root of the package imports everything public

# Libraries that only one place may import, and those that no library code imports at all.
HOMES = {"numba": "kernels", "llvmlite": "kernels", "pyspark": "loaders.spark", "click": "cli"}
HOMES |= {
    "starlette": "server",
    "uvicorn": "server",
    "opentelemetry": "server",
    "rdflib": "rdflib_store",
    "mcp": "mcp_server",
    "tantivy": "text_search",
    "pyhornedowl": "classification",
}


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
    if own not in LAYERS and own not in {"", "__main__"}:
        return [f"{module}: no row for {own!r} in the table of imports"]
    if own == "":
        allowed = TIES
    elif own == "__main__":
        allowed = {"cli"}
    else:
        allowed = LAYERS[own] | {own} | BELOW_ALL
    if own in BELOW_ALL:
        allowed = {own, "errors", "data_classes"}
    problems = []
    for line, name in imported_names(source, module, is_package):
        root, _, rest = name.partition(".")
        if root == "triplestore":
            target = layer_of(rest)
            if target in LAYERS and target not in allowed:
                problems.append(f"{module}:{line} imports {name}; {own} may import {allowed}")
        elif root in {"loaders", "ontologies", "tests", "bench", "demo"}:
            problems.append(
                f"{module}:{line} imports {name}, which has no such name when installed"
            )
        elif root in HOMES and not f"{module}.".startswith(HOMES[root] + "."):
            problems.append(f"{module}:{line} imports {name}; only {HOMES[root]} may")
    return problems


def imports_of(module: str, file: Path, names: set[str]) -> set[str]:
    """The modules of the package that one module imports when it runs, now or later."""
    tree = ast.parse(file.read_text())
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in only_types:
            continue
        base = (node.module or "").removeprefix("triplestore").removeprefix(".")
        inner = {f"{base}.{alias.name}".removeprefix(".") for alias in node.names} & names
        for target in inner or ({base} & names):
            parts = target.split(".")  # the packages around a module run before it does
            found |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    around = {module.rsplit(".", count)[0] for count in range(module.count(".") + 1)}
    return (found & names) - around


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other: Tarjan's strongly connected components."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def test_imports__have_no_cycles() -> None:
    files = modules()
    graph = {name: imports_of(name, file, set(files)) for name, file in files.items()}
    assert cycles(graph) == []


def test_cycles__finds_a_cycle_and_nothing_else() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert cycles(graph) == [["a", "b", "c"]]


def test_folders__hold_at_most_twenty_modules() -> None:
    crowded = {}
    for top in ("triplestore", "loaders", "ontologies"):
        for folder in [REPOSITORY / top, *(REPOSITORY / top).rglob("*/")]:
            if len(list(folder.glob("*.py"))) > 20:
                crowded[str(folder.relative_to(REPOSITORY))] = len(list(folder.glob("*.py")))
    assert crowded == {}


def test_imports__follow_the_table() -> None:
    problems = []
    for module, file in modules().items():
        problems += breaches(module, file.read_text(), file.name == "__init__.py")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("terms.model", "from triplestore.relations.layers.layer import Layer"),
        ("terms.term_keys", "from triplestore import relations"),
        ("terms.term_keys", "from ..relations import tables"),
        ("relations.tables", "import triplestore.terms.dictionary"),
        ("maintenance.dred", "from triplestore.sparql import plan"),
        ("sparql.plan", "from triplestore.maintenance import maintain"),
        ("storage.files.journal", "from triplestore.loaders import local"),
        ("cli", "from triplestore.storage.database import Database"),
        ("loaders.local", "from triplestore.loaders.spark import session"),
        ("store", "from triplestore.loaders.spark import session"),
        ("errors", "from triplestore.checked_columns import Column"),
        ("relations.tables", "from numba import njit"),
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
        ("ontologies.translate.owl_rl", "from .draft import RuleDraft"),
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
HEAVY |= {"mcp", "pydantic"}


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
