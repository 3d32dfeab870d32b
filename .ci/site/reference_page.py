"""The page of the Python interface, from signatures and docstrings.

Start reading at `reference_page`. Signatures are read from the source, as they are written there.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import triplestore

_HEAD = """# Python interface

Everything here is imported from `triplestore`. Terms and quads are those of
[pyoxigraph](https://pyoxigraph.readthedocs.io): {terms}.

"""
_FIRST = ("Store", "Transaction", "Snapshot", "Branch")
_SHARING = _FIRST[1:]
_MADE = ("Store", "Program")
"""Classes that callers make themselves; the others are results."""
_FURTHER = (
    ("triplestore.sparql.results.solutions", "Solutions"),
    ("triplestore.sparql.results.solutions", "Triples"),
    ("triplestore.maintenance.report", "Report"),
    ("triplestore.reasoning.reports.run_report", "RegimeReport"),
)
"""What calls return."""
_OF_SPARK = (
    ("import_dataset", "importing/dataset.py"),
    ("columns_to_triples", "importing/table_columns.py"),
    ("read_triples", "frames.py"),
    ("query_frame", "frames.py"),
    ("make", "session.py"),
)
"""Functions of `triplestore.loaders.spark`, whose modules need pyspark: they are only read."""
_COLUMNS = re.compile(r"^[\w`*., ]+?  +\S")
_WIDEST = 88


def reference_page() -> str:
    """The page as Markdown."""
    names = [name for name in triplestore.__all__ if not name.startswith("__")]
    ours = [name for name in names if _home(name).startswith("triplestore")]
    terms = ", ".join(f"`{name}`" for name in names if name not in ours)
    parts = [_HEAD.format(terms=terms)]
    ordered = [*_FIRST, *(name for name in ours if name not in _FIRST)]
    for name in ordered:
        parts += _described(name, getattr(triplestore, name), f"triplestore.{name}")
    for module, name in _FURTHER:
        if name not in ours:
            parts += _described(name, getattr(import_module(module), name), f"{module}.{name}")
    parts.append("## triplestore.loaders.spark\n")
    for name, file in _OF_SPARK:
        parts += _function_of_spark(name, file)
    return "\n".join(parts)


def _home(name: str) -> str:
    return str(getattr(getattr(triplestore, name), "__module__", "") or "")


def _described(name: str, value: Any, place: str) -> Iterator[str]:
    yield f"## {name}\n"
    if inspect.isclass(value):
        yield f"*class* `{place}`\n"
        yield from _constructor(value)
        yield from prose(inspect.getdoc(value) or "")
        if name in _SHARING:
            yield f"A {name.lower()} can also be read like a store: see `Store.query` and others.\n"
        yield from _members(value)
    else:
        node = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
        if isinstance(node, ast.FunctionDef):
            yield _signature(node)
        yield from prose(inspect.getdoc(value) or "")


def _constructor(value: type) -> Iterator[str]:
    """The signature of `__init__`, for classes that callers make themselves."""
    if value.__name__ in _MADE and "__init__" in vars(value):
        node = ast.parse(textwrap.dedent(inspect.getsource(vars(value)["__init__"]))).body[0]
        assert isinstance(node, ast.FunctionDef)
        yield _signature(node, value.__name__)


def _function_of_spark(name: str, file: str) -> Iterator[str]:
    source = Path(triplestore.__file__).parents[1] / "loaders" / "spark" / file
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield f"### {name}\n"
            yield _signature(node)
            yield from prose(ast.get_docstring(node) or "")
            return
    raise ValueError(f"{source} defines no function {name}")


def _members(value: type) -> Iterator[str]:
    """Public methods and properties; of `Store`, also those that it shares with others."""
    seen: set[str] = set()
    for owner in value.__mro__ if value.__name__ == "Store" else [value]:
        if not owner.__module__.startswith("triplestore"):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        assert isinstance(tree, ast.ClassDef)
        fields = [node for node in tree.body if _is_field(node)]
        if fields:
            lines = "\n".join(ast.unparse(node).replace("'", '"') for node in fields)
            yield f"Fields:\n\n```python\n{lines}\n```\n"
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if node.name not in seen:
                seen.add(node.name)
                yield f"### {value.__name__}.{node.name}\n"
                yield _signature(node)
                yield from prose(inspect.getdoc(getattr(value, node.name)) or "")


def _is_field(node: ast.stmt) -> bool:
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return False
    return not node.target.id.startswith("_") and "ClassVar" not in ast.unparse(node.annotation)


def _signature(node: ast.FunctionDef, name: str | None = None) -> str:
    """A block with the signature, over several lines if it is long."""
    marks = [ast.unparse(one) for one in node.decorator_list]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and name is None else ""
    if "property" in marks or "cached_property" in marks:
        return f"```python\n{node.name}{returns.replace(' -> ', ': ')}\n```\n"
    if node.args.args and node.args.args[0].arg in ("self", "cls"):
        del node.args.args[0]
    arguments = list(_arguments(node.args))
    line = f"{name or node.name}({', '.join(arguments)}){returns}"
    if len(line) > _WIDEST:
        inner = ",\n".join(f"    {one}" for one in arguments)
        line = f"{name or node.name}(\n{inner},\n){returns}"
    return f"```python\n{line}\n```\n"


def _arguments(args: ast.arguments) -> Iterator[str]:
    """Each argument as it is written; `*` stands alone where it does in the source."""
    first = len(args.args) - len(args.defaults)
    for place, arg in enumerate(args.args):
        default = args.defaults[place - first] if place >= first else None
        yield _argument(arg, default)
    if args.vararg:
        yield f"*{ast.unparse(args.vararg)}"
    elif args.kwonlyargs:
        yield "*"
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _argument(arg, default)
    if args.kwarg:
        yield f"**{ast.unparse(args.kwarg)}"


def _argument(arg: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return ast.unparse(arg)
    value = ast.unparse(default).replace("'", '"')
    return f"{ast.unparse(arg)} = {value}" if arg.annotation else f"{arg.arg}={value}"


def prose(doc: str) -> Iterator[str]:
    """A docstring as Markdown: examples become blocks, columns of names become lists."""
    blocks = re.split(r"\n\s*\n", doc.strip("\n"))
    for block in blocks:
        lines = block.splitlines()
        if not lines:
            continue
        if ">>> " in lines[0][:8] or lines[0].startswith("    "):
            language = "python" if ">>> " in lines[0] else "text"
            yield f"```{language}\n{textwrap.dedent(block)}\n```\n"
        elif _COLUMNS.match(lines[0]):
            yield "\n".join(_listed(lines)) + "\n"
        else:
            yield escaped(block) + "\n"


def _listed(lines: list[str]) -> Iterator[str]:
    for line in lines:
        name, _, rest = line.partition("  ")
        if name and not line.startswith(" "):
            yield f"- `{name}`: {escaped(rest.strip())}"
        else:
            yield f"  {escaped(line.strip())}"


def escaped(text: str) -> str:
    """Text outside of code with the characters escaped that Markdown would take for markup."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*")
        for part in parts
    )
