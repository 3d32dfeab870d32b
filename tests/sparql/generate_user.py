"""Queries as users write them, over data of people, works and reviews; the same for the same seed.

Beside `generate`, which combines all that the algebra has: here are the idioms, with functions on
strings, numbers and dates, and texts that are long. What pyoxigraph and the specification see
differently is left out, or asked for with DISTINCT (alternatives and negated sets in paths).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pyoxigraph as ox

EX = "http://ex.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIX = f"PREFIX : <{EX}> PREFIX xsd: <{XSD}> "
WORDS = ["Alpha", "beta two", "Gamma-3", "délta", "", "x.y.z", "ALPHA", "a b c", "日本", "Beta"]


def data(rng: random.Random) -> list[ox.Quad]:
    """People who know and work, with names, ages and dates; some of it in graphs."""
    people, works = rng.randint(5, 25), rng.randint(2, 8)
    quads: list[ox.Quad] = []

    def say(subject: str, predicate: str, value: ox.NamedNode | ox.Literal | str) -> None:
        graph = ox.NamedNode(EX + rng.choice("gh")) if rng.random() < 0.2 else ox.DefaultGraph()
        term = ox.NamedNode(EX + value) if isinstance(value, str) else value
        quads.append(ox.Quad(ox.NamedNode(EX + subject), ox.NamedNode(EX + predicate), term, graph))

    def typed(value: str, kind: str) -> ox.Literal:
        return ox.Literal(value, datatype=ox.NamedNode(XSD + kind))

    for i in range(people):
        me = f"p{i}"
        say(me, "is", "Person")
        for _ in range(rng.randint(0, 3)):
            say(me, "knows", f"p{rng.randrange(people)}")
        if rng.random() < 0.8:
            language = rng.choice([None, None, "en", "de", "en-GB"])
            say(me, "name", ox.Literal(rng.choice(WORDS), language=language))
        if rng.random() < 0.7:
            kind = rng.choice(["integer", "decimal", "double"])
            value = rng.randint(-3, 60)
            lexical = f"{value}.5" if kind in ("decimal", "double") else str(value)
            say(me, "age", typed(lexical, kind))
        if rng.random() < 0.6:
            day = f"{rng.randint(1999, 2003)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
            zone = rng.choice(["Z", "Z", "+05:30", "-11:00"])
            time = f"T0{rng.randint(0, 9)}:1{rng.randint(0, 9)}:2{rng.randint(0, 9)}.5{zone}"
            say(me, "born", typed(day + time, "dateTime"))
        if rng.random() < 0.5:
            say(me, "works", f"w{rng.randrange(works)}")
    for i in range(works):
        say(f"w{i}", "is", "Work")
        say(f"w{i}", "title", ox.Literal(f"{rng.choice(WORDS)} {i}"))
        if i:
            say(f"w{i}", "partOf", f"w{rng.randrange(i)}")
    return quads


@dataclass(slots=True)
class UserQueries:
    """Makes queries."""

    rng: random.Random

    def query(self) -> str:
        """One of some shape."""
        shapes: list[Callable[[], str]] = [
            *(self.paths, self.optionals, self.tables, self.best, self.groups, self.graphs),
            *(self.functions, self.functions, self.patterns, self.lists, self.unions, self.nested),
            *(self.ordered, self.absent, self.counted),
        ]
        return PREFIX + self.rng.choice(shapes)()

    def pick(self, *texts: str) -> str:
        """One of these."""
        return self.rng.choice(texts)

    def person(self) -> str:
        """Someone."""
        return f":p{self.rng.randrange(8)}"

    def paths(self) -> str:
        """Property paths with inverses, alternatives, negations and closures."""
        path = self.pick(
            *(":knows/^:knows", "(:knows|^:knows)+", ":knows*/:works", "^:works/:knows?/:works"),
            *(
                "!(:knows|^:works)",
                "!:is",
                "(:works|:knows)/:partOf*/:title",
                ":knows/:knows/:name",
            ),
            *("(^:partOf)*/^:works", "(:knows/:works)|:partOf", ":knows+/(:name|:age)", "^:knows+"),
        )
        start = self.pick("?x", "?x", self.person())
        where = f"{start} {path} ?y"
        more = self.pick("", " ?y :age ?a", " ?x :is :Person", " OPTIONAL { ?y :title ?t }")
        return f"SELECT DISTINCT * {{ {where} .{more} }}"

    def optionals(self) -> str:
        """OPTIONAL in OPTIONAL, with filters that look around."""
        inner = self.pick("?f :works ?w", "?f :knows ?h . ?h :works ?w", "?w ^:works ?f")
        test = self.pick("?a > 20", "?b < 30 || !BOUND(?b)", "BOUND(?w)", "?a != 5", "?x != ?f")
        last = self.pick("", " FILTER(!BOUND(?w))", " FILTER(BOUND(?b))", " FILTER(?a >= 18)")
        return (
            f"SELECT * {{ ?x :age ?a OPTIONAL {{ ?x :knows ?f OPTIONAL {{ {inner} }}"
            f" FILTER({test}) }} OPTIONAL {{ ?f :age ?b }}{last} }}"
        )

    def tables(self) -> str:
        """VALUES, inside and at the end."""
        rows = " ".join(
            f"({self.pick(self.person(), 'UNDEF')} {self.pick(self.person(), 'UNDEF')})"
            for _ in range(self.rng.randint(0, 4))
        )
        if self.rng.random() < 0.5:
            return (
                f"SELECT * {{ ?x :knows ?y OPTIONAL {{ ?y :age ?a }} }} VALUES (?x ?y) {{ {rows} }}"
            )
        return f"SELECT * {{ VALUES (?x ?y) {{ {rows} }} ?x :knows ?z . ?z :knows ?y }}"

    def best(self) -> str:
        """The first of something in a sub-query."""
        limit = self.rng.randint(0, 4)
        offset = self.pick("", " OFFSET 1")
        return (
            "SELECT ?x ?y { { SELECT DISTINCT ?x"
            f" {{ ?x {self.pick(':age', ':works', ':is')} ?v }}"
            f" ORDER BY {self.pick('?x', 'DESC(?x)')} LIMIT {limit}{offset} }}"
            f" {self.pick('?x :knows ?y', 'OPTIONAL { ?x :knows ?y }', '?y :knows ?x')} }}"
        )

    def groups(self) -> str:
        """GROUP BY of expressions, with HAVING."""
        key = self.pick("YEAR(?d)", "MONTH(?d)", "?a > 18", "STRLEN(STR(?n))", "DATATYPE(?a)")
        value = self.pick(
            "COUNT(*)", "SUM(?a)", "MIN(?a)", "MAX(?d)", "COUNT(DISTINCT ?f)", "AVG(?a)"
        )
        having = self.pick("", " HAVING (COUNT(*) > 1)", " HAVING (COUNT(?f) < 5 && MAX(?a) > 3)")
        return (
            f"SELECT ?k ({value} AS ?v) {{ ?x :age ?a ; :born ?d OPTIONAL {{ ?x :name ?n }}"
            f" OPTIONAL {{ ?x :knows ?f }} }} GROUP BY ({key} AS ?k){having}"
        )

    def graphs(self) -> str:
        """Named graphs, chosen by FROM NAMED and joined with the default graph."""
        chosen = self.pick("", "FROM NAMED :g ", "FROM :g ", "FROM :g FROM :h FROM NAMED :h ")
        body = self.pick(
            "GRAPH ?g { ?x :knows ?y }",
            "GRAPH ?g { ?x :knows ?y } ?y :knows ?z",
            "GRAPH ?g { ?x :name ?n } OPTIONAL { GRAPH ?g { ?x :age ?a } }",
            "GRAPH :h { ?x ?p ?y } MINUS { ?x :knows ?y }",
            "?x :is ?c FILTER NOT EXISTS { GRAPH ?g { ?x :knows ?y } }",
        )
        return f"SELECT * {chosen}{{ {body} }}"

    def functions(self) -> str:
        """A function of something that there is."""
        text = self.pick("?n", "STR(?n)", "LCASE(?n)", "CONCAT(STR(?n), '-', STR(?a))", "STR(?x)")
        number = self.pick("?a", "?a * 2", "-?a", "?a / 3", "STRLEN(?n)", "YEAR(?d) - 1990")
        value = self.pick(
            *(f"UCASE({text})", f"STRLEN({text})", f"SUBSTR({text}, 2)", f"SUBSTR({text}, 1, 3)"),
            *(f"STRBEFORE({text}, 'a')", f"STRAFTER({text}, ' ')", f"ENCODE_FOR_URI({text})"),
            *(f"REPLACE({text}, 'a', '[$0]')", f"REPLACE({text}, '(b)(e)', '$2$1', 'i')"),
            *(f"CONTAINS({text}, 'a')", f"STRSTARTS({text}, 'A')", f"STRENDS({text}, 'a')"),
            *("LANG(?n)", "LANGMATCHES(LANG(?n), 'en')", "LANGMATCHES(LANG(?n), '*')"),
            *(f"MD5({text})", f"SHA256({text})", f"STRLANG(STR({text}), 'fr')", "DATATYPE(?a)"),
            *(
                "YEAR(?d)",
                "MONTH(?d)",
                "DAY(?d)",
                "HOURS(?d)",
                "MINUTES(?d)",
                "SECONDS(?d)",
                "TZ(?d)",
            ),
            *("TIMEZONE(?d)", "?d > '2001-01-01T00:00:00Z'^^xsd:dateTime", "xsd:date(?d)"),
            *(
                f"ABS({number})",
                f"CEIL({number})",
                f"FLOOR({number})",
                f"{number} + 1",
                f"{number} > 9",
            ),
            *(f"xsd:integer({number})", f"xsd:string({number})", f"xsd:boolean({number})"),
            *("IF(BOUND(?n), ?n, 'none')", "COALESCE(?n, ?a, 'none')", "COALESCE(1/0, ?a)"),
            *("?a IN (1, 2.5, 30, 'x')", "?n NOT IN ('Alpha', 'Beta'@en)", "ISNUMERIC(?a)"),
            *("IRI(CONCAT('http://e/', ENCODE_FOR_URI(STR(?n))))", "STRDT(STR(?a), xsd:token)"),
            *("?a = ?a && ?n = ?n", "SAMETERM(?a, 5)", "BOUND(?n) || ?a > 1", "!(?a < 20)"),
        )
        where = "?x :is :Person OPTIONAL { ?x :name ?n } OPTIONAL { ?x :age ?a }"
        where += " OPTIONAL { ?x :born ?d }"
        if self.rng.random() < 0.5 or "?a" in value:  # numbers have several lexical forms
            return f"SELECT ?x ({value} AS ?v) {{ {where} }}"
        # of a tagged string, pyoxigraph has no truth value; a plain literal of 17.2.2 may be tagged
        return f"SELECT ?x {{ {where} FILTER(STRLEN(STR({value})) > 4) }}"

    def patterns(self) -> str:
        """REGEX with flags."""
        pattern = self.pick(
            "^a", "A$", "a.b", "[aeiou]{2}", "a b", "^$", "b\\\\w", "x\\\\.y", "(a|B).*"
        )
        flags = self.pick("", ", 'i'", ", 's'", ", 'm'", ", 'x'", ", 'q'", ", 'is'")
        text = self.pick("?n", "STR(?n)", "LCASE(?n)", "STR(?x)")
        return f'SELECT ?x ?n {{ ?x :name ?n FILTER REGEX({text}, "{pattern}"{flags}) }}'

    def lists(self) -> str:
        """IN with many."""
        many = ", ".join(
            self.pick(f":p{i}", f":p{i}", f"{i}", f"'Beta{i}'")
            for i in range(self.rng.randint(0, 400))
        )
        return f"SELECT * {{ ?x :knows|:age ?y FILTER(?y {self.pick('IN', 'NOT IN')} ({many})) }}"

    def unions(self) -> str:
        """UNION of many branches."""
        branches = " UNION ".join(
            f"{{ :p{i % 25} {self.pick(':knows', ':works', ':age')} ?y }}"
            for i in range(self.rng.randint(1, 60))
        )
        return f"SELECT {self.pick('*', 'DISTINCT *', '(COUNT(*) AS ?n)')} {{ {branches} }}"

    def nested(self) -> str:
        """Groups in groups."""
        body = "?x :knows ?y"
        for _ in range(self.rng.randint(1, 12)):
            body = self.pick(
                f"{{ {body} }}",
                f"{{ {body} }} OPTIONAL {{ ?y :age ?a }}",
                f"{{ {body} }} MINUS {{ ?y :works ?w }}",
                f"{{ {body} }} {{ ?x :is ?c }}",
                f"{{ SELECT DISTINCT ?x ?y {{ {body} }} }}",
            )
        return f"SELECT * {{ {body} }}"

    def ordered(self) -> str:
        """All rows in an order."""
        keys = self.pick("?a ?x", "DESC(?a) ?x", "STR(?a) ?x", "?y DESC(?x)", "(?a > 20) ?x")
        return (
            "SELECT ?x ?a { ?x :is :Person OPTIONAL { ?x :age ?a }"
            f" OPTIONAL {{ ?x :works ?y }} }} ORDER BY {keys}"
        )

    def absent(self) -> str:
        """What is not there."""
        body = self.pick(
            "?x :works ?w", "?x :knows ?y . ?y :works ?w", "?x :age ?b FILTER(?b > ?a)"
        )
        how = self.pick("FILTER NOT EXISTS", "FILTER EXISTS", "MINUS")
        if how == "MINUS":
            body = body.partition(" FILTER")[0]
        return f"SELECT ?x ?a {{ ?x :age ?a {how} {{ {body} }} }}"

    def counted(self) -> str:
        """Counts of nothing and of everything."""
        where = self.pick("?s ?p ?o", "?x :nothing ?y", "?x :knows ?y", "?x :age ?y")
        limit = self.pick("", " LIMIT 0", " LIMIT 1")
        return f"SELECT (COUNT(*) AS ?n) (SUM(?y) AS ?s) {{ {where} }}{limit}".replace(
            "AS ?s)", "AS ?t)"
        )
