"""Random queries and updates as text, over the whole grammar: the same ones for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

VARIABLES = ["?a", "?b", "?c", "?d", "$e"]
IRIS = [":p", ":q", "a:b", "<http://x/y>", ":c-d.e"]
LITERALS = ["1", "-2.5", "1e3", "'x'", '"y"@en-GB', '"z"^^a:b', "true", '"""l\n"q" """', "+7"]
PROLOGUE = "PREFIX : <http://e/> PREFIX a: <http://a/>\n"
CALLS = {
    1: ["STR", "LANG", "ABS", "isIRI", "ucase", "MD5", ":f", "a:b"],
    2: ["CONTAINS", "sameTerm", "STRDT", "REGEX", "SUBSTR", ":f"],
    3: ["IF", "REPLACE", "SUBSTR", "COALESCE", "CONCAT"],
}


@dataclass
class Texts:
    """Makes texts.

    plain  leaves out what rdflib cannot: `SELECT *` is all variables to it, those in filters, too;
           it loses `^p` in negated sets, and refuses negative decimals
    """

    rng: random.Random
    plain: bool = False
    names: int = field(default=0)

    def query(self) -> str:
        form = self.rng.choice(["SELECT"] * 4 + ["ASK", "CONSTRUCT", "DESCRIBE"])
        dataset = self.maybe("FROM :g ", "FROM NAMED :h FROM a:g ")
        if form == "SELECT":
            return PROLOGUE + self.select(2, dataset)
        if form == "ASK":
            return f"{PROLOGUE}ASK {dataset}{self.group(2)}"
        if form == "CONSTRUCT":
            return f"{PROLOGUE}CONSTRUCT {{ {self.template()} }} {dataset}WHERE {self.group(2)}"
        target = self.rng.choice(["?a ?b", ":p", "?a <http://x/y>"])
        limits = "" if self.plain else self.limits()
        return f"{PROLOGUE}DESCRIBE {target} {dataset}WHERE {self.group(2)}{limits}"

    def update(self) -> str:
        operations = [self.operation() for _ in range(self.rng.randint(1, 3))]
        return PROLOGUE + " ;\n".join(operations)

    def operation(self) -> str:
        data = " . ".join(f":s {self.rng.choice(IRIS)} {self.constant()}" for _ in range(2))
        silent = self.maybe("SILENT ")
        return self.rng.choice(
            [
                f"INSERT DATA {{ {data} GRAPH :g {{ {data} }} }}",
                f"DELETE DATA {{ GRAPH :g {{ {data} }} . {data} }}",
                f"WITH :g DELETE {{ {self.quads()} }} INSERT {{ {self.quads()} }} USING :h "
                f"WHERE {self.group(1)}",
                f"DELETE {{ {self.quads()} }} WHERE {self.group(1)}",
                f"INSERT {{ [] :p _:x . {self.quads()} }} WHERE {self.group(1)}",
                f"DELETE WHERE {{ {self.quads()} }}",
                f"LOAD {silent}<http://x/y>" + self.maybe(" INTO GRAPH :g"),
                f"CLEAR {silent}" + self.rng.choice(["ALL", "NAMED", "DEFAULT", "GRAPH :g"]),
                f"DROP {silent}" + self.rng.choice(["ALL", "NAMED", "DEFAULT", "GRAPH :g"]),
                f"CREATE {silent}GRAPH :g",
                self.rng.choice(["ADD", "MOVE", "COPY"]) + f" {silent}DEFAULT TO :g",
                self.rng.choice(["ADD", "MOVE", "COPY"]) + f" {silent}GRAPH :g TO DEFAULT",
            ]
        )

    # --- SELECT ---------------------------------------------------------------------------------

    def select(self, depth: int, dataset: str = "") -> str:
        rng = self.rng
        word = "SELECT " + self.maybe("DISTINCT ", "REDUCED ")
        where = f"{dataset}WHERE {self.group(depth)}"
        if rng.random() < 0.3:
            return f"{word}{self.grouped()}".replace("@where", where) + self.limits()
        items = ["?a", "?b", f"({self.expression(2)} AS {self.fresh()})"]
        star = rng.random() < 0.4 and not self.plain
        chosen = "*" if star else " ".join(rng.sample(items, rng.randint(1, 3)))
        order = ""
        if rng.random() < 0.3:
            order = f" ORDER BY ?a DESC({self.expression(1)}) ({self.expression(1)})"
        values = self.maybe(" VALUES (?z) { (1) (UNDEF) }") if rng.random() < 0.3 else ""
        return f"{word}{chosen} {where}{order}{self.limits()}{values}"

    def grouped(self) -> str:
        n = self.fresh()
        aggregates = [
            "COUNT(*)",
            "COUNT(DISTINCT ?b)",
            f"SUM({self.expression(1)})",
            "(MIN(?b) + 1)",
            "SAMPLE(?c)",
            "GROUP_CONCAT(?b ; SEPARATOR = ', ')",
        ]
        chosen = self.rng.choice(aggregates)
        if self.rng.random() < 0.3:
            return f"({chosen} AS {n}) @where"
        key = self.rng.choice(["?a", f"?a ({self.expression(1)} AS {self.fresh()})", "?a STR(?b)"])
        if self.plain:
            key = "?a"
        having = self.maybe(f" HAVING({self.rng.choice(aggregates)} > 1)")
        order = self.maybe(f" ORDER BY {n}", f" ORDER BY DESC({self.rng.choice(aggregates)})")
        return f"?a ({chosen} AS {n}) @where GROUP BY {key}{having}{order}"

    def limits(self) -> str:
        return self.maybe(" LIMIT 3", " OFFSET 2", " LIMIT 3 OFFSET 4")

    # --- patterns -------------------------------------------------------------------------------

    def group(self, depth: int) -> str:
        if depth == 0:
            return f"{{ {self.triples()} }}"
        parts = [self.element(depth - 1) for _ in range(self.rng.randint(0, 4))]
        return "{ " + " ".join(parts) + " }"

    def element(self, depth: int) -> str:
        rng = self.rng
        kind = rng.randrange(13)
        if kind < 4:
            return self.triples() + " ."
        if kind == 4:
            return f"OPTIONAL {self.group(depth)}"
        if kind == 5:
            return f"{self.group(depth)} UNION {self.group(depth)}" + self.maybe(" UNION {}")
        if kind == 6:
            return f"MINUS {self.group(depth)}"
        if kind == 7:
            return f"FILTER({self.expression(2)})" + self.maybe(" .")
        if kind == 8:
            negated = self.maybe("NOT ")
            return f"FILTER {negated}EXISTS {self.group(depth)}"
        if kind == 9:
            return f"BIND({self.expression(2)} AS {self.fresh()})"
        if kind == 10:
            return f"GRAPH {rng.choice(['?d', ':g'])} {self.group(depth)}"
        if kind == 11:
            return "VALUES (?a ?b) { (1 UNDEF) (:p 'x') }" + self.maybe(" VALUES ?c { true }")
        if depth == 0:
            return self.group(0)
        return f"{{ {self.select(depth - 1)} }}"

    def triples(self) -> str:
        rng = self.rng
        found = []
        for _ in range(rng.randint(1, 3)):
            subject = rng.choice([*VARIABLES, ":s", "[]", "[ :p 1 ]", "(1 ?a)"])
            objects = self.node() + self.maybe(f" , {self.node()}")
            more = self.maybe(f" ; {self.verb()} {self.node()}", " ;")
            found.append(f"{subject} {self.verb()} {objects}{more}")
        return " . ".join(found)

    def verb(self) -> str:
        rng = self.rng
        if rng.random() < 0.7:
            return rng.choice([*IRIS, "a", "?b"])
        return self.path(2)

    def path(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice([":p", ":q", "a", "^:p"])
        inner = self.path(depth - 1)
        return rng.choice(
            [
                f"{inner}/{self.path(depth - 1)}",
                f"{inner}|{self.path(depth - 1)}",
                f"({inner}){rng.choice('*+?')}",
                f":p{rng.choice('*+?')}",
                f"^({inner})",
                "!:p" if self.plain else "!(:p|^a)",
                "!(:p|:q)",
            ]
        )

    def node(self) -> str:
        rng = self.rng
        if rng.random() < 0.7:
            return rng.choice([*VARIABLES, self.constant()])
        return rng.choice(["[]", f"[ :p {self.node()} ]", f"( {self.node()} 2 )", "()"])

    def constant(self) -> str:
        found = self.rng.choice([*IRIS, *LITERALS])
        return "-2" if self.plain and found == "-2.5" else found

    def template(self) -> str:
        return f"?a :p [ a:b ?b ] . _:x :q {self.constant()} ; a {self.rng.choice(IRIS)}"

    def quads(self) -> str:
        return f"?a :p {self.constant()} . GRAPH ?d {{ ?a ?b ?c }} " + self.maybe("?b a :q .")

    # --- expressions ----------------------------------------------------------------------------

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*VARIABLES, ":p", "1", "2.5", "'x'", "true"])
        one, two = self.expression(depth - 1), self.expression(depth - 1)
        count = rng.randint(1, 3)
        call = f"{rng.choice(CALLS[count])}({', '.join([one, two, one][:count])})"
        return rng.choice(
            [
                f"({one} + {two})",
                f"({one} * {two} - {one})",
                f"({one} = {two})",
                f"({one} < {two} || {two} && {one})",
                f"!({one})",
                "?a" if self.plain else f"-({one})",
                f"({one} IN ({two}, 1))",
                f"({one} NOT IN ())",
                call,
                call,
                "BOUND(?a)",
            ]
        )

    # --- helpers --------------------------------------------------------------------------------

    def maybe(self, *texts: str) -> str:
        """One of the texts, or nothing."""
        return self.rng.choice(["", *texts]) if self.rng.random() < 0.6 else ""

    def fresh(self) -> str:
        self.names += 1
        return f"?v{self.names}"
