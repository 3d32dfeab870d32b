"""Rules that make members of one class members of another: `D[?x] :- C[?x]`.

Start at `copied_class`.
"""

from __future__ import annotations

from triplestore.datalog.program import TYPE, Constant, Rule, TripleAtom, Variable


def copied_class(rule: Rule) -> bool:
    """Whether a rule is `D[?x] :- C[?x]`."""
    if len(rule.body) != 1:
        return False
    head, item = rule.heads[0], rule.body[0]
    return (  # most rules are different, so the most selective tests come first
        type(item) is TripleAtom
        and type(item.o) is Constant
        and type(head) is TripleAtom
        and type(head.o) is Constant
        and item.p == TYPE
        and head.p == TYPE
        and type(head.s) is Variable
        and head.s == item.s
    )


def names_of(rule: Rule) -> tuple[bytes, bytes]:
    """The keys of the lower and the upper class of a rule `D[?x] :- C[?x]`."""
    one, other = rule.body[0], rule.heads[0]
    assert isinstance(one, TripleAtom) and isinstance(one.o, Constant), "see copied_class"
    assert isinstance(other, TripleAtom) and isinstance(other.o, Constant), "see copied_class"
    return one.o.key, other.o.key
