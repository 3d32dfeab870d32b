"""Arguments of `reason`: regimes by name, and the names that rules may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import nearest
from triplestore.ontologies.translate.regimes import REGIMES
from triplestore.relations import Tables
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.terms import Dictionary

MAX_KNOWN_NAMES = 200
"""Maximum number of properties and classes with which names in rules are compared."""


def chosen(regimes: Sequence[str], rules: RulesLike | None) -> tuple[str, ...] | None:
    """The named regimes, in any case of letters; None to turn inference off."""
    regimes = [name.lower() if isinstance(name, str) else name for name in regimes]
    for name in regimes:
        if name not in REGIMES and name != "none":
            near = nearest(str(name), [*REGIMES, "none"])
            hint = f" (did you mean {near!r}?)" if near else ""
            raise UsageError(
                f"regime {name!r} does not exist{hint}; pass your own rules as rules=..."
            )
    if "none" not in regimes:
        return tuple(regimes)
    if rules is not None or len(set(regimes)) > 1:
        raise UsageError(
            'reason("none") turns inference off; it cannot be combined with rules or other regimes'
        )
    return None


def known_names(tables: Tables, dictionary: Dictionary) -> list[bytes] | None:
    """The keys of all properties and classes in the facts, unless there are too many."""
    names = tables.names().tolist()
    (type_id,) = dictionary.lookup_keys([b"\x01" + RDF_TYPE.encode()]).tolist()
    if type_id in names:
        types = tables.relation(type_id)
        if types.distinct_estimate(1) > MAX_KNOWN_NAMES:
            return None
        names += types.distinct(1).tolist()
    return None if len(names) > MAX_KNOWN_NAMES else [dictionary.key(name) for name in names]
