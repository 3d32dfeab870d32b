"""Random data and random queries over it, the same ones for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pyoxigraph as ox

EX = "http://ex.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
NODES = [ox.NamedNode(EX + name) for name in "abcde"]
BLANKS = [ox.BlankNode(name) for name in ("n1", "n2")]
PREDICATES = [ox.NamedNode(EX + name) for name in "pqrs"]
KNOWS = ox.NamedNode(EX + "knows")
GRAPHS = [ox.NamedNode(EX + name) for name in ("g", "h")]
LITERALS = [
    ox.Literal(1),
    ox.Literal(2),
    ox.Literal("3.5", datatype=ox.NamedNode(XSD + "decimal")),
    ox.Literal("x"),
    ox.Literal("x", language="en"),
    ox.Literal("y"),
    ox.Literal(True),
]
VARIABLES = ["?v", "?w", "?x", "?y", "?z"]


def random_data(rng: random.Random) -> list[ox.Quad]:
    """Some quads, most of them in the default graph."""
    quads = []
    for _ in range(rng.randint(5, 70)):
        subject = rng.choice(NODES + BLANKS)
        object_ = rng.choice(NODES + BLANKS + (LITERALS if rng.random() < 0.5 else []))
        graph = rng.choice(GRAPHS) if rng.random() < 0.3 else ox.DefaultGraph()
        quads.append(ox.Quad(subject, rng.choice(PREDICATES), object_, graph))
    # Every term is in every graph: of terms that are not, pyoxigraph has no paths of length zero.
    for graph in (ox.DefaultGraph(), *GRAPHS):
        quads += [ox.Quad(NODES[0], KNOWS, term, graph) for term in (*NODES, *LITERALS)]
    return quads


@dataclass(slots=True)
class Queries:
    """Makes queries as text."""

    rng: random.Random
    depth: int = 2
    exists: bool = True

    def query(self) -> str:
        """A query of some form."""
        rng = self.rng
        pattern = self.group(rng.randint(0, self.depth))
        form = rng.random()
        if form < 0.1:
            return f"ASK {pattern}"
        if form < 0.25:
            return self.grouped(pattern)
        head = rng.choice(
            ["SELECT *", "SELECT DISTINCT *", self.some("SELECT"), self.some("SELECT DISTINCT")]
        )
        tail = ""
        if rng.random() < 0.15:
            keys = " ".join(rng.sample(VARIABLES, len(VARIABLES)))
            tail = f" ORDER BY {keys}"
        return f"{head} {pattern}{tail}"

    def some(self, verb: str) -> str:
        """A SELECT of some variables."""
        names = self.rng.sample(VARIABLES, self.rng.randint(1, 3))
        return f"{verb} {' '.join(names)}"

    def grouped(self, pattern: str) -> str:
        """A query with aggregates."""
        rng = self.rng
        key, value = rng.sample(VARIABLES, 2)
        function = rng.choice(
            [
                "COUNT(*)",
                f"COUNT({value})",
                f"COUNT(DISTINCT {value})",
                f"SUM({value})",
                f"MIN(STR({value}))",
                f"MAX(STR({value}))",
                f"AVG({value})",
                "COUNT(DISTINCT *)",
            ]
        )
        having = " HAVING (COUNT(*) > 1)" if rng.random() < 0.3 else ""
        if rng.random() < 0.3:
            return f"SELECT ({function} AS ?n) {pattern}{having}"
        return f"SELECT {key} ({function} AS ?n) {pattern} GROUP BY {key}{having}"

    # --- patterns -------------------------------------------------------------------------------

    def graph(self, depth: int) -> str:
        """A GRAPH."""
        # pyoxigraph forgets the graph where there is no triple or a sub-query, and shows it inside.
        name = self.rng.choice(["?g", "ex:g", "ex:h", "?x"])
        if name == "?x":
            return f"GRAPH ?x {{ {self.triples()} }}"
        return f"GRAPH {name} {{ {self.triples()} {self.group(depth - 1, selects=False)} }}"

    def group(self, depth: int, selects: bool = True) -> str:
        """A group in braces."""
        parts = [self.part(depth) for _ in range(self.rng.randint(1, 3))]
        if not selects:
            parts = [part for part in parts if "SELECT" not in part and "MINUS" not in part]
        return "{ " + " ".join(parts) + " }"

    def part(self, depth: int) -> str:
        """Something that stands in a group."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return self.triples()
        kind = rng.randrange(13)
        inner = self.group(depth - 1)
        match kind:
            case 0 | 1:
                absent = f" FILTER(!BOUND({rng.choice(VARIABLES)}))" if rng.random() < 0.2 else ""
                return f"OPTIONAL {inner}{absent}"
            case 2:
                return f"{inner} UNION {self.group(depth - 1)}"
            case 3:
                return f"MINUS {inner}"
            case 4:
                return f"FILTER({self.condition()})"
            case 5:
                return f"BIND({self.expression()} AS ?b{rng.randrange(10**6)})"
            case 6:
                return self.values()
            case 7:
                return self.graph(depth)
            case 8:
                verb = rng.choice(["SELECT", "SELECT DISTINCT"])
                return "{ " + self.some(verb) + " " + inner + " }"
            case 9 if self.exists:
                # pyoxigraph puts values into sub-queries that do not show the variable, and takes
                # those of the outer solution for something that both sides of MINUS have.
                return self.existing(depth)
            case 10:
                return inner
            case 11:
                key = rng.choice(VARIABLES)
                return (
                    "{ SELECT "
                    + key
                    + " (COUNT(*) AS ?c"
                    + str(rng.randrange(3))
                    + ") "
                    + inner
                    + " GROUP BY "
                    + key
                    + " }"
                )
            case _:
                return self.triples()

    def existing(self, depth: int) -> str:
        """A filter that is an EXISTS, in which there may be another one."""
        rng = self.rng
        word = rng.choice(["EXISTS", "NOT EXISTS"])
        if rng.random() < 0.5:
            return f"FILTER {word} {self.group(depth - 1, selects=False)}"
        inner = self.existing(depth - 1) if depth > 1 else f"FILTER {word} {{ {self.triple()} }}"
        denied = f" FILTER({self.condition()})" if rng.random() < 0.3 else ""
        return f"FILTER {word} {{ {self.triples()} {inner}{denied} }}"

    def triples(self) -> str:
        """One to three triple patterns."""
        return " ".join(self.triple() for _ in range(self.rng.randint(1, 3)))

    def triple(self) -> str:
        rng = self.rng
        subject = rng.choice(VARIABLES) if rng.random() < 0.9 else self.node()
        if rng.random() < 0.2:
            predicate = self.path(2)
        else:
            predicate = f"ex:{rng.choice('pqrs')}" if rng.random() < 0.85 else rng.choice(VARIABLES)
        object_ = rng.choice(VARIABLES) if rng.random() < 0.85 else self.term()
        text = f"{subject} {predicate} {object_} ."
        is_path = any(sign in predicate for sign in "*?+|/!")
        return text.replace("ex:f", "ex:e").replace('"nowhere"', '"y"') if is_path else text

    def path(self, depth: int) -> str:
        """A property path."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return f"ex:{rng.choice('pqrs')}"
        one, other = self.path(depth - 1), self.path(depth - 1)
        # Of alternatives that both match, and of several predicates between two known ends,
        # pyoxigraph gives one: so alternatives and negations only stand in closures.
        return rng.choice(
            [
                f"({one})*",
                f"({one})+",
                f"({one})?",
                f"^({one})",
                f"({one}/{other})",
                f"({one}|{other})*",
                f"({one}|^({other}))+",
                f"({one}|{other})?",
                f"(!(ex:{rng.choice('pqrs')}|^ex:{rng.choice('pqrs')}))+",
                f"(!ex:{rng.choice('pqrs')})?",
            ]
        )

    def node(self) -> str:
        return f"ex:{self.rng.choice('abcdef')}"

    def term(self) -> str:
        if self.rng.random() < 0.6:
            return self.node()
        return self.rng.choice(["1", "2", "3.5", '"x"', '"x"@en', "true", '"nowhere"'])

    def values(self) -> str:
        """A table, maybe with UNDEF."""
        rng = self.rng
        names = rng.sample(VARIABLES, rng.randint(1, 2))
        rows = []
        for _ in range(rng.randint(1, 3)):
            cells = [self.term() if rng.random() < 0.8 else "UNDEF" for _ in names]
            rows.append(f"({' '.join(cells)})")
        return f"VALUES ({' '.join(names)}) {{ {' '.join(rows)} }}"

    # --- expressions ----------------------------------------------------------------------------

    def condition(self) -> str:
        """Something that is true or false."""
        rng = self.rng
        one, other = rng.choice(VARIABLES), rng.choice(VARIABLES)
        return rng.choice(
            [
                f"{one} = {other}",
                f"{one} != {self.term()}",
                f"{one} > 1",
                f"{one} < {other}",
                f"BOUND({one})",
                f"!BOUND({one})",
                f"ISIRI({one}) || {other} = 2",
                f"ISLITERAL({one}) && {other} = {self.term()}",
                f"{one} IN ({self.node()}, {self.node()})",
                f"{one} = {self.node()}",
                f"SAMETERM({one}, {other})",
            ]
        )

    def expression(self) -> str:
        """Something with a value."""
        rng = self.rng
        one, other = rng.choice(VARIABLES), rng.choice(VARIABLES)
        return rng.choice(
            [
                f"{one} + 1",
                f"{one} * {other}",
                f"STR({one})",
                f"COALESCE({one}, {other})",
                f"IF({self.condition()}, {one}, 7)",
                self.term(),
                one,
            ]
        )
