"""Random queries over odd literals: by columns and plans the same as term by term, as written."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from support.fuzzing import seeds

from tests.sparql.generate_odd import OddQueries, odd_data
from triplestore import Store
from triplestore.errors import BudgetError, QuerySyntaxError, TimeLimitError, UsageError
from triplestore.expressions.compare_terms import order_key
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.operators.thresholds import OPERATORS
from triplestore.relations.thresholds import RELATIONS
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.sparql.thresholds import SPARQL
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query
from triplestore.terms.term_keys import key_of
from triplestore.terms.thresholds import TERMS

NEVER = 1 << 40
PREFIX = "PREFIX ex: <http://ex.org/> "


def answer(store: Store, text: str, options: PlanOptions) -> Any:
    """The solutions: a bag, or the sort keys of a sequence; the kind of an error."""
    try:
        found = query(store._view(), PREFIX + text, QueryOptions(planning=options, timeout=5.0))
        if isinstance(found, bool):
            return found
        if "ORDER BY" in text:  # equal values may come in any order
            return [[None if one is None else order_key(key_of(one)) for one in r] for r in found]
        return Counter(tuple(map(str, row)) for row in found)
    except (TimeLimitError, BudgetError):
        return None
    except (QuerySyntaxError, UsageError) as error:
        return type(error)


def term_by_term(store: Store, text: str) -> Any:
    """The answer without short cuts."""
    with (
        EXPRESSIONS.changed(scalar_rows=NEVER, few_pairs=0),
        TERMS.changed(warm_rows=NEVER, cold_rows=NEVER, warm_texts=NEVER, cold_texts=NEVER),
        SPARQL.changed(ranked_one_by_one=NEVER, sorted_at_once=NEVER),
    ):
        return answer(store, text, ALL_OFF)


def odd_store(rng: random.Random) -> tuple[Store, Store]:
    """The same quads, written with some commits and removals, and written at once."""
    quads, store, plain = odd_data(rng), Store(), Store()
    for start in range(0, len(quads), 60):
        store.extend(quads[start : start + 60])
    gone = rng.sample(quads, len(quads) // 6)
    store.remove_all(gone)
    plain.extend(list(set(quads) - set(gone)))
    return store, plain


@pytest.mark.fuzz
def test_queries_over_odd_literals__are_answered_as_term_by_term() -> None:
    asked = 0
    for seed in seeds(6):
        rng = random.Random(f"odd/{seed}")
        with (
            TERMS.changed(warm_rows=1, warm_texts=1, cold_texts=1, sealed_batch=1, found_singly=0),
            EXPRESSIONS.changed(scalar_rows=rng.choice([-1, 16]), distinct_ids=0),
            SPARQL.changed(ranked_one_by_one=0, sorted_at_once=0, piece_rows=rng.choice([5, 9999])),
            RELATIONS.changed(
                recent_facts=rng.choice([1, 1024]), shared_rows=rng.choice([2, 9999])
            ),
            OPERATORS.changed(rows_without_kernels=0),
        ):
            store, plain = odd_store(rng)
            maker = OddQueries(rng, depth=1)
            for _ in range(20):
                text = maker.query()
                wanted = term_by_term(plain, text)
                found = answer(store, text, PlanOptions())
                if wanted is not None and found is not None:
                    asked += 1
                    assert found == wanted, text
    assert asked > 80


def test_conditions_of_nothing__are_of_no_rows() -> None:
    store = Store()
    store.update("INSERT DATA { <a:a> <a:p> 1 . <a:b> <a:q> 'x' }")
    for part in ('LANG(?y) = "en" || ?z = 3', "!(STR(?x) = STR(?y))", "DATATYPE(?y) = <a:t> && ?z"):
        text = f"SELECT (SUM(IF({part}, 1, 0)) AS ?n) {{ ?x <a:p> ?z . ?x <a:q> ?y }}"
        assert [row["n"].value for row in store.query(text)] == ["0"]
