"""The reasoning settings of a store: rules of users, regimes, and tuning.

Start reading at `ReasonSettings`. It is one value that is replaced as a whole; a store keeps it as
three named values (`PROGRAM`, `REGIMES`, `TUNING`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant
from triplestore.ontologies.translate.regimes import OWL_EL, looks_at_literals, reads_axioms
from triplestore.reasoning.program.graph_scope import DEFAULT, Scope, scope_of
from triplestore.reasoning.program.stored_rules import rules_of
from triplestore.reasoning.tuning import AUTO, Tuning
from triplestore.storage.metadata import PROGRAM, REGIMES, TUNING
from triplestore.storage.state import value_of

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.rules.modules.written_out import Choice, Mode

BY_RULES, BY_REWRITING = "rules", "rewrite"
"""How equals are reasoned about; see `equality`."""

_WITH_EQUALITY = frozenset(["owl-rl", "owl-horst"])


@data_class(slots=False)
class Regimes:
    """The regimes that `reason` was given, with their options; false if there are none.

    equality    how equals are reasoned about: by rules, or by rewriting to representatives
    ontologies  graphs of ontology files, each with the file and the hash of its contents
    scope       which named graphs are read beside these and the default graph
    unresolved  imports that were not found, and why

    >>> Regimes.of({"regimes": Regimes(("skos",)).to_bytes()})
    Regimes(names=('skos',), trivial=False, ontologies=(), unresolved=(), equality='rules', \
scope='default')
    """

    names: tuple[str, ...] = ()
    trivial: bool = False
    ontologies: tuple[tuple[str, str, str], ...] = ()
    unresolved: tuple[tuple[str, str], ...] = ()
    equality: str = BY_RULES
    scope: Scope = DEFAULT

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> Regimes:
        """Those that a store keeps."""
        return value_of(meta, REGIMES, _regimes_of, cls())

    def to_bytes(self) -> bytes | None:
        """The form in which they are kept."""
        if not self:
            return None
        said = {"names": self.names, "trivial": self.trivial, "equality": self.equality}
        said |= {"ontologies": self.ontologies, "unresolved": self.unresolved}
        said |= {"scope": self.scope} if self.scope != DEFAULT else {}
        return json.dumps(said, ensure_ascii=False).encode()

    def changed(
        self, names: Iterable[str], trivial: bool | None, equality: str | None = None
    ) -> Regimes:
        """These and more; what is not named stays as it was."""
        if equality not in (None, BY_RULES, BY_REWRITING):
            raise UsageError(
                f'equality={equality!r} is not known: say "{BY_RULES}" or "{BY_REWRITING}"'
            )
        every = tuple(dict.fromkeys((*self.names, *names)))
        made = replace(self, names=every)
        made = made if equality is None else replace(made, equality=equality)
        made = made if trivial is None else replace(made, trivial=trivial)
        if made.equality == BY_REWRITING and OWL_EL in every:
            raise UsageError(
                f'"{OWL_EL}" cannot be combined with equality="{BY_REWRITING}": leave equality out'
            )
        if made.trivial and not made.names:
            raise UsageError("trivial=True is about what a regime infers; name a regime")
        return made

    def scoped(self, scope: Any) -> Regimes:
        """These with another scope, as a caller says it; None leaves it as it is."""
        return self if scope is None else replace(self, scope=scope_of(scope))

    @cached_property
    def look_at_literals(self) -> bool:
        """Whether ill-typed literals are inconsistencies."""
        return looks_at_literals(self.names)

    @cached_property
    def reads_axioms(self) -> bool:
        """Whether rules are made of axioms."""
        return reads_axioms(self.names)

    @cached_property
    def has_el(self) -> bool:
        """Whether asserted axioms are rows of a relation, as `owl-el` has them."""
        return OWL_EL in self.names

    @cached_property
    def rewrites(self) -> bool:
        """Whether equals are rewritten to representatives."""
        wanted = self.equality == BY_REWRITING and not self.trivial
        return wanted and not _WITH_EQUALITY.isdisjoint(self.names)

    @property
    def graphs(self) -> list[bytes]:
        """The graphs of ontologies, as keys of their names."""
        return [b"\x01" + graph.encode() for graph, _, _ in self.ontologies]

    @cached_property
    def infer(self) -> bool:
        """Whether there is anything to infer."""
        return bool(self.names) or self.scope != DEFAULT

    def __bool__(self) -> bool:
        return self.infer


@lru_cache(maxsize=16)
def _regimes_of(data: bytes) -> Regimes:
    """The regimes in their stored form; every transaction reads them."""
    said = json.loads(data)
    return Regimes(
        tuple(said["names"]),
        said["trivial"],
        tuple((graph, file, digest) for graph, file, digest in said["ontologies"]),
        tuple((iri, reason) for iri, reason in said["unresolved"]),
        said.get("equality", BY_RULES),
        scope=scope_of(said.get("scope", DEFAULT)),
    )


@data_class(slots=False)
class ReasonSettings:
    """All that `reason` was given; true if there is anything to infer.

    users    the rules of users; None if there are none
    regimes  the regimes, and how they are applied
    tuning   how the closure is maintained, and its limits
    """

    users: Rules | None = None
    regimes: Regimes = field(default_factory=Regimes)
    tuning: Tuning = field(default_factory=Tuning)

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> ReasonSettings:
        """Those that a store keeps."""
        users = rules_of(meta) if PROGRAM in meta else None
        return cls(users, Regimes.of(meta), Tuning.of(meta))

    def __bool__(self) -> bool:
        return self.users is not None or bool(self.regimes)

    @cached_property
    def representation(self) -> tuple[object, ...]:
        """How closed relations are stored; another one needs a run."""
        return self.tuning.modules, self.tuning.schemes

    @cached_property
    def keeps_side_tables(self) -> bool:
        """Whether tables beside the closure are kept in memory; see `side_tables`."""
        return self.tuning.recursive_counters or self.tuning.keeps_traces

    @cached_property
    def choice(self) -> Choice:
        """How closures are kept."""
        # Late: most stores have no rules.
        from triplestore.rules.modules.written_out import Choice

        schemes = self.tuning.schemes
        if isinstance(schemes, str):
            return Choice(cast("Mode", schemes))
        named = {Constant.iri(n).key: cast("Mode", mode) for n, mode in schemes.items() if n}
        return Choice(cast("Mode", schemes.get("", AUTO)), named)

    def need_run_after(self, before: ReasonSettings) -> bool:
        """Whether a closure under `before` may not be one under these settings."""
        return (
            self.users is not before.users
            or self.regimes != before.regimes
            or self.representation != before.representation
        )

    def to_meta(self) -> dict[str, bytes | None]:
        """The named values in which they are kept."""
        return {
            PROGRAM: self.users.data if self.users else None,
            REGIMES: self.regimes.to_bytes(),
            TUNING: self.tuning.to_bytes(),
        }
