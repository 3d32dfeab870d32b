"""Random CONSTRUCT rules in two layers, and what repeating them with pyoxigraph concludes."""

from __future__ import annotations

import random
from typing import Any

import pyoxigraph as ox

PREFIX = "PREFIX : <http://ex.org/> "
GRAPH = ox.DefaultGraph()


class Constructs:
    """Rules whose first layer is positive and recursive; the second may negate and count."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0  # variables of BIND

    def any(self, *options: Any) -> Any:
        return self.random.choice(options)

    def data(self, count: int = 40) -> list[ox.Quad]:
        made = set()
        for _ in range(count):
            subject, verb = self.any("n0", "n1", "n2", "n3", "n4"), self.any("p", "q", "r")
            value: ox.NamedNode | ox.Literal = _node(self.any("n0", "n1", "n2", "n3", "n4"))
            if verb == "r" or self.random.random() < 0.15:
                value = self.random.choice(
                    [ox.Literal(1), ox.Literal(2), ox.Literal("a"), ox.Literal("b", language="en")]
                )
            made.add(ox.Quad(_node(subject), _node(verb), value, GRAPH))
        return sorted(made, key=str)

    def term(self) -> str:
        return self.any(*["?a", "?b", "?c"] * 4, ":n0")

    def verb(self, layer: int) -> str:
        derived = [[], ["d1", "d1"], ["d1", "d1", "d2"]][layer]
        name = self.any("p", "q", "r", *derived)
        plain = f":{name}"
        if self.random.random() < 0.75 or name == "d2" or not layer:
            return plain
        paths = ["^:p", ":p/:q", ":p|:q", "^(:p/:q)", "!(:p|:q|:d1|:d2)"]
        if layer == 2:
            paths += [":p+", ":d1*", ":q?", "(:p|:q)+", ":p+/:q", ":p*/:q"]
        return self.any(*paths)

    def triple(self, layer: int) -> str:
        end = self.any(*[self.term()] * 9, "1")
        return f"{self.term()} {self.verb(layer)} {end} ."

    def group(self, layer: int, depth: int = 1) -> str:
        parts = [self.triple(layer) for _ in range(self.any(1, 1, 2))]
        more = range(self.any(0, 1, 1, 2) if depth else 0)
        parts += [self.element(layer, depth - 1) for _ in more]
        self.random.shuffle(parts)
        return " ".join(parts)

    def condition(self) -> str:
        return self.any(
            "?a != ?b",
            "?a = ?b",
            "isLiteral(?b)",
            "?b > 1",
            "?a IN (:n0, ?c)",
            "STR(?a) < STR(?b)",
            "?b > 1 || isIRI(?a)",
            "!(?b > 1)",
            "COALESCE(?b > 1, true)",
            "IF(isIRI(?c), true, ?b > 1)",
            "BOUND(?c)",
            "!BOUND(?c)",
            "!BOUND(?b) || ?b = 1",
            "lang(?b) = 'en'",
            "sameTerm(?a, ?c)",
        )

    def element(self, layer: int, depth: int) -> str:
        kinds = ["FILTER", "FILTER", "BIND", "UNION", "VALUES", "GROUP", "OPTIONAL", "SELECT"]
        if layer == 2:
            kinds += ["NOT EXISTS", "EXISTS", "MINUS", "COUNT", "OPTIONAL"]
        kind = self.random.choice(kinds)
        low = 1 if layer == 2 else layer  # what is negated or counted belongs to a lower layer
        if kind == "FILTER":
            return f"FILTER({self.condition()})"
        if kind == "BIND":
            value = self.any("?b + 1", "STR(?a)", ":n3", "CONCAT(STR(?c), '!')", "?a", "IRI(?b)")
            self.made += 1
            return f"BIND({value} AS ?{self.any('d', 'e')}{self.made})"
        if kind == "UNION":
            return f"{{ {self.group(layer, depth)} }} UNION {{ {self.group(layer, depth)} }}"
        if kind == "VALUES":
            return self.any("VALUES ?a { :n0 :n1 }", "VALUES (?a ?c) { (:n1 UNDEF) (:n2 :n0) }")
        if kind == "GROUP":
            return f"{{ {self.group(layer, depth)} }}"
        if kind == "OPTIONAL":
            return f"OPTIONAL {{ {self.group(low if layer == 2 else 0, depth)} }}"
        if kind == "SELECT":
            return f"{{ SELECT ?a ?b {{ {self.group(layer, depth)} }} }}"
        if kind == "COUNT":
            return self.count()
        if kind == "NOT EXISTS" and self.random.random() < 0.3:
            inner = f"{self.triple(1)} FILTER NOT EXISTS {{ {self.triple(1)} FILTER(?a != ?b) }}"
            return f"FILTER NOT EXISTS {{ {inner} }}"
        word = "MINUS" if kind == "MINUS" else f"FILTER {kind}"
        return f"{word} {{ {self.group(1, depth)} }}"

    def count(self) -> str:
        function = self.any("COUNT(?y)", "COUNT(*)", "SUM(?y)", "MIN(?y)", "COUNT(DISTINCT ?y)")
        keys, shown = "GROUP BY ?a", "?a"
        pattern = f"?a {self.any(':p', ':q', ':d1', ':r')} ?y ."
        if self.random.random() < 0.3:
            pattern += f" ?y {self.any(':p', ':q')} ?z ."
        if self.random.random() < 0.3:
            keys, shown = "", ""
        return f"{{ SELECT {shown} ({function} AS ?n) {{ {pattern} }} {keys} }}"

    def rule(self, layer: int) -> str:
        body = self.group(layer)
        made = [word for word in body.replace(")", " ").split() if word[:2] in ("?d", "?e", "?n")]
        ends = ["?a", "?b", "?c", "?a", "?b", *made]
        head = f"{self.any('?a', '?b', '?c')} :d{layer} {self.any(*ends)} ."
        if self.random.random() < 0.3:
            head += f" {self.any('?a', ':n0')} :d{layer} {self.any(*ends, ':k')} ."
        return f"CONSTRUCT {{ {head} }} WHERE {{ {body} }}"


def _node(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"http://ex.org/{name}")


MOST_TRIPLES = 400


def repeated(quads: list[ox.Quad], layers: list[list[str]]) -> set[ox.Triple] | None:
    """All triples after repeating each layer until nothing new comes; None if they are many."""
    store = ox.Store()
    store.extend(quads)
    for rules in layers:
        while True:
            before = len(store)
            for rule in rules:
                found = store.query(PREFIX + rule)
                store.extend([ox.Quad(*triple, GRAPH) for triple in list(found)])
            if len(store) == before:
                break
            if len(store) > MOST_TRIPLES:
                return None
    return {quad.triple for quad in store}
