"""Reads large blocks of INSERT DATA and DELETE DATA as TriG, with a faster parser.

Start at `data_blocks`, which finds the blocks before a text is split into tokens, and `read_block`.
Always true: `read_block` returns the quads of SPARQL's grammar, or None; then the usual
parser reads the text and reports its errors. TriG that is not SPARQL (directives) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyoxigraph as ox

from triplestore.sparql.thresholds import SPARQL

_STRINGS = r"""
      \"\"\"(?:[^"\\]++|\\.|"(?!""))*+\"\"\" | '''(?:[^'\\]++|\\.|'(?!''))*+'''
    | "(?:[^"\\\n\r]++|\\.)*+" | '(?:[^'\\\n\r]++|\\.)*+'
    | <(?:[^\x00-\x20<>"{}|^`\\]|\\.)*+> | \\. | \#[^\n\r]*+
"""
_TO_BRACE = re.compile(rf"(?: [^\"'<#{{}}\\]++ | {_STRINGS} | < )*+", re.VERBOSE | re.DOTALL)
# Data has no operators. Blocks of annotations, `{| |}`, are left to the usual parser: of two in a
# row pyoxigraph gives the second one the reifier of the first, if that has a name.
_SIGNS = r"<<\(?"
_TO_END = re.compile(rf"(?: [^\"'<#{{}}\\|]++ | {_STRINGS} | {_SIGNS} )*+", re.VERBOSE | re.DOTALL)
_BEFORE = re.compile(r"\b(?:INSERT|DELETE)\s+DATA\s*\Z", re.IGNORECASE)
_GRAPH = re.compile(r"(?<![^\s.])GRAPH\s*(<[^<>]*>|(?!_:)[^\s<>:]*:[^\s<>]*)\s*\Z", re.IGNORECASE)
_DOT = re.compile(r"\s*\.")


def data_blocks(text: str) -> list[tuple[int, int]]:
    """The ranges of the long blocks of data in an update, without their outer braces.

    >>> text = "INSERT DATA { " + "<a:b> <a:c> 1 . " * 200 + "}"
    >>> data_blocks(text) == [(13, len(text) - 1)]
    True
    """
    found: list[tuple[int, int]] = []
    at, least = 0, SPARQL.data_block_size
    while len(text) - at > least:
        brace = _end(_TO_BRACE, text, at)
        at = brace + 1
        if text[brace : brace + 1] == "{":
            if _BEFORE.search(text[max(0, brace - 40) : brace]):
                end = _end_of_block(text, at)
                if end - at > least:
                    found.append((at, end))
                at = max(end, at)
        elif text[brace : brace + 1] != "}":
            break  # an unterminated string or comment, or the end of the text
    return found


def _end_of_block(text: str, at: int) -> int:
    """The place of the `}` that closes the block; 0 if the block is not plain data."""
    while True:
        at = _end(_TO_END, text, at)
        if text[at : at + 1] == "}":
            return at
        if text[at : at + 1] != "{":
            return 0
        at = _end(_TO_END, text, at + 1)
        if text[at : at + 1] != "}":
            return 0
        at += 1


def read_block(
    block: str, prefixes: Mapping[str, str], base: str | None
) -> tuple[ox.Quad, ...] | None:
    """The quads of a block found by `data_blocks`; None if it is not plain data.

    >>> block = "GRAPH <a:g> { <a:b> <a:c> 1 } . <a:b> <a:d> 2"
    >>> [quad.object.value for quad in read_block(block, {}, None)]
    ['1', '2']
    """
    trig = _as_trig(block)
    if trig is None:
        return None
    head = "".join(f"@prefix {prefix}: <{name}> .\n" for prefix, name in prefixes.items())
    try:
        text = (head + trig).encode()
        return tuple(ox.parse(text, format=ox.RdfFormat.TRIG, base_iri=base))
    except (SyntaxError, ValueError):
        return None


def _as_trig(block: str) -> str | None:
    """The block with braces around triples of the default graph; None if it is not TriG."""
    parts: list[str] = []
    at = 0
    while True:
        brace = _end(_TO_END, block, at)
        if brace == len(block):
            parts.append(f"{{{block[at:]}}}")
            return "\n".join(parts)
        named = _GRAPH.search(block[max(at, brace - 1000) : brace])
        if named is None or block[brace] != "{":
            return None
        start = max(at, brace - 1000) + named.start()
        end = _end(_TO_END, block, brace + 1)
        parts.append(f"{{{block[at:start]}}}")
        parts.append(f"GRAPH {named[1]} {{{block[brace + 1 : end]}}}")
        at = end + 1
        after = _DOT.match(block, at)
        at = after.end() if after else at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # the expression also matches the empty text
    return found.end()
