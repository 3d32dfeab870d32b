"""Documents of results that attack: by name the ending, and the document of a size."""

from __future__ import annotations

from collections.abc import Callable

_XML = b'<sparql xmlns="http://www.w3.org/2005/sparql-results#">'
_HEAD = b'<head><variable name="x"/></head><results>'
_IRI = b"<uri>a:b</uri>"
_TRIPLE = b"<triple><subject>" + _IRI + b"</subject><predicate>" + _IRI + b"</predicate><object>"
_ROW = b'<result><binding name="x">'
_END = b"</binding></result></results></sparql>"
_JSON = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":'
_URI = b'{"type":"uri","value":"a:b"}'
_VALUE = b'{"type":"triple","value":{"subject":' + _URI + b',"predicate":' + _URI + b',"object":'


def _each(count: int, form: bytes, between: bytes = b"") -> bytes:
    return between.join([form % number for number in range(count)])


def _bomb(count: int) -> bytes:
    entities = b"".join(
        b'<!ENTITY a%d "%s">' % (i + 1, b"&a%d;" % i * 10) for i in range(min(count, 30))
    )
    types = b'<!DOCTYPE s [<!ENTITY a0 "aaaaaaaaaa">' + entities + b"]>"
    return types + _XML + _HEAD + _ROW + b"<literal>&a9;</literal>" + _END


#: Attacks by name: the ending of the file, and the document of a size.
ATTACKS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "triple terms of XML": (
        "srx",
        lambda n: _XML + _HEAD + _ROW + _TRIPLE * n + _IRI + b"</object></triple>" * n + _END,
    ),
    "elements": ("srx", lambda n: _XML + b"<head>" + b"<a>" * n + b"</a>" * n),
    "attributes": ("srx", lambda n: b"<sparql " + _each(n, b'a%d="1" ') + b">"),
    "variables of XML": (
        "srx",
        lambda n: _XML + b"<head>" + _each(n, b'<variable name="x%d"/>') + b"</head><results/>",
    ),
    "variables of XML with a prefix": (
        "srx",
        lambda n: (
            b'<s:sparql xmlns:s="http://www.w3.org/2005/sparql-results#"><s:head>'
            + _each(n, b'<s:variable\nname="x%d"/>')
        ),
    ),
    "unbound variables": (
        "srx",
        lambda n: (
            _XML + b"<head>" + _each(min(n, 9_000), b'<variable name="x%d"/>')
            + b"</head><results>" + b"<result/>" * n + b"</results></sparql>"
        ),
    ),
    "entities in entities": ("srx", _bomb),
    "a comment without an end": ("srx", lambda n: _XML + b"<!--" + b"-" * 100 * n),
    "triple terms of JSON": ("srj", lambda n: _JSON + _VALUE * n + _URI + b"}}" * n + b"}]}}"),
    "triple terms before the head": (
        "srj",
        lambda n: b'{"results":{"bindings":[{"x":' + _VALUE * n + _URI + b"}}" * n + b"}]}}",
    ),
    "arrays": ("srj", lambda n: b'{"a":' + b"[" * n),
    "objects": ("srj", lambda n: b'{"a":' * n + b"1" + b"}" * n),
    "variables of JSON": ("srj", lambda n: b'{"head":{"vars":[' + _each(n, b'"x%d"', b",") + b"]"),
    "variables of JSON in disguise": (
        "srj", lambda n: b'{"head":{"\\u0076ars":[' + _each(n, b'"x%d"', b",") + b"]",
    ),
    "a string without an end": ("srj", lambda n: b'{"head":{"vars":["' + b"x" * 200 * n),
    "a number without an end": ("srj", lambda n: b'{"head":' + b"9" * 200 * n),
    "triple terms of TSV": (
        "tsv", lambda n: b"?x\n" + b"<<( <a:b> <a:b> " * n + b"1" + b" )>>" * n,
    ),
    "variables of TSV": ("tsv", lambda n: _each(n, b"?x%d", b"\t") + b"\n" + b"\t" * (n - 1)),
    "a literal without an end": ("tsv", lambda n: b'?x\n"' + b"x" * 200 * n),
    "variables of CSV": ("csv", lambda n: _each(n, b"x%d", b",") + b"\n"),
    "bytes that are no text": ("csv", lambda n: b"x\n" + b"\xff" * n),
}  # fmt: skip
