"""Rules of shapes as rules of the store."""

from __future__ import annotations

import pytest

from shacl.test_validating import PREFIXES, store_of
from triplestore import Store
from triplestore.errors import ShapesError

DECLARED = ': sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/"^^xsd:anyURI ] .'
ROOMS = """:Office rdfs:subClassOf :Room . :o a :Office ; :width 2 .
:r a :Room ; :width 3 ; :in :b .
:b :owner :ada ."""


def with_rules(shape: str, data: str = ROOMS) -> Store:
    store = store_of(data)
    store.add_rules(store.shape_rules(PREFIXES + DECLARED + shape))
    return store


def test_triple_rule__holds_for_all_focus_nodes_and_follows_commits() -> None:
    store = with_rules(
        """:S sh:targetClass :Room ; sh:rule [ a sh:TripleRule ;
        sh:subject sh:this ; sh:predicate :wide ; sh:object [ sh:path :width ] ] ,
        [ a sh:TripleRule ; sh:subject [ sh:path ( :in :owner ) ] ; sh:predicate :owns ;
          sh:object sh:this ] ."""
    )
    assert store.ask("ASK { :r :wide 3 . :o :wide 2 . :ada :owns :r }")
    store.update("DELETE DATA { :r :in :b }")
    assert not store.ask("ASK { :ada :owns :r }")
    store.update("DELETE DATA { :o :width 2 }")
    assert not store.ask("ASK { :o :wide 2 }")


def test_condition__restricts_a_rule() -> None:
    store = with_rules(
        """:S sh:targetClass :Room ; sh:rule [ a sh:TripleRule ; sh:condition :Large ;
        sh:condition [ sh:property [ sh:path :closed ; sh:maxCount 0 ] ] ;
        sh:subject sh:this ; sh:predicate :size ; sh:object "large" ] .
        :Large sh:property [ sh:path :width ; sh:minCount 1 ; sh:minInclusive 3 ] ."""
    )
    assert store.ask("ASK { :r :size 'large' FILTER NOT EXISTS { :o :size 'large' } }")
    store.update("INSERT DATA { :r :closed true . :o :width 5 }")
    assert not store.ask("ASK { ?x :size 'large' }")


def test_query_rule__is_a_rule_for_each_way() -> None:
    store = with_rules(
        """:S sh:targetClass :Room ; sh:rule [ a sh:SPARQLRule ; sh:prefixes : ; sh:construct
        '''CONSTRUCT { $this :area ?a } WHERE { { $this :width ?w } UNION { $this :in/:side ?w }
        FILTER (?w > 2) BIND (?w * ?w AS ?a) FILTER NOT EXISTS { $this :round true } }''' ] ."""
    )
    assert store.ask("ASK { :r :area 9 FILTER NOT EXISTS { :o :area ?a } }")
    store.update("INSERT DATA { :b :side 4 . :o :width 5 ; :round true }")
    assert store.ask("ASK { :r :area 9, 16 FILTER NOT EXISTS { :o :area ?a } }")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("sh:subject sh:this ; sh:predicate :p", "lacks sh:object"),
        (
            "sh:subject sh:this ; sh:predicate :p ; sh:object [ sh:path [ sh:zeroOrMorePath :p ] ]",
            "cannot be part of a rule",
        ),
        ("sh:subject sh:this ; sh:predicate :p ; sh:object [ :f ( 1 ) ]", "node expression"),
        (
            'sh:prefixes : ; sh:construct "CONSTRUCT { $this :p ?n } WHERE { '
            '$this :q ?y OPTIONAL { ?y :p ?n } }"',
            "LEFTJOIN",
        ),
        ('sh:prefixes : ; sh:construct "CONSTRUCT { $this :p [] } WHERE { }"', "blank nodes"),
    ],
)
def test_rule_that_cannot_be_translated__is_an_error(rule: str, message: str) -> None:
    with pytest.raises(ShapesError, match=message):
        with_rules(f":S sh:targetClass :Room ; sh:rule [ {rule} ] .")
