"""The rules that follow from asserted facts alone.

Start reading at `close_asserted`. The rules in force are made from the axioms that hold. An audit
with these rules would accept an axiom that holds only because of its own rule. So the closure is
computed from the beginning, in a copy of the store that has only the asserted facts and axioms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triplestore.reasoning.closing import Closing
from triplestore.reasoning.drop_inferences import changes_to_asserted
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.reasoner import Reasoner
from triplestore.reasoning.tuning import Tuning
from triplestore.relations import Layer
from triplestore.relations.views.equality import NO_CLASSES, Classes, equality_of
from triplestore.storage import State

if TYPE_CHECKING:
    from triplestore.reasoning.program.in_force import InForce
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.progress import ProgressLine
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

_UNLIMITED = 1 << 60


class AssertedClosure(NamedTuple):
    """What follows from the asserted facts.

    rules       those in force then
    dictionary  a copy of the store's, which has the names that these rules bring
    classes     what is the same then, if one of equals stands for all
    """

    rules: Rules | None
    dictionary: Dictionary
    classes: Classes


def close_asserted(
    tables: Tables, dictionary: Dictionary, rules: InForce, progress: ProgressLine | None = None
) -> AssertedClosure:
    """The rules that would be in force in a new store with the asserted facts of these tables.

    rules  those in force: whose regimes and users' rules they are
    """
    own = dictionary.copy()
    stated = tables.push(Layer.build(changes_to_asserted(tables))).with_schemes({})
    closing = Closing(State(dictionary=own, term_count=own.size, tables=stated), Reasoner())
    tuning = Tuning(max_facts=_UNLIMITED, max_bytes=_UNLIMITED)
    settings = ReasonSettings(rules.users, rules.regimes, tuning)
    if progress is not None:
        progress("axioms")
    closing.apply(settings, [], stated, progress=progress is not None)
    return AssertedClosure(closing.state.rules, own, classes_of(closing.state.tables))


def classes_of(tables: Tables) -> Classes:
    """What is the same, if one of equals stands for all."""
    found = equality_of(tables)
    return NO_CLASSES if found is None else found.classes
