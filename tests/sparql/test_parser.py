"""What queries are in the algebra: section 18.2 of the specification, case by case."""

from __future__ import annotations

import pytest

from sparql.shapes import shape, term
from triplestore.errors import QuerySyntaxError
from triplestore.expressions.tree import Variable
from triplestore.sparql.algebra import nodes as a
from triplestore.sparql.syntax.parser import parse_query

PREFIXES = {"": "http://e/"}


def pattern(text: str) -> str:
    """The WHERE of a query, in short."""
    found = parse_query(f"ASK {text}", prefixes=PREFIXES)
    return shape(found.pattern)


def query(text: str) -> str:
    return shape(parse_query(text, prefixes=PREFIXES).pattern)


# --- triples -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "(bgp)"),
        ("{ ?s :p ?o }", "(bgp ?s :p ?o.)"),
        ("{ ?s :p ?o . }", "(bgp ?s :p ?o.)"),
        (
            "{ ?s a :C ; :p 1 , 2 ; ; . ?t :q -1.5 }",
            "(bgp ?s a :C. ?s :p 1. ?s :p 2. ?t :q -1.5.)",
        ),
        ("{ $s ?p 'x'@en-GB . :a :b true }", '(bgp ?s ?p "x"@en-gb. :a :b true.)'),
        ("{ 5 :p 1e3 }", "(bgp 5 :p 1e3.)"),
        ("{ [] :p [ :q ?x ; a :C ] }", "(bgp _:b1 :q ?x. _:b1 a :C. _:b0 :p _:b1.)"),
        ("{ [ :p 1 ] }", "(bgp _:b0 :p 1.)"),
        ("{ [ :p 1 ] :q 2 }", "(bgp _:b0 :p 1. _:b0 :q 2.)"),
        ("{ _:b :p _:c . _:c :q [] }", "(bgp _:b :p _:c. _:c :q _:b_0.)"),
        ("{ ?s :p () }", "(bgp ?s :p rdf:nil.)"),
        (
            "{ (1 ?x) :p :o }",
            "(bgp _:b0 rdf:first 1. _:b0 rdf:rest _:b1. _:b1 rdf:first ?x. "
            "_:b1 rdf:rest rdf:nil. _:b0 :p :o.)",
        ),
        ("{ (1) }", "(bgp _:b0 rdf:first 1. _:b0 rdf:rest rdf:nil.)"),
        ("{ ?s :p '''a\"b\nc''', \"d\\te\\u0041\" }", '(bgp ?s :p "a\\"b\\nc". ?s :p "d\\teA".)'),
        ("{ ?s :p.q :a\\-b, :c%20d }", "(bgp ?s :p.q :a-b. ?s :p.q :c%20d.)"),
        ("{ ?s <http://e/\\u0070> :x }", "(bgp ?s :p :x.)"),
        ("{ ?s :p+5 }", "(bgp ?s :p +5.)"),
        ("{ ?s :-5 }", "(bgp ?s : -5.)"),
    ],
)
def test_triples__are_basic_graph_patterns(text: str, expected: str) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":p/:q", "(bgp ?x :p _:b0. _:b0 :q ?y.)"),
        ("^:p", "(bgp ?y :p ?x.)"),
        ("^(:p/:q)", "(bgp ?y :p _:b0. _:b0 :q ?x.)"),
        (":p/^:q", "(bgp ?x :p _:b0. ?y :q _:b0.)"),
        ("(:p/:q)/a", "(bgp ?x :p _:b0. _:b0 :q _:b1. _:b1 a ?y.)"),
        (":p*", "(path ?x (* :p) ?y)"),
        (":p?", "(path ?x (? :p) ?y)"),
        ("^:p+", "(path ?y (+ :p) ?x)"),
        ("(^:p)+", "(path ?x (+ (^ :p)) ?y)"),
        (":p|:q/:r", "(path ?x (alt :p (seq :q :r)) ?y)"),
        ("(:p|:q)|a", "(path ?x (alt :p :q a) ?y)"),
        (":p/:q*", "(join (bgp ?x :p _:b0.) (path _:b0 (* :q) ?y))"),
        ("(:p*)*", "(path ?x (* (* :p)) ?y)"),
        ("!:p", "(path ?x (not :p) ?y)"),
        ("!()", "(path ?x (not) ?y)"),
        ("!(:p|a)", "(path ?x (not :p a) ?y)"),
        ("!^:p", "(path ?y (not :p) ?x)"),
        ("!(:p|^:q|:r)", "(path ?x (alt (not :p :r) (^ (not :q))) ?y)"),
        ("!:p*", "(path ?x (* (not :p)) ?y)"),
    ],
)
def test_paths__become_triples_as_far_as_they_are_such(text: str, expected: str) -> None:
    assert pattern(f"{{ ?x {text} ?y }}") == expected


def test_paths__in_property_lists_and_blank_nodes() -> None:
    found = pattern("{ ?x :p* :a , [ :q|:r 1 ] ; ^:s ?y }")
    assert found == "(join (bgp ?y :s ?x.) (path ?x (* :p) :a) (path _:b0 (alt :q :r) 1) " + (
        "(path ?x (* :p) _:b0))"
    )


# --- groups --------------------------------------------------------------------------------------

P, Q, R = "(bgp ?x :p ?y.)", "(bgp ?x :q ?z.)", "(bgp ?x :r ?w.)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ ?x :p ?y { ?x :q ?z } }", f"(join {P} {Q})"),
        ("{ { ?x :p ?y } { { ?x :q ?z } ?x :r ?w } }", f"(join {P} {Q} {R})"),
        ("{ {} ?x :p ?y {} }", P),
        ("{ ?x :p ?y OPTIONAL { ?x :q ?z } }", f"(leftjoin {P} {Q})"),
        ("{ OPTIONAL { ?x :q ?z } }", f"(leftjoin (bgp) {Q})"),
        (
            "{ ?x :p ?y OPTIONAL { ?x :q ?z FILTER(?z > ?y) FILTER(?y > 1) } }",
            f"(leftjoin {P} {Q} (&& (> ?z ?y) (> ?y 1)))",
        ),
        (
            "{ ?x :p ?y OPTIONAL { { ?x :q ?z FILTER(?z > ?y) } } }",
            f"(leftjoin {P} (filter (> ?z ?y) {Q}))",
        ),
        (
            "{ ?x :p ?y OPTIONAL { ?x :q ?z } ?x :r ?w }",
            f"(join (leftjoin {P} {Q}) {R})",
        ),
        ("{ ?x :p ?y MINUS { ?x :q ?z } }", f"(minus {P} {Q})"),
        (
            "{ FILTER(?y > 1) ?x :p ?y . FILTER(?w && ?v) ?x :r ?w }",
            "(filter (&& (> ?y 1) ?w ?v) (bgp ?x :p ?y. ?x :r ?w.))",
        ),
        (
            "{ { ?x :p ?y FILTER(?y > 1) } FILTER(?x = 2) }",
            f"(filter (= ?x 2) (filter (> ?y 1) {P}))",
        ),
        ("{ { ?x :p ?y } UNION { ?x :q ?z } }", f"(union {P} {Q})"),
        (
            "{ { ?x :p ?y } UNION { { ?x :q ?z } UNION { ?x :r ?w } } UNION {} }",
            f"(union {P} {Q} {R} (bgp))",
        ),
        ("{ ?x :p ?y BIND(?y + 1 AS ?v) ?x :q ?z }", f"(join (extend ?v (+ ?y 1) {P}) {Q})"),
        ("{ GRAPH ?g { ?x :p ?y } GRAPH :g {} }", f"(join (graph ?g {P}) (graph :g (bgp)))"),
        ("{ SERVICE :s { ?x :p ?y } }", f"(service :s {P})"),
        ("{ SERVICE SILENT ?s {} }", "(service silent ?s (bgp))"),
        ("{ VALUES ?x { 1 UNDEF :a } }", "(values (?x) (1) (undef) (:a))"),
        ('{ VALUES (?x ?y) { (1 "a") (UNDEF 2) } }', '(values (?x ?y) (1 "a") (undef 2))'),
        ("{ VALUES () { () () } }", "(values () () ())"),
        (
            "{ ?x :p ?y FILTER EXISTS { ?x :q ?z } }",
            f"(filter (exists {Q}) {P})",
        ),
        (
            "{ ?x :p ?y FILTER(?y = 1 || NOT EXISTS { ?x :q ?z FILTER(?z = ?y) }) }",
            f"(filter (|| (= ?y 1) (notexists (filter (= ?z ?y) {Q}))) {P})",
        ),
        ("{ ?x :p ?y FILTER :f(?x, 1) }", f"(filter (:f ?x 1) {P})"),
        ("{ ?x :p ?y FILTER(?y NOT IN (1, 2)) }", f"(filter (NOT IN ?y 1 2) {P})"),
        (
            "{ ?x :p ?y { SELECT ?x { ?x :q ?z } LIMIT 1 } }",
            f"(join {P} (slice 0 1 (project (?x) {Q})))",
        ),
        (
            "{ _:a :p ?y FILTER(?y > 1) _:a :q ?z }",
            "(filter (> ?y 1) (bgp _:a :p ?y. _:a :q ?z.))",
        ),
    ],
)
def test_groups__are_translated_as_the_specification_says(text: str, expected: str) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{ _:a :p 1 . _:a :q 2 }",
        "{ _:a :p 1 FILTER(true) _:a :q 2 }",
        "{ _:a :p 1 FILTER EXISTS { _:b :p 1 } _:a :q 2 }",
        "{ _:a :p* 1 . _:a :q 2 }",
    ],
)
def test_labels__are_for_one_basic_graph_pattern(text: str) -> None:
    pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        "{ _:a :p 1 { _:a :q 2 } }",
        "{ { _:a :p 1 } _:a :q 2 }",
        "{ { _:a :p 1 } { _:a :q 2 } }",
        "{ _:a :p 1 OPTIONAL { _:a :q 2 } }",
        "{ _:a :p 1 OPTIONAL {} _:a :q 2 }",
        "{ _:a :p 1 BIND(1 AS ?x) _:a :q 2 }",
        "{ _:a :p 1 VALUES ?x { 1 } _:a :q 2 }",
        "{ _:a :p 1 FILTER EXISTS { _:a :q 2 } }",
        "{ { _:a :p 1 } UNION { _:a :p 1 } }",
    ],
)
def test_labels__of_two_basic_graph_patterns_are_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="_:a is in two basic graph patterns"):
        pattern(text)


# --- SELECT and modifiers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * { ?x :p ?y }", f"(project (?x ?y) {P})"),
        ("SELECT ?y ?q ?y { ?x :p ?y }", f"(project (?y ?q) {P})"),
        ("SELECT DISTINCT ?y WHERE { ?x :p ?y }", f"(distinct (project (?y) {P}))"),
        (
            "SELECT REDUCED ?y { ?x :p ?y } OFFSET 3 LIMIT 0",
            f"(slice 3 0 (reduced (project (?y) {P})))",
        ),
        ("SELECT ?y { ?x :p ?y } OFFSET 3", f"(slice 3 _ (project (?y) {P}))"),
        (
            "SELECT ?y (?y + 1 AS ?z) (?z * 2 AS ?w) { ?x :p ?y }",
            f"(project (?y ?z ?w) (extend ?w (* ?z 2) (extend ?z (+ ?y 1) {P})))",
        ),
        (
            "SELECT ?y { ?x :p ?y } ORDER BY ?y DESC(?x) ASC(?x) STR(?x) (?y + 1) :f(?y)",
            f"(project (?y) (order (?y (desc ?x) ?x (STR ?x) (+ ?y 1) (:f ?y)) {P}))",
        ),
        (
            "SELECT ?x { ?x :p ?y } VALUES ?y { 1 }",
            f"(project (?x) (join {P} (values (?y) (1))))",
        ),
        (
            "SELECT * { ?x :p ?y } VALUES ?v { 1 }",
            f"(project (?x ?y ?v) (join {P} (values (?v) (1))))",
        ),
        (
            "SELECT * { ?x :p ?y MINUS { ?x :q ?z } FILTER EXISTS { ?v :q ?w } }",
            f"(project (?x ?y) (filter (exists (bgp ?v :q ?w.)) (minus {P} {Q})))",
        ),
        (
            "SELECT * { { SELECT ?x (1 AS ?k) { ?x :p ?y } } GRAPH ?g { [] :q ?z } }",
            f"(project (?x ?k ?g ?z) (join (project (?x ?k) (extend ?k 1 {P})) "
            "(graph ?g (bgp _:b0 :q ?z.))))",
        ),
        (
            "SELECT * { ?x :p ?y BIND(1 AS ?v) OPTIONAL { ?x :q ?z } VALUES ?w { 1 } }",
            f"(project (?x ?y ?v ?z ?w) (join (leftjoin (extend ?v 1 {P}) {Q}) (values (?w) (1))))",
        ),
        ("SELECT * {}", "(project () (bgp))"),
        ("SELECT ?x { ?x :p ?y } HAVING(?x > 1)", f"(project (?x) (filter (> ?x 1) {P}))"),
    ],
)
def test_select__stacks_operators_in_their_order(text: str, expected: str) -> None:
    assert query(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x",
            f"(project (?x ?n) (extend ?n aggregate:0 (group (?x) (aggregate:0 (count *)) {P})))",
        ),
        (
            "SELECT (COUNT(DISTINCT *) AS ?n) { ?x :p ?y }",
            "(project (?n) (extend ?n aggregate:0 "
            f"(group () (aggregate:0 (count distinct *)) {P})))",
        ),
        (
            "SELECT (GROUP_CONCAT(DISTINCT ?y ; SEPARATOR = ', ') AS ?n) { ?x :p ?y }",
            "(project (?n) (extend ?n aggregate:0 "
            f"(group () (aggregate:0 (group_concat distinct ', ' ?y)) {P})))",
        ),
        (
            "SELECT (SUM(?y) / COUNT(?y) AS ?m) (SUM(?y) AS ?s) { ?x :p ?y }",
            "(project (?m ?s) (extend ?s aggregate:0 (extend ?m (/ aggregate:0 aggregate:1) "
            f"(group () (aggregate:0 (sum ?y)) (aggregate:1 (count ?y)) {P}))))",
        ),
        (
            "SELECT ?k { ?x :p ?y } GROUP BY (STR(?x) AS ?k) STR(?y) (?y) (?y + 1)",
            f"(project (?k) (group ((?k (STR ?x)) (key:0 (STR ?y)) ?y (key:1 (+ ?y 1))) {P}))",
        ),
        (
            "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING(MAX(?y) > 1) (?x > 2) ORDER BY COUNT(?y)",
            "(project (?x) (order (aggregate:1) (filter (&& (> aggregate:0 1) (> ?x 2)) "
            f"(group (?x) (aggregate:0 (max ?y)) (aggregate:1 (count ?y)) {P}))))",
        ),
        # ?y is not in the groups: SAMPLE(?y). ?n in HAVING is what it is computed from.
        (
            "SELECT (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x "
            "HAVING(?n > 1 && ?y > 2) ORDER BY ?n ?y",
            "(project (?n) (order (?n aggregate:1) (extend ?n aggregate:0 "
            "(filter (&& (> aggregate:0 1) (> aggregate:1 2)) "
            f"(group (?x) (aggregate:0 (count *)) (aggregate:1 (sample ?y)) {P})))))",
        ),
        (
            "SELECT (SUM(?y) AS ?y) { ?x :p ?y } GROUP BY ?x VALUES ?x { 1 }",
            "(project (?y) (extend ?y aggregate:0 (join "
            f"(group (?x) (aggregate:0 (sum ?y)) {P}) (values (?x) (1)))))",
        ),
        (
            "SELECT (SUM(?y) AS ?y) { ?x :p ?y } GROUP BY ?x ORDER BY ?y",
            "(project (?y) (order (?y) (extend ?y aggregate:0 "
            f"(group (?x) (aggregate:0 (sum ?y)) {P}))))",
        ),
        # Aggregates have the numbers that they would have if SAMPLE had been written.
        (
            "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING(?y > 1) ORDER BY COUNT(?y)",
            "(project (?x) (order (aggregate:1) (filter (> aggregate:0 1) "
            f"(group (?x) (aggregate:0 (sample ?y)) (aggregate:1 (count ?y)) {P}))))",
        ),
        (
            "SELECT (MAX(?n) AS ?m) { { SELECT (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } }",
            "(project (?m) (extend ?m aggregate:0 (group () (aggregate:0 (max ?n)) "
            "(project (?n) (extend ?n aggregate:1 "
            f"(group (?x) (aggregate:1 (count *)) {P}))))))",
        ),
    ],
)
def test_groups_of_solutions__take_their_aggregates(text: str, expected: str) -> None:
    assert query(text) == expected


def test_aggregates__may_be_functions_named_by_an_iri() -> None:
    text = "SELECT (<http://e/median>(DISTINCT ?y) AS ?m) { ?x <http://e/p> ?y }"
    found = parse_query(text, aggregates=["http://e/median"])
    assert "(aggregate:0 (http://e/median distinct ?y))" in shape(found.pattern)
    with pytest.raises(QuerySyntaxError, match="is not an aggregate"):
        parse_query(text)


# --- other forms ---------------------------------------------------------------------------------


def test_ask__has_a_pattern() -> None:
    found = parse_query("ASK FROM <http://e/g> FROM NAMED <http://e/h> { ?x ?y ?z }")
    assert isinstance(found, a.Ask)
    assert found.dataset is not None
    assert [term(name) for name in found.dataset.default] == [":g"]
    assert [term(name) for name in found.dataset.named] == [":h"]


def triples(found: a.Query) -> list[str]:
    assert isinstance(found, a.Construct)
    return [" ".join(map(term, triple)) for triple in found.template]


def test_construct__has_constants_for_blank_nodes_of_its_template() -> None:
    text = "CONSTRUCT { ?x :p [ :q _:a ] . () :r ?x } WHERE { _:a :p ?x } LIMIT 2"
    found = parse_query(text, prefixes=PREFIXES)
    assert triples(found) == ["_:b0 :q _:a", "?x :p _:b0", "rdf:nil :r ?x"]
    assert shape(found.pattern) == "(slice 0 2 (bgp _:a :p ?x.))"


def test_construct_where__is_its_own_template() -> None:
    found = parse_query("CONSTRUCT WHERE { ?x :p [ a :C ] } LIMIT 2", prefixes=PREFIXES)
    assert triples(found) == ["_:b0 a :C", "?x :p _:b0"]
    assert shape(found.pattern) == "(slice 0 2 (bgp _:b0 a :C. ?x :p _:b0.))"


def test_describe__has_targets() -> None:
    found = parse_query("DESCRIBE ?x :a", prefixes=PREFIXES)
    assert isinstance(found, a.Describe)
    assert [term(target) for target in found.targets] == ["?x", ":a"]
    assert found.pattern == a.UNIT
    found = parse_query("DESCRIBE * { ?x :p ?y }", prefixes=PREFIXES)
    assert isinstance(found, a.Describe)
    assert found.targets == (Variable("x"), Variable("y"))


# --- prologue ------------------------------------------------------------------------------------


def test_prologue__resolves_iris_against_base_and_prefixes() -> None:
    found = parse_query(
        "BASE <http://e/a/b> PREFIX p: <c#> PREFIX p: <d#> BASE <../x/> SELECT * { <y> p:z <> }"
    )
    assert shape(found.pattern) == "(project () (bgp :x/y :a/d#z :x/.))"
    assert found.base == "http://e/x/"
    assert found.prefixes == {"p": "http://e/a/d#"}


def test_prologue__a_base_given_is_what_base_is_relative_to() -> None:
    found = parse_query("BASE <b/> ASK { <c> a <d> }", base="http://e/a")
    assert shape(found.pattern) == "(bgp :b/c a :b/d.)"


def test_prefixes__do_not_count_in_comparisons() -> None:
    one = parse_query("PREFIX a: <http://e/> ASK { a:x a:y a:z }")
    other = parse_query("PREFIX b: <http://e/> ASK { b:x b:y b:z }")
    assert one == other
    assert hash(one.pattern) == hash(other.pattern)


def test_keywords__in_any_case() -> None:
    text = "select (count(*) as ?n) where { ?x a ?y optional { ?x ?p TRUE } } group by ?x"
    assert parse_query(text) == parse_query(
        "SELECT (COUNT(*) AS ?n) WHERE { ?x a ?y OPTIONAL { ?x ?p true } } GROUP BY ?x"
    )
    with pytest.raises(QuerySyntaxError):
        parse_query("ASK { ?x A ?y }")


def test_escapes__are_not_read_twice() -> None:
    assert pattern(r"{ ?s :p '\u005Ct' , '\\u0041' }") == r'(bgp ?s :p "\\t". ?s :p "\\u0041".)'
    for text in (
        r"ASK { ?\u0073 :p 1 }",
        r"ASK { ?s :p \u005Cu0031 }",
        r"ASK { ?s :p \uD800 }",
        r"ASK { ?s :p '\uD800' }",
    ):
        with pytest.raises(QuerySyntaxError):
            parse_query(text, prefixes=PREFIXES)


def test_depth__is_bounded_and_said() -> None:
    many = "OPTIONAL { ?x ?p ?o } " * 299
    assert parse_query(f"ASK {{ {many} }}")
    with pytest.raises(QuerySyntaxError, match="more than 300 nested operators"):
        parse_query(f"ASK {{ {many} {many} }}")
    with pytest.raises(QuerySyntaxError, match="nested more than 100 deep"):
        parse_query("ASK " + "{" * 200 + "}" * 200)
    chain = "+".join(["?o"] * 2000)
    for text in (f"FILTER({chain} > 1)", f"FILTER EXISTS {{ ?x ?q ?o FILTER({chain} > 1) }}"):
        with pytest.raises(QuerySyntaxError, match="operations nested more than 300 deep"):
            parse_query(f"ASK {{ ?x ?p ?o {text} }}")


def test_long_texts__of_one_group_are_no_problem() -> None:
    unions = " UNION ".join("{ ?x ?p ?o }" for _ in range(3000))
    groups = "{ ?x ?p ?o } " * 3000
    filters = "FILTER(?x > 1) " * 3000
    found = parse_query(f"SELECT * {{ {unions} {groups} {filters} }}")
    assert len(list(a.walk(found.pattern))) == 6004
