"""The JSON format of results: https://www.w3.org/TR/sparql11-results-json/, with triple terms and
base directions as SPARQL 1.2 has them.

>>> cell("x")(b"\\x04chat\\"@fr")
'"x":{"type":"literal","value":"chat","xml:lang":"fr"}'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring as quoted

from triplestore.expressions.compare_terms import parts_of_triple
from triplestore.expressions.library.strings import split_string
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED
from triplestore.terms.values.value_keys import split_typed

SPECIAL = re.compile('["\\\\\x00-\x1f]')
END = "\n]}}\n"


def head(variables: Sequence[str]) -> str:
    """The text before the solutions."""
    names = ",".join(map(quoted, variables))
    return f'{{"head":{{"vars":[{names}]}},"results":{{"bindings":[\n'


def boolean(value: bool) -> str:
    """The result of an ASK."""
    return f'{{"head":{{}},"boolean":{"true" if value else "false"}}}\n'


def cell(variable: str) -> Callable[[bytes], str]:
    """A function that writes the terms of a column."""
    start = quoted(variable) + ":"
    return lambda key: start + _term(key)


def around(variable: str) -> dict[int, tuple[str, str]]:
    """The text before and after a term without special characters, by kind."""
    start = quoted(variable) + ':{"type":"'
    names = {IRI: "uri", BLANK: "bnode", STRING: "literal"}
    return {kind: (f'{start}{name}","value":"', '"}') for kind, name in names.items()}


def _term(key: bytes) -> str:
    kind, text = key[0], key[1:].decode()
    if kind == IRI:
        return f'{{"type":"uri","value":{quoted(text)}}}'
    if kind == BLANK:
        return f'{{"type":"bnode","value":{quoted(text)}}}'
    if kind == STRING:
        return f'{{"type":"literal","value":{quoted(text)}}}'
    if kind == TYPED:
        lexical, datatype = split_typed(key[1:])
        rest = f'"datatype":{quoted(datatype)}'
        return f'{{"type":"literal","value":{quoted(lexical)},{rest}}}'
    if kind == LANG:
        lexical, tag = split_string(key)
        language, _, way = tag.decode().partition("--")
        rest = f'"xml:lang":{quoted(language)}' + (f',"its:dir":"{way}"' if way else "")
        return f'{{"type":"literal","value":{quoted(lexical)},{rest}}}'
    names = ("subject", "predicate", "object")
    parts = zip(names, parts_of_triple(key), strict=True)
    inner = ",".join(f'"{name}":{_term(part)}' for name, part in parts)
    return f'{{"type":"triple","value":{{{inner}}}}}'


def term_json(key: bytes | None) -> str:
    """One term as an object of this format; `null` for None.

    >>> term_json(b"\\x03chat")
    '{"type":"literal","value":"chat"}'
    """
    return "null" if key is None else _term(key)
