"""Short ways to write facts and programs in tests, and to print facts.

    facts("A(a) T(a, b) W(a, b, 3)")    a class, a property, a relation of three columns
    program(":A[?y] :- :A[?x], :T[?x, ?y] .")

Names are IRIs of one namespace, numbers are integers; `show` prints facts in the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.maintenance.naive import Fact
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.expressions.library.numbers import INTEGER, Number, key_of_number, maybe_number
from triplestore.terms.term_keys import IRI, to_ntriples
from triplestore.terms.vocabulary import RDF_TYPE

NAMESPACE = "http://e/"
TYPE_KEY = b"\x01" + RDF_TYPE.encode()


def program(text: str) -> Program:
    """A program in which `:` is the namespace of all names."""
    return read(f"@prefix : <{NAMESPACE}> .\n{text}")


def key(name: str) -> bytes:
    """The key of a name, or of an integer."""
    if name.lstrip("-").isdigit():
        return key_of_number(Number(INTEGER, int(name)))
    return b"\x01" + (NAMESPACE + name).encode()


def fact(text: str) -> Fact:
    """One fact: `A(a)`, `T(a, b)`, `W(a, b, c)`."""
    (only,) = facts(text)
    return only


def facts(text: str) -> set[Fact]:
    """Several facts, with spaces or commas between them."""
    found = set()
    for name, arguments in re.findall(r"(\w+)\(([^)]*)\)", text):
        keys = [key(part.strip()) for part in arguments.split(",")]
        if len(keys) == 1:
            found.add(("t", keys[0], TYPE_KEY, key(name)))
        elif len(keys) == 2:
            found.add(("t", keys[0], key(name), keys[1]))
        else:
            found.add(("r", key(name), *keys))
    return found


def show(some: Iterable[Fact]) -> str:
    """Facts in the form of `facts`, sorted."""
    return " ".join(sorted(map(_shown, some)))


def _shown(one: Fact) -> str:
    if one[0] == "r":
        name, arguments = one[1], one[2:]
    elif one[2] == TYPE_KEY and one[3][0] == IRI:
        name, arguments = one[3], one[1:2]
    else:
        name, arguments = one[2], (one[1], one[3])
    return f"{_name(name)}({', '.join(map(_name, arguments))})"


def _name(term: bytes) -> str:
    number = maybe_number(term)
    if number is not None:
        return str(number.value)
    return to_ntriples(term).decode().removeprefix(f"<{NAMESPACE}").removesuffix(">")
