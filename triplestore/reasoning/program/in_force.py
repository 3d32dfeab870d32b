"""The program in force: users' rules, and those that regimes make from the axioms that hold.

Start reading at `make_program`. A store keeps the names of the regimes. Their rules are a function
of the closed tables and are made again from these. So a program belongs to one state, and is
remembered for it (`reasoner.py: rules_of_state`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import Atom, Constraint, Program, Rule
from triplestore.errors import StorageError
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.translate.regimes import rules_about_axioms, sub_class_id, translate
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.equality.forecast import will_equate
from triplestore.reasoning.program.graph_scope import RULE, scope_rules
from triplestore.reasoning.program.literals import Literals
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.reasoning.program.settings import BY_REWRITING, Regimes
from triplestore.reasoning.program.sleeping_rules import Sleeping, find_sleeping
from triplestore.reasoning.program.stored_rules import Rules, rules_of
from triplestore.reasoning.program.subclass_edges import SubclassEdges, WholeProgram
from triplestore.reasoning.tuning import Tuning
from triplestore.relations.packed_keys import NO_KEYS
from triplestore.relations.views.equality import reasoned
from triplestore.storage.metadata import file_count, graph_files, import_jobs

if TYPE_CHECKING:
    from triplestore.ontologies.model.ontology import Ontology
    from triplestore.ontologies.translate.regimes import Translation
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary


def unreadable_values(meta: Mapping[str, bytes]) -> list[str]:
    """What is wrong with named values that are read only when they are needed."""
    problems = []
    for read in (graph_files, import_jobs, file_count, Tuning.of, lambda m: rules_of(m).program):
        try:
            read(meta)
        except StorageError as error:
            problems.append(str(error))
    return problems


@dataclass
class _Translated:
    """A translation, and what it was made from; equal if made from the same.

    edges    sub-class axioms between names, if rules are made from them
    roles    properties with assertions, for `owl-el`
    options  what was read from the data beside the axioms
    made     None if only the ontology was read
    """

    regimes: Regimes
    users: Rules | None
    full: bool
    edges: list[tuple[bytes, bytes]]
    triples: list[Any]
    roles: frozenset[str] = frozenset()
    options: tuple[bool, bool, list[Any]] | None = field(default=None, compare=False)
    ontology: Ontology = field(default_factory=Ontology, compare=False)
    made: Translation | None = field(default=None, compare=False)


class InForce(Rules):
    """A whole program; equal only to itself.

    regimes      those that it was made for
    whole        the program, and axioms that are not rules of it
    users        the part that users gave
    translation  the part that was made from axioms
    ontology     these axioms
    literals     the literals about which it has facts
    names        dictionary keys of ids that were read
    translations  the translations that it comes from, the last one in force: of the asserted
                 axioms, and of all that hold where these count
    foreseen     whether it has the rules of equality only because equalities are expected
    partial      whether these are only rules about axioms, from whose conclusions all are made
    sleeping     the rules that nothing can reach yet, which are not compiled
    roles        properties with assertions, for which `owl-el` has rules
    """

    def __init__(
        self,
        program: Program,
        users: Rules | None,
        translation: Translation | None = None,
        ontology: Ontology | None = None,
        literals: Literals | None = None,
        edges: SubclassEdges | None = None,
    ) -> None:
        super().__init__(b"" if users is None else users.data)
        self.regimes = Regimes()
        self.whole = WholeProgram(program, edges)
        self.users = users
        self.translation = translation
        self.ontology = ontology
        self.literals = literals or Literals()
        self.names: tuple[Dictionary, dict[int, bytes]] | None = None
        self.foreseen = False
        self.partial = False
        self.sleeping: Sleeping | None = None
        self.roles = frozenset[str]()
        self.translations: list[_Translated] = []

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @cached_property
    def program(self) -> Program:
        """All rules; callers that do not need the axioms beside it as rules use `whole`."""
        with no_collection():
            return self.whole.together

    @property
    def known(self) -> WholeProgram:
        """The part that was made, by which programs of a run are compared; usually the whole."""
        return self.whole

    @property
    def compiled(self) -> WholeProgram:
        """The rules that are compiled to maintain a closure: all that do not sleep."""
        if self.sleeping is None:
            return self.whole
        return WholeProgram(self.sleeping.awake, self.whole.edges)

    def woken(self) -> InForce:
        """The same program, in which no rule sleeps."""
        found = copy(self)
        found.sleeping = None
        return found

    @property
    def rule_count(self) -> int:
        """How many rules there are."""
        return self.whole.rule_count

    @property
    def constraint_count(self) -> int:
        """How many constraints there are."""
        return len(self.whole.program.constraints)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints."""
        return self.whole.program.constraints

    @cached_property
    def may_hide(self) -> bool:
        """Whether they may conclude facts that are not shown: with a regime they may."""
        return True

    @cached_property
    def scoped(self) -> frozenset[Atom]:
        """The conclusions of the rules about the graphs of a scope."""
        rules = self.whole.program.rules
        return frozenset(rule.heads[0] for rule in rules if rule.name == RULE)


def program_before_axioms(
    regimes: Regimes, users: Rules | None, tables: Tables, dictionary: Dictionary
) -> InForce:
    """The program before any axiom is known."""
    made = translate(Ontology(), regimes.names, trivial=regimes.trivial)
    facts = SchemaReader(dictionary, tables, regimes).facts()
    facts += scope_rules(tables, dictionary)
    found = InForce(_together(users, made.program, facts), users, made)
    found.regimes = regimes
    return found


def schema_program(
    regimes: Regimes, users: Rules | None, tables: Tables, dictionary: Dictionary
) -> InForce | None:
    """The rules about axioms only, if many of the asserted facts are axioms; else None.

    What they conclude is usually all that a program is made from. So the many rules about data are
    made once from all axioms, not first from the asserted ones.
    """
    # Late: most stores have no regime.
    from triplestore.ontologies.read import read_ontology

    with no_collection():
        reader = SchemaReader(dictionary, tables, regimes)
        if not (regimes.reads_axioms and reader.many()):
            return None
        _, triples = reader.read(False)
        ontology, equal = read_ontology(triples), bool(len(reader.equals()))
        made = rules_about_axioms(ontology, regimes.names, trivial=regimes.trivial, equal=equal)
        facts = [*reader.facts(), *scope_rules(tables, dictionary)]
        found = InForce(_together(None, made, facts), users, ontology=ontology)
        found.names = (dictionary, reader.known)
        found.translations = [_Translated(regimes, users, False, [], triples, ontology=ontology)]
        found.regimes = regimes
        found.partial = True
        return found


def make_program(
    regimes: Regimes,
    users: Rules | None,
    tables: Tables,
    dictionary: Dictionary,
    before: InForce | None = None,
    *,
    early: bool = False,
    literals: Literals | None = None,
    looked_at: Literals | None = None,
) -> InForce:
    """The program in force where these tables hold, if they are closed.

    before     the program of earlier tables; what is still right is used again
    early      whether the tables are not closed yet: then the program already has rules that will
               be needed as soon as others are applied
    literals   those that were looked at, if that is known without an earlier program
    looked_at  the literals that the dictionary had when the tables were made, if it may have more
               now: those of a later commit, or of a transaction that is not committed
    """
    # Late: most stores have no regime.
    from triplestore.ontologies.read import read_ontology

    stored, tables = tables, reasoned(tables)
    with no_collection():
        names = None if before is None else before.names
        # A copy: a transaction that fails takes back the terms that it brought.
        known_names = dict(names[1]) if names is not None and names[0] is dictionary else {}
        reader = SchemaReader(dictionary, tables, regimes, known_names)
        equals = reader.equals()
        merged = bool(len(equals)) and reader.speaks_of(equals)
        known_before = [] if before is None else before.translations
        translations: list[_Translated] = []
        roles = _roles(regimes, tables, dictionary)
        for full in (False, True):
            keys, triples = reader.read(full) if regimes.reads_axioms else (NO_KEYS, [])
            name = _rule_beside(regimes, users, full)
            pairs = reader.pairs(keys) if name is None else []
            now = _Translated(regimes, users, full, pairs, triples, roles)
            translations.append(now)
            old = next((one for one in known_before if one == now), None)
            ontology = now.ontology = read_ontology(triples) if old is None else old.ontology
            equal = bool(len(equals)) or (early and will_equate(ontology, tables, dictionary))
            members = reader.with_members(ontology)
            now.options = equal, merged, members
            made = old.made if old is not None and old.options == now.options else None
            if made is None:
                made = translate(
                    ontology,
                    regimes.names,
                    trivial=regimes.trivial,
                    equal=equal,
                    merged=merged,
                    rewritten=regimes.equality == BY_REWRITING,
                    members=members,
                    users=None if users is None else users.program,
                    edges=pairs,
                    full=full,
                    roles=roles,
                )
            now.made = made
            if not made.reflective and not (name and reader.lead_to(keys, made.into_axioms)):
                break
        assert made is not None
        _refuse(made.negated)
        literals = looked_at or literals or (Literals() if before is None else before.literals)
        if looked_at is None and regimes.look_at_literals:
            literals = literals.looked_at(dictionary)
        literals = replace(literals, valued=reader.ids_of(made.valued))
        facts = [*reader.facts(), *scope_rules(stored, dictionary)]
        program = _together(users, made.program, facts)
        program = literals.added(program, tables, dictionary)
        edges = SubclassEdges(dictionary, keys, name) if name is not None and len(keys) else None
        found = InForce(program, users, made, ontology, literals, edges)
        found.names = (dictionary, reader.known)
        found.translations = translations
        found.regimes = regimes
        found.foreseen = equal and not len(equals)
        found.roles = roles
        if name is not None and (before is None or early or before.sleeping is not None):
            found.sleeping = find_sleeping(program, keys, tables, dictionary)
        return found


def _rule_beside(regimes: Regimes, users: Rules | None, full: bool) -> str | None:
    """The id of the rules of sub-class axioms if these may stand beside the program; None if they
    must be rules of it, because they are premises or each rule is examined."""
    if full or regimes.equality == BY_REWRITING:
        return None
    if users is not None and any(rule.nots or rule.aggregates for rule in users.program.rules):
        return None
    return sub_class_id(regimes.names)


def _roles(regimes: Regimes, tables: Tables, dictionary: Dictionary) -> frozenset[str]:
    """The properties of the ontology with which something is asserted, for `owl-el`."""
    if not regimes.has_el:
        return frozenset()
    # Late: few stores have this regime.
    from triplestore.reasoning.program.asserted_axioms import roles_of

    return roles_of(tables, dictionary)


def _refuse(rules: Sequence[Rule]) -> None:
    """Refuse users' rules that negate or aggregate and lead to axioms."""
    raise_errors(
        Problem(
            "negated-axiom",
            "it negates or aggregates, and axioms may follow from what it concludes",
            "conclude something that is not part of an axiom",
            file=rule.source.file if rule.source else None,
            line=rule.source.line if rule.source else None,
            column=rule.source.column if rule.source else None,
            rule=rule.name or str(rule),
        )
        for rule in rules
    )


def _together(users: Rules | None, made: Program, facts: list[Rule]) -> Program:
    if not facts:
        return made if users is None else users.program + made
    program = Program() if users is None else users.program
    return Program(
        (*program.rules, *made.rules, *facts),
        (*program.constraints, *made.constraints),
        program.prefixes,
    )


def whole_program_of(rules: Rules | None) -> WholeProgram:
    """The program of some rules with the axioms beside it; without rules an empty one."""
    if rules is None:
        return WholeProgram(Program())
    return rules.whole if isinstance(rules, InForce) else WholeProgram(rules.program)


def known_program_of(rules: Rules | None) -> WholeProgram:
    """The part of it that was made."""
    return rules.known if isinstance(rules, InForce) else whole_program_of(rules)


def same_axioms(one: Rules | None, other: Rules | None) -> bool:
    """Whether two programs in force were made from the same rules and axioms."""
    if one is other:
        return True
    if not (isinstance(one, InForce) and isinstance(other, InForce)):
        return one == other
    if (one.data, one.regimes) != (other.data, other.regimes):
        return False
    read, known = ([t.triples for t in each.translations[-1:]] for each in (one, other))
    if len(read) != len(known) or any(set(a) != set(b) for a, b in zip(read, known, strict=True)):
        return False
    return not (_edges_without(one, other) or _edges_without(other, one))


def _edges_without(one: InForce, other: InForce) -> bool:
    edges = one.whole.edges
    return edges is not None and bool(edges.without(other.whole.edges))
