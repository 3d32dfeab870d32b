"""Triples that hold for any data: they are found when asked for, but never listed.

Start reading at `holds_always`. Regimes do not make them (`trivial=True` does), so that counts and
answers are not full of them; but `Quad(...) in store` says that they hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from triplestore.datalog.program import TYPE, Constant, TripleAtom
from triplestore.ontologies.translate import schema_rules
from triplestore.ontologies.translate.draft import EVERYTHING, NOTHING, REFLEXIVE
from triplestore.ontologies.translate.regimes import REGIMES
from triplestore.terms.vocabulary import (
    OWL_SAME_AS,
    OWL_THING,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
)

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

_OWL = frozenset(("owl-rl", "owl-el", "owl-horst"))
_SAME_AS = Constant.iri(OWL_SAME_AS)
_SUB_CLASS = Constant.iri(RDFS_SUB_CLASS_OF)
_SUB_PROPERTY = Constant.iri(RDFS_SUB_PROPERTY_OF)
_THING = Constant.iri(OWL_THING)


def holds_always(regimes: Iterable[str], s: bytes, p: bytes, o: bytes) -> bool:
    """Whether a triple of terms that the data have, given as keys, holds under regimes anyway.

    >>> a, same = b"\\x01http://e/a", _SAME_AS.key
    >>> holds_always(["owl-rl"], a, same, a), holds_always(["rdfs"], a, same, a)
    (True, False)
    """
    names = frozenset(regimes)
    owl = bool(names & _OWL)
    subject, predicate, value = Constant(s), Constant(p), Constant(o)
    if s == o and predicate in REFLEXIVE:
        return owl or (bool(names) and predicate in (_SUB_CLASS, _SUB_PROPERTY))
    if predicate == _SUB_CLASS:
        return value in _universal(names) or (owl and subject == NOTHING)
    if predicate == TYPE and value in _universal(names):
        return True
    return (s, p, o) in axiomatic(names)


def holds_anyway(view: ReadableState, s: bytes, p: bytes, o: bytes) -> bool:
    """Whether a triple holds under the regimes of a view whatever its data are.

    General triples are answered only for terms that the data have.
    """
    if (s, p, o) in axiomatic(frozenset(view.regimes)):
        return True
    known = view.dictionary.lookup_keys([s, o])
    about = 1 if s == NOTHING.key else 0
    return bool(known[about]) and holds_always(view.regimes, s, p, o)


def _universal(names: frozenset[str]) -> frozenset[Constant]:
    """The classes that everything is in."""
    if names & _OWL:
        return EVERYTHING
    return EVERYTHING - {_THING} if names else frozenset()


@lru_cache(maxsize=32)
def axiomatic(names: frozenset[str]) -> frozenset[tuple[bytes, bytes, bytes]]:
    """The triples that regimes state of their own vocabulary, as keys.

    >>> len(axiomatic(frozenset(["owl-rl"]))) > 30
    True
    """
    found: set[tuple[bytes, bytes, bytes]] = set()
    for name in names:
        for text in REGIMES[name].trivial:
            for rule in schema_rules.vocabulary_rules(text).rules:
                if not rule.body:
                    heads = [head for head in rule.heads if isinstance(head, TripleAtom)]
                    found.update(_keys(head) for head in heads)
    return frozenset(found)


def _keys(head: TripleAtom) -> tuple[bytes, bytes, bytes]:
    s, p, o = (term.key for term in head.terms if isinstance(term, Constant))
    return s, p, o
