"""Rules and ontologies that would take very long, or have no end: the list of them, as data.

Each case is data in N-Triples with short names (`:a :p :b .`), rules or a regime, and what must
become of it under limits: an error that names a suspect, or an end of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

PREFIXES = (
    "@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)


@dataclass(frozen=True, slots=True)
class Case:
    """Something hostile.

    data      what is stated, made when it is asked for
    rules     rules of users
    regime    a regime
    suspect   what the message of a budget has to name
    equality  how equals are reasoned about
    why       why it does not end within its limits, where it does not
    """

    data: Callable[[], str]
    rules: str = ""
    regime: str = ""
    suspect: str = ""
    equality: str = "rules"
    why: str = ""


def a_list(members: Iterable[str], name: str = "_:l") -> str:
    """An RDF list, its head `name`0."""
    known = list(members)
    lines = []
    for at, member in enumerate(known):
        after = f"{name}{at + 1}" if at + 1 < len(known) else "rdf:nil"
        lines.append(f"{name}{at} rdf:first {member} ; rdf:rest {after} .\n")
    return "".join(lines)


def names(count: int, letter: str = "c") -> list[str]:
    """Names with the numbers from 0 on."""
    return [f":{letter}{i}" for i in range(count)]


def chain(count: int, by: str, letter: str = "n") -> str:
    """A chain: each name is related to the next one."""
    return "".join(f":{letter}{i} {by} :{letter}{i + 1} .\n" for i in range(count))


def star(count: int, by: str) -> str:
    """One name is related to many."""
    return "".join(f":hub {by} :n{i} .\n" for i in range(count))


def _listed(head: str, count: int, members: str = "") -> str:
    return head + members + a_list(names(count))


def _keyed(properties: int, things: int) -> str:
    keys = names(properties, "k")
    lines = [f":C owl:hasKey _:l0 .\n{a_list(keys)}"]
    lines += [f":x{i} a :C ; {keys[0]} 1 .\n" for i in range(things)]
    return "".join(lines)


def nested(depth: int) -> str:
    """A class expression in which others are, one inside the other."""
    parts = [":C rdfs:subClassOf _:e0 . :a a :C .\n"]
    parts += [
        f"_:e{i} a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom _:e{i + 1} .\n"
        f"_:e{i} rdfs:subClassOf :D .\n"
        for i in range(depth)
    ]
    parts.append(f"_:e{depth} a owl:Class .\n")
    return "".join(parts)


def _product(atoms: int, things: int) -> Case:
    body = ", ".join(f":p[?a{i}, ?b{i}]" for i in range(atoms))
    rules = f'rule "product" :q[?a0, ?b1] :- {body} .'
    return Case(lambda: star(things, ":p"), rules, suspect="product")


def _bind(expression: str) -> Case:
    rules = f'rule "grow" :n[?x, ?m] :- :n[?x, ?n], BIND({expression} AS ?m) .'
    return Case(lambda: ':a :n "x" . :b :n 1 .', rules, suspect="grow")


def _repeated(text: str, times: int) -> str:
    return f"CONCAT({', '.join([f'STR({text})'] * times)})"


def _nested(text: str, depth: int) -> str:
    """Each call makes a text longer by a quarter of a megabyte, and some are looked for in it."""
    for _ in range(depth):
        text = f'CONCAT(REPLACE({text}, "xxxx", "yxxxx"), "x")'
    return text


GROWTH = {
    "numbers": _bind("?n + 1"),
    "numbers doubled": _bind("?n * 2"),
    "text": _bind('CONCAT(STR(?n), "x")'),
    "text doubled": _bind("CONCAT(STR(?n), STR(?n))"),
    "text times eight": _bind("CONCAT(" + ", ".join(["STR(?n)"] * 8) + ")"),
    "names": _bind('IRI(CONCAT("http://ex.org/", MD5(STR(?n))))'),
    "escapes": _bind('ENCODE_FOR_URI(CONCAT(STR(?n), " "))'),
    "replacements": _bind('REPLACE(CONCAT(STR(?n), "x"), "x", "xx")'),
    "two ways": Case(
        lambda: ':a :n "x" .',
        'rule "left" :n[?x, ?m] :- :n[?x, ?n], BIND(CONCAT(?n, "l") AS ?m) .\n'
        'rule "right" :n[?x, ?m] :- :n[?x, ?n], BIND(CONCAT(?n, "r") AS ?m) .',
        suspect="left|right",
    ),
    "new things": Case(
        lambda: ":a a :C .",
        'rule "grow" :C[?m] :- :C[?n], BIND(IRI(CONCAT(STR(?n), "/a")) AS ?m) .',
        suspect="grow",
    ),
    "axioms": Case(
        lambda: ":a rdfs:subClassOf :b . :x a :a .",
        'rule "grow" rdfs:subClassOf[?m, ?n] :- rdfs:subClassOf[?n, ?o], '
        'BIND(IRI(CONCAT(STR(?n), "/a")) AS ?m) .',
        "rdfs",
        suspect="grow",
    ),
}
"""Rules that make ever new terms."""

EQUALS = {
    "functional star": Case(
        lambda: ":p a owl:FunctionalProperty .\n" + star(5000, ":p"),
        regime="owl-rl",
        suspect="prp-fp",
    ),
    "equal chain": Case(lambda: chain(20_000, "owl:sameAs"), regime="owl-rl", suspect="eq-"),
    "equal star with facts": Case(
        lambda: star(3000, "owl:sameAs") + star(3000, ":q"), regime="owl-rl", suspect="eq-"
    ),
    "inverse functional star": Case(
        lambda: (
            ":p a owl:InverseFunctionalProperty .\n"
            + "".join(f":n{i} :p :hub . :n{i} :q :m{i} .\n" for i in range(20_000))
        ),
        regime="owl-rl",
        suspect="prp-ifp",
    ),
    "rewritten star": Case(
        lambda: ":p a owl:FunctionalProperty .\n" + star(100_000, ":p"),
        regime="owl-rl",
        equality="rewrite",
    ),
    "rewritten chain": Case(
        lambda: chain(100_000, "owl:sameAs"), regime="owl-rl", equality="rewrite"
    ),
    "keys shared": Case(lambda: _keyed(1, 5000), regime="owl-rl", suspect="prp-key"),
}
"""Equality that multiplies."""

LISTS = {
    "property chain": Case(
        lambda: ":p owl:propertyChainAxiom _:l0 .\n" + a_list(names(100_000)), regime="owl-rl"
    ),
    "sub-property chain": Case(lambda: chain(100_000, "rdfs:subPropertyOf"), regime="owl-rl"),
    "sub-class chain": Case(
        lambda: ":x a :n0 .\n" + chain(100_000, "rdfs:subClassOf"), regime="owl-rl"
    ),
    "list beside a rule for axioms": Case(
        lambda: _listed(":C owl:unionOf _:l0 . :a :p :b .\n", 3000),
        rules="rdfs:subClassOf[?x, ?y] :- :p[?x, ?y] .",
        regime="owl-rl",
        equality="rewrite",
    ),
    "intersection": Case(
        lambda: _listed(":C owl:intersectionOf _:l0 . :x a :c1 .\n", 50_000), regime="owl-rl"
    ),
    "union": Case(lambda: _listed(":C owl:unionOf _:l0 . :x a :c1 .\n", 200_000), regime="owl-rl"),
    "enumeration": Case(lambda: _listed(":C owl:oneOf _:l0 .\n", 200_000), regime="owl-rl"),
    "all different": Case(
        lambda: _listed("_:d a owl:AllDifferent ; owl:distinctMembers _:l0 .\n", 20_000),
        regime="owl-rl",
    ),
    "all disjoint classes": Case(
        lambda: _listed("_:d a owl:AllDisjointClasses ; owl:members _:l0 .\n", 20_000),
        regime="owl-rl",
    ),
    "all disjoint properties": Case(
        lambda: _listed("_:d a owl:AllDisjointProperties ; owl:members _:l0 .\n", 20_000),
        regime="owl-rl",
    ),
    "disjoint union": Case(
        lambda: _listed(":C owl:disjointUnionOf _:l0 .\n", 20_000), regime="owl-rl"
    ),
    "keys": Case(lambda: _keyed(5000, 10), regime="owl-rl"),
    "nested expressions": Case(
        lambda: nested(20_000),
        regime="owl-rl",
        why="a step between two looks at the clock takes 0.3 to 0.4 s",
    ),
    "a list in a circle": Case(
        lambda: ":C owl:unionOf _:l0 .\n" + a_list(names(1000)) + "_:l999 rdf:rest _:l0 .\n",
        regime="owl-rl",
    ),
    "equivalent classes": Case(lambda: star(20_000, "owl:equivalentClass"), regime="owl-rl"),
    "hub of classes": Case(
        lambda: "".join(f":c{i} rdfs:subClassOf :root ; a owl:Class .\n" for i in range(15_000)),
        regime="owl-rl",
    ),
}
"""Axioms over long lists, and deep hierarchies."""

_LONG = ':a :n "' + "x" * (1 << 20) + '" .\n'
"""A text of a megabyte."""

TEXTS = {
    "a long text in a filter": Case(
        lambda: _LONG,
        f'rule "long" :q[?x] :- :n[?x, ?n], FILTER(STRLEN({_repeated("?n", 300)}) > 5) .',
        suspect="long",
    ),
    "a long text in a constraint": Case(
        lambda: _LONG,
        f'constraint "long" "no" :- :n[?x, ?n], FILTER(STRLEN({_repeated("?n", 300)}) > 5) .',
        suspect="long",
    ),
    "long texts in a filter": Case(
        lambda: _LONG + star(1000, ":p"),
        'rule "long" :q[?y] :- :n[?x, ?n], :p[?z, ?y], '
        "FILTER(CONCAT(STR(?n), STR(?y)) < CONCAT(STR(?y), STR(?n))) .",
        suspect="long",
    ),
    "long texts that are new": Case(
        lambda: _LONG + star(1000, ":p"),
        'rule "long" :q[?y, ?m] :- :n[?x, ?n], :p[?z, ?y], BIND(CONCAT(?n, STR(?y)) AS ?m) .',
        suspect="long",
    ),
    "long texts in a group": Case(
        lambda: _LONG + star(1000, ":p"),
        'rule "long" :q[?x, ?m] :- AGGREGATE(:n[?x, ?n], :p[?z, ?y] ON ?x '
        "BIND GROUP_CONCAT(CONCAT(?n, STR(?y))) AS ?m) .",
        suspect="long",
    ),
    "a long text in groups": Case(
        lambda: _LONG + star(1000, ":p"),
        'rule "long" :q[?y, ?m] :- AGGREGATE(:n[?x, ?n], :p[?z, ?y] ON ?y '
        "BIND GROUP_CONCAT(?n) AS ?m) .",
        suspect="long",
    ),
    "escapes of a long text": Case(
        lambda: _LONG.replace("x", " "),
        'rule "long" :q[?x] :- :n[?x, ?n], '
        f"FILTER(STRLEN(ENCODE_FOR_URI({_repeated('?n', 20)})) > 5) .",
        suspect="long",
    ),
    "a deep expression": Case(
        lambda: _LONG,
        f'rule "long" :q[?x] :- :n[?x, ?n], FILTER(STRLEN({_nested("?n", 40)}) > 5) .',
        suspect="long",
    ),
}
"""Expressions that make long texts."""

JOINS = {
    "500 unconnected atoms": _product(500, 10),
    "three unconnected atoms": _product(3, 10_000),
    "two unconnected atoms": Case(
        lambda: star(20_000, ":p"),
        'rule "product" :q[?a, ?b] :- :p[?x, ?a], :p[?y, ?b] .',
        suspect="product",
    ),
    "500 connected atoms": Case(
        lambda: chain(1000, ":p"),
        'rule "long" :q[?a0, ?a500] :- '
        + ", ".join(f":p[?a{i}, ?a{i + 1}]" for i in range(500))
        + " .",
    ),
    "a star in 300 atoms": Case(
        lambda: star(1000, ":p"),
        'rule "wide" :q[?x, ?a0] :- ' + ", ".join(f":p[?x, ?a{i}]" for i in range(300)) + " .",
    ),
    "paths in a dense graph": Case(
        lambda: "".join(f":n{i} :p :n{j} .\n" for i in range(150) for j in range(150)),
        'rule "dense" :q[?a, ?e] :- :p[?a, ?b], :p[?b, ?c], :p[?c, ?d], :p[?d, ?e], '
        ":p[?a, ?c], :p[?b, ?d] .",
    ),
    "a transitive chain": Case(
        lambda: chain(100_000, ":p"), 'rule "go" :p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .'
    ),
    "a chain that is written out": Case(
        lambda: chain(30_000, ":p"),
        'rule "go" :q[?x, ?z] :- :p[?x, ?z] .\n'
        'rule "on" :q[?x, ?z] :- :q[?x, ?y], :p[?y, ?z], FILTER(?x != ?z) .',
        suspect="on|go",
    ),
    "many rules": Case(
        lambda: ":a :p0 :b .",
        "".join(f":p{i + 1}[?x, ?y] :- :p{i}[?x, ?y] .\n" for i in range(50_000)),
    ),
    "aggregates of pairs": Case(
        lambda: star(3000, ":p"),
        'rule "count" :q[?y, ?m] :- AGGREGATE(:p[?x, ?y], :p[?z, ?w] ON ?y ?w '
        "BIND COUNT(?z) AS ?m) .",
        suspect="count",
    ),
    "30,000 constraints": Case(
        lambda: star(1000, ":p"),
        "".join(f'constraint "c{i}" "no" :- :p[?x, ?y], :p{i}[?y, ?x] .\n' for i in range(30_000)),
    ),
    "a slow filter": Case(
        lambda: star(3000, ":p"),
        'rule "slow" :q[?x, ?y] :- :p[:hub, ?x], :p[:hub, ?y], '
        "FILTER(STRLEN(SHA512(CONCAT(STR(?x), STR(?y)))) = 3) .",
        suspect="slow",
    ),
}
"""Rules of many atoms, or over dense data."""

CASES: dict[str, Case] = {**GROWTH, **EQUALS, **LISTS, **TEXTS, **JOINS}
