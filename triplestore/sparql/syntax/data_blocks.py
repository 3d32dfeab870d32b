"""Large blocks of INSERT DATA and DELETE DATA, which are read as TriG by a faster parser.

Start at `data_blocks`, which finds the blocks before a text is split into tokens, and `read_block`.
What is always true: `read_block` gives the quads that the grammar of SPARQL gives, or None; then
the text is read the slow way, which also says what is wrong with it. Nothing that TriG takes and
SPARQL does not (reifiers, annotations, directives) gets through.
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
# In data there are neither operators nor `~` and `|` of reifiers and annotations.
_TO_END = re.compile(rf"(?: [^\"'<#{{}}\\~|]++ | {_STRINGS} )*+", re.VERBOSE | re.DOTALL)
_BEFORE = re.compile(r"\b(?:INSERT|DELETE)\s+DATA\s*\Z", re.IGNORECASE)
_GRAPH = re.compile(r"(?<![^\s.])GRAPH\s*(<[^<>]*>|(?!_:)[^\s<>:]*:[^\s<>]*)\s*\Z", re.IGNORECASE)
_DOT = re.compile(r"\s*\.")


def data_blocks(text: str) -> list[tuple[int, int]]:
    """Where the long blocks of data stand in an update: what is between their outer braces.

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
            break  # a string or comment without end, or the end of the text
    return found


def _end_of_block(text: str, at: int) -> int:
    """Where the `}` stands that closes the block; 0 if what is before is not plain data."""
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
    """The quads of a block that `data_blocks` found; None if it is not plain data.

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
    """The block with braces around what belongs to the default graph; None if it cannot be."""
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
    assert found is not None  # it matches nothing, too
    return found.end()
