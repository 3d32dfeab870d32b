"""Random data with triple terms, and random queries about it."""

from __future__ import annotations

from random import Random

import pyoxigraph as ox

EX = "http://e/"
REIFIES = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
PROLOGUE = f"PREFIX : <{EX}> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"

NODES = [ox.NamedNode(EX + name) for name in "abcd"]
VERBS = [ox.NamedNode(EX + name) for name in "pq"]
INTEGER = ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer")
LITERALS = [
    ox.Literal("1", datatype=INTEGER),
    ox.Literal("x", datatype=ox.NamedNode(EX + "unit")),
    ox.Literal('x"\n<<('),
    ox.Literal("chat", language="fr"),
    ox.Literal("chat", language="ar", direction=ox.BaseDirection.RTL),
]
GRAPHS = [ox.DefaultGraph(), ox.NamedNode(EX + "g"), ox.NamedNode(EX + "h")]


def triple_term(random: Random, depth: int) -> ox.Triple:
    """A triple term nested at most this deep."""
    inner = depth > 1 and random.random() < 0.4
    object_ = triple_term(random, depth - 1) if inner else random.choice([*NODES, *LITERALS])
    return ox.Triple(random.choice(NODES), random.choice(VERBS), object_)


def quad(random: Random) -> ox.Quad:
    """A quad, with a triple term as object or without one."""
    graph = random.choice(GRAPHS)
    subject = random.choice(NODES)
    chance = random.random()
    if chance < 0.4:
        return ox.Quad(subject, REIFIES, triple_term(random, 3), graph)
    verb = random.choice(VERBS)
    if chance < 0.6:
        return ox.Quad(subject, verb, triple_term(random, 3), graph)
    return ox.Quad(subject, verb, random.choice([*NODES, *LITERALS]), graph)


class QueryMaker:
    """Makes queries of a few variables, so that patterns are joined.

    None has EXISTS: pyoxigraph takes an error in it (a literal as subject) as true.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = [f"?v{n}" for n in range(random.randint(2, 5))]

    def query(self) -> str:
        """The text of a query."""
        return f"{PROLOGUE}SELECT * WHERE {{ {self.group(2)} }}"

    def group(self, depth: int) -> str:
        """The content of a group."""
        parts = [self.triple() for _ in range(self.random.randint(1, 2))]
        if depth and self.random.random() < 0.6:
            inner = self.group(depth - 1)
            form = self.random.choice(
                ("OPTIONAL {%s}", "MINUS {%s}", "{%s} UNION {:a :p ?v0}", "GRAPH ?g {%s}",
                 "{SELECT ?v0 ?v1 {%s}}")
            )  # fmt: skip
            parts.append(form % inner)
        if depth == 2 and self.random.random() < 0.3:
            parts.append(f"FILTER({self.test()})")
        return " ".join(parts)

    def triple(self) -> str:
        """A triple, perhaps with a reifier or an annotation."""
        subject, verb, object_ = self.term(NODES), self.term(VERBS), self.object_(3)
        chance = self.random.random()
        if chance < 0.15:
            return (
                f"<< {subject} {verb} {self.object_(2)} >> {self.term(VERBS)} {self.object_(1)} ."
            )
        if chance < 0.3:
            reifier = self.random.choice(("~", f"~ {self.term(NODES)}"))
            block = f"{{| {self.term(VERBS)} {self.object_(1)} |}}"
            return f"{subject} {verb} {object_} {self.random.choice((reifier, block))} ."
        if chance < 0.5:
            verb = "rdf:reifies"
        return f"{subject} {verb} {object_} ."

    def term(self, constants: list[ox.NamedNode]) -> str:
        """A variable or a constant."""
        if self.random.random() < 0.6:
            return self.random.choice(self.names)
        return str(self.random.choice(constants))

    def object_(self, depth: int) -> str:
        """An object: a term, or a triple term with variables."""
        if depth and self.random.random() < 0.6:
            parts = self.term(NODES), self.term(VERBS), self.object_(depth - 1)
            return f"<<( {' '.join(parts)} )>>"
        if self.random.random() < 0.6:
            return self.random.choice(self.names)
        return str(self.random.choice([*NODES, *LITERALS]))

    def test(self) -> str:
        """A condition about triple terms."""
        name, other = self.random.choice(self.names), self.random.choice(self.names)
        return self.random.choice(
            (f"isTRIPLE({name})", f"SUBJECT({name}) = :a", f"!isTRIPLE({name})",
             f"sameTerm(OBJECT({name}), {other})", f"{name} = {other}",
             f"{name} = <<( {other} :p :a )>>", f"hasLANGDIR(OBJECT({name}))")
        )  # fmt: skip
