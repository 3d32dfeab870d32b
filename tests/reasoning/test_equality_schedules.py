"""Random schedules under equality: counts, closures and files stay right whatever comes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Quad
from support.fuzzing import seeds

from tests.ontologies.random_ontologies import EQUALITY, EVERYTHING, LINKED, MERGED, VALUES
from tests.reasoning.equal_stores import PREFIXES, assert_alike, classes_of, pair_of
from tests.reasoning.equality_schedules import Schedule, assert_counted
from triplestore import Store
from triplestore.errors import TimeLimitError
from triplestore.storage.metadata import HIDDEN
from triplestore.store.transaction import writer_of

STEPS = 6

# A chain of functional values that ends in a literal: the class that is the same as it is taken
# apart, and then nothing says any more that it is.
TO_A_LITERAL = """:p1 owl:inverseOf :p2 ; a owl:FunctionalProperty . :i9 :p1 :i3 . :i2 :p1 :i1 .
:i32 :p1 :i25 . :i36 :p1 3 . :i1 :p1 :i9 . :i12 :p1 :i36, :i3 . :i2 :p2 :i25, :i32 ."""
# A literal as a subject is a fact that is not shown; it is there once for each member of a class.
OF_A_LITERAL = ":i3 :p1 8 . :i0 owl:sameAs :i3 . :p1 owl:inverseOf :p3 ."


@pytest.mark.fuzz
def test_schedules__numbers_and_closures_are_those_of_a_new_store(tmp_path: Path) -> None:
    for seed in seeds(3):
        random = Random(seed)
        kind = random.choice([MERGED, LINKED, LINKED, EQUALITY, VALUES, EVERYTHING])
        schedule = Schedule(random, kind, tmp_path / str(seed), random.choice((12, 25, 45)))
        try:
            for _ in range(STEPS):
                schedule.step()
                schedule.check()
            if kind is not VALUES:  # a store joins literals as subjects by term, not by value
                schedule.check_with_oracle()
        except BaseException as error:
            error.add_note(f"{kind.name}: {schedule.done}")
            raise
        finally:
            schedule.close()


def test_rewriting__ends_where_a_class_is_the_same_as_a_literal() -> None:
    rules, rewritten = pair_of(TO_A_LITERAL)
    assert_alike(rules, rewritten)
    assert classes_of(rewritten) == 0
    for store in (rules, rewritten):
        store.update("PREFIX : <http://ex.org/> DELETE DATA { :i36 :p1 3 }")
    assert_alike(rules, rewritten)
    assert classes_of(rewritten) == 1


def test_max_seconds__is_for_all_updates_of_a_run_together() -> None:
    """Each of 1,200 merges makes the next one possible, and takes some milliseconds."""
    links = " ".join(f":a{n} :f :a{n + 1} . :b{n} :f :b{n + 1} ." for n in range(1200))
    store = Store()
    store.load(f"{PREFIXES} :f a owl:FunctionalProperty . :x :f :a0, :b0 . {links}", "turtle")
    with pytest.raises(TimeLimitError, match="nothing has changed"):
        store.reason("owl-rl", equality="rewrite", tuning={"max_seconds": 0.5})
    assert len(store) == 1 + 2 + 2 * 1200


@pytest.mark.parametrize("way", ["reopened", "optimized"])
def test_counts__of_what_is_not_shown_survive_a_store_that_is_opened_again(
    tmp_path: Path, way: str
) -> None:
    with Store(tmp_path) as store:
        store.load(PREFIXES + OF_A_LITERAL, "turtle")
        store.reason("owl-rl", equality="rewrite")
        if way == "optimized":
            store.optimize()
            store.load(PREFIXES + ":i36 :p1 8 .", "turtle")
    with Store(tmp_path) as store:
        store.load(PREFIXES + ":i36 :p1 8 . :i4 :p1 9 .", "turtle")
        assert_counted(store)
        assert len(store) == 7
        assert store.verify() == []
        store.update("PREFIX : <http://ex.org/> DELETE DATA { :i3 :p1 8 }")
        assert_counted(store)
        assert len(store) == 5


def test_verify_and_audit__compare_numbers_with_rows(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.load(PREFIXES + OF_A_LITERAL, "turtle")
        store.reason("owl-rl", equality="rewrite")
        with store.transaction() as t:
            t.add(Quad(NamedNode("http://ex.org/a"), NamedNode("http://ex.org/b"), Literal("c")))
            writer_of(t).keep({HIDDEN: b"5"})  # as the fault left it that this is for
        (problem,) = store.verify()
        assert "5 facts are recorded to be no triples of RDF, but there are 2" in problem
        audit = store.audit()
        assert not audit.ok
        assert audit.problems() == [problem]
        assert "some numbers are wrong" in str(audit)
        store.reason("none")  # the remedy that the message names
        store.reason("owl-rl", equality="rewrite")
        assert store.verify() == []
        assert store.audit().ok
