"""Regimes: which rules an ontology is translated to.

Start reading at `translate`. The translation knows all rules of OWL 2 RL; a regime is a choice of
these by their ids, with vocabulary rules (`schema_rules`) and, for SKOS, axioms of its own. Regimes
can be combined. What is always true: the program depends only on what is given here, so the same
axioms give the same program in every process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field, replace

from triplestore.data_classes import data_class
from triplestore.datalog.program import TYPE, Constant, Constraint, Program, Rule, TripleAtom
from triplestore.ontologies.model.axioms import (
    AllDifferent,
    AllDisjointClasses,
    Axiom,
    DisjointClasses,
    SubClassOf,
)
from triplestore.ontologies.model.expressions import Description, InverseOf, Node, Triple
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.profile import outside_of, without_rules
from triplestore.ontologies.profile_el import outside_of_el
from triplestore.ontologies.translate import owl_el, skos
from triplestore.ontologies.translate import schema_rules as schema
from triplestore.ontologies.translate.draft import Outside, RuleDraft, constant, triple
from triplestore.ontologies.translate.owl_rl import (
    all_different_id,
    sub_class_rule,
    translate_axioms,
)
from triplestore.ontologies.translate.premises import (
    may_reach_axioms,
    negations_into_axioms,
    slices_into_axioms,
    with_premises,
)
from triplestore.ontologies.translate.swrl_rules import translate_swrl
from triplestore.ontologies.translate.unfold import loose_classes, unfold

OWL_EL = "owl-el"
"""The regime whose axioms are data of a fixed program (`owl_el.py`), not rules."""


@data_class
class Regime:
    """A named choice of rules.

    only        the ids of the rules that are made from axioms; None for all
    vocabulary  texts of `schema_rules` that belong to it
    trivial     those that do where trivial triples are asked for
    literals    whether ill-typed literals are inconsistencies
    facts       axioms that it brings, each with its id
    extra       further rules and constraints
    """

    name: str
    about: str
    only: frozenset[str] | None = None
    vocabulary: tuple[str, ...] = ()
    trivial: tuple[str, ...] = ()
    literals: bool = True
    facts: tuple[tuple[str, Triple], ...] = ()
    extra: Program = field(default_factory=Program)


_RDFS_RULES = {
    "prp-dom": "rdfs2",
    "prp-rng": "rdfs3",
    "prp-spo1": "rdfs7",
    "cax-sco": "rdfs9",
}

_DATATYPES = ("dt-not-type",)

_HORST_IDS = """
    prp-fp prp-ifp prp-symp prp-trp prp-inv1 prp-inv2 prp-eqp1 prp-eqp2
    cax-eqc1 cax-eqc2 cls-hv1 cls-hv2 cls-svf1 cls-svf2 cls-avf
    scm-sco scm-spo scm-eqc1 scm-eqc2 scm-eqp1 scm-eqp2
    eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1
"""

_HORST_RULES = frozenset((*_HORST_IDS.split(), *_RDFS_RULES, *_DATATYPES))

_SKOS_RULES = frozenset(
    ("prp-symp", "prp-trp", "prp-inv1", "prp-inv2", "cls-uni", "cax-dw", *_RDFS_RULES)
)

_SWRL_IDS = "eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1 eq-diff2 eq-diff3"
_SWRL_RULES = frozenset(_SWRL_IDS.split())

REGIMES: dict[str, Regime] = {
    regime.name: regime
    for regime in (
        Regime(
            "rdfs",
            "sub-classes, sub-properties, domains and ranges",
            frozenset((*_RDFS_RULES, *_DATATYPES)),
            (schema.RDFS, schema.RDFS_VOCABULARY),
            (schema.RDFS, schema.RDFS_VOCABULARY, schema.RDFS_TRIVIAL),
        ),
        Regime(
            "owl-rl",
            "all of OWL 2 RL",
            None,
            (schema.OWL_RL, schema.CONSTRAINTS, schema.DIFFERENT),
            (schema.OWL_RL_TRIVIAL, schema.CONSTRAINTS, schema.DIFFERENT),
        ),
        Regime(
            "owl-horst",
            "RDFS with characteristics of properties, equality, hasValue, some and all values",
            _HORST_RULES,
            (schema.RDFS, schema.OWL_RL, schema.DIFFERENT),
            (schema.RDFS, schema.RDFS_TRIVIAL, schema.OWL_RL_TRIVIAL, schema.DIFFERENT),
        ),
        Regime(
            "skos",
            "SKOS with its own axioms, rules and integrity conditions",
            _SKOS_RULES,
            (schema.RDFS, schema.CONSTRAINTS),
            (schema.RDFS, schema.CONSTRAINTS),
            False,
            skos.AXIOMS,
            skos.rules(),
        ),
        Regime(
            OWL_EL,
            "all of OWL 2 EL: what is below what, with existential restrictions",
            frozenset(),
            literals=False,
        ),
        Regime(
            "swrl",
            "SWRL rules that the data have, and equality",
            _SWRL_RULES,
            (schema.DIFFERENT,),
            (schema.DIFFERENT,),
            literals=False,
        ),
    )
}
"""All regimes but `none`, by name."""


@data_class
class Translation:
    """A program made from axioms, and what was left out of it.

    program     rules with ids and axioms
    outside     axioms, and parts of axioms, without rules
    used        how many axioms were translated
    reflective  whether rules may conclude triples of axioms that no vocabulary rule would: then
                axioms that are inferred count as much as asserted ones, and a translation of these
                only has nothing else
    valued      properties whose values are compared, if they are literals, by their values
    negated     rules of users that negate or aggregate on a way to triples of axioms
    into_axioms  keys of classes on whose members axioms depend
    """

    program: Program
    outside: tuple[Outside, ...] = ()
    used: int = 0
    reflective: bool = False
    valued: frozenset[Constant] = frozenset()
    negated: tuple[Rule, ...] = ()
    into_axioms: frozenset[bytes] = frozenset()


WITH_EQUALITY = frozenset(["owl-rl", "owl-horst", "swrl"])
"""Regimes in which equal things have the same facts; under others owl:sameAs is any property."""


def vocabulary(
    names: Iterable[str], *, trivial: bool = False, equal: bool = False
) -> list[Rule | Constraint]:
    """The rules and constraints of regimes that depend on no axiom.

    equal  whether anything is known to be the same as something else: only then rules about
           equality, which speak of all triples, are needed

    >>> len(vocabulary(["rdfs"])) == len(vocabulary(["rdfs", "rdfs"]))
    True
    """
    found: dict[Rule | Constraint, None] = {}
    for regime in _chosen(names):
        texts = [*(regime.trivial if trivial else regime.vocabulary)]
        if equal and regime.name in WITH_EQUALITY:
            texts.append(schema.EQUALITY)
        for text in texts:
            program = schema.vocabulary_rules(text)
            clauses: Sequence[Rule | Constraint] = (*program.rules, *program.constraints)
            found.update(dict.fromkeys(c for c in clauses if _wanted(c, regime)))
        for name, fact in regime.facts:
            found[Rule((triple(fact),), (), name)] = None
        found.update(dict.fromkeys((*regime.extra.rules, *regime.extra.constraints)))
    return list(found)


def facts_of(names: Iterable[str]) -> list[Triple]:
    """The axioms that belong to regimes."""
    return [fact for regime in _chosen(names) for _, fact in regime.facts]


def reads_axioms(names: Iterable[str]) -> bool:
    """Whether one of the regimes makes rules of axioms.

    >>> reads_axioms(["owl-el"]), reads_axioms(["owl-el", "owl-rl"])
    (False, True)
    """
    return any(name != OWL_EL for name in names)


def looks_at_literals(names: Iterable[str]) -> bool:
    """Whether ill-typed literals are inconsistencies under one of the regimes."""
    return any(regime.literals for regime in _chosen(names))


def names_containers(names: Iterable[str]) -> bool:
    """Whether rdf:_1, rdf:_2 and so on are properties of containers under one of the regimes."""
    return any(schema.RDFS_VOCABULARY in regime.vocabulary for regime in _chosen(names))


def _wanted(clause: Rule | Constraint, regime: Regime) -> bool:
    name = clause.name if isinstance(clause, Rule) else clause.id
    return regime.only is None or not name.startswith(("scm", "cax", "eq-")) or name in regime.only


def _chosen(names: Iterable[str]) -> list[Regime]:
    return [REGIMES[name] for name in dict.fromkeys(names)]


def translate(
    ontology: Ontology,
    names: Iterable[str],
    *,
    trivial: bool = False,
    equal: bool = False,
    merged: bool = True,
    rewritten: bool = False,
    members: Collection[Node] = (),
    users: Program | None = None,
    edges: Iterable[tuple[bytes, bytes]] = (),
    full: bool = True,
    roles: frozenset[str] = frozenset(),
) -> Translation:
    """The program of an ontology under some regimes.

    trivial  whether trivial triples are inferred as well
    equal    whether there is an owl:sameAs between two things
    merged   whether one of these is in an axiom
    rewritten  whether one of equals stands for all: then no rules say what follows from that
    members  classes without names that have asserted members
    users    rules in force beside these
    edges    further sub-class axioms between names, as keys
    full     whether these are all axioms that hold; if they are not, the program of a reflective
             ontology is empty
    roles    properties of the data, for `owl-el`

    >>> from pyoxigraph import NamedNode
    >>> axiom = SubClassOf(NamedNode("http://e/A"), NamedNode("http://e/B"))
    >>> print(translate(Ontology((axiom,)), ["rdfs"]).program.rules[-1])
    rule "rdfs9" <http://e/B>[?x] :- <http://e/A>[?x] .
    """
    names = list(names)
    chosen = _chosen(names)
    if WITH_EQUALITY.isdisjoint(regime.name for regime in chosen):
        equal = rewritten = False
    fixed = vocabulary([regime.name for regime in chosen], trivial=trivial, equal=equal)
    about = [clause for clause in fixed if isinstance(clause, Rule)]
    own = () if users is None else users.rules
    draft = _draft(ontology, chosen)
    if any(regime.only != frozenset() for regime in chosen):
        draft.clashes()
        draft.simple += [sub_class_rule(*edge) for edge in edges]
    if any(regime.name == "swrl" for regime in chosen):
        expressions = any(regime.only is None for regime in chosen)
        different = _kinds_of_difference(ontology)
        for rule in ontology.rules:
            translate_swrl(rule, draft, expressions=expressions, different=different)
    rules, simple, constraints = _selected(draft, chosen)
    # Equality of individuals of which no axiom speaks makes axioms only if other rules do.
    told = about if merged or not equal else [rule for rule in about if rule not in _REPLACING]
    unsaid = (equal and not merged) or rewritten
    if unsaid and may_reach_axioms([*rules, *simple], _parts(told), _parts(own)):
        told = list(dict.fromkeys((*about, *schema.vocabulary_rules(schema.EQUALITY).rules)))
    if not trivial and not _any_class((*rules, *told, *own)):
        kept = draft.kept | set(map(constant, members))
        loose = loose_classes(descriptions(ontology), kept)
        rules, constraints = unfold(rules, constraints, loose)
    rules = [*rules, *simple]
    reflective = may_reach_axioms(rules, _parts(told), _parts(own))
    if reflective and not full:
        return Translation(Program(), reflective=True)
    made = [*draft.schema, *rules]
    if reflective:
        made = with_premises(rules, draft.schema, told, own)
    constraints = [
        *(c for c in fixed if isinstance(c, Constraint) and _has_axioms(c, ontology)),
        *constraints,
    ]
    program = Program([*about, *made], constraints)
    if OWL_EL in names:  # what it concludes makes no rules: its own rules read what others conclude
        program += owl_el.rules_of(len(chosen) > 1 or users is not None, roles)
    used = len(ontology.axioms) + len(draft.simple)
    used += len(ontology.rules) if "swrl" in [regime.name for regime in chosen] else 0
    outside = _outside(ontology, draft, chosen)
    negated = negations_into_axioms(made, told, own) if chosen else []  # else not read
    valued = frozenset(draft.valued)
    into = slices_into_axioms(_parts(told), _parts(own))
    classes = frozenset(slice_.name for slice_ in into if slice_.kind == "class")
    return Translation(program, outside, used, reflective, valued, tuple(negated), classes)


def rules_about_axioms(
    ontology: Ontology, names: Iterable[str], *, trivial: bool = False, equal: bool = False
) -> Program:
    """Those rules of an ontology that conclude axioms from axioms, whatever the data are. Unless it
    is reflective, all axioms that hold follow from these.

    equal  whether there is an owl:sameAs between two things
    """
    chosen = _chosen(names)
    fixed = vocabulary([regime.name for regime in chosen], trivial=trivial, equal=equal)
    draft = _draft(ontology, chosen)
    _selected(draft, chosen)
    about = [clause for clause in fixed if isinstance(clause, Rule)]
    # Pairs of members (`RuleDraft.pair`) are for constraints, and may be very many.
    schema = [rule for rule in draft.schema if isinstance(rule.heads[0], TripleAtom)]
    return Program((*about, *schema))


def _draft(ontology: Ontology, chosen: Sequence[Regime]) -> RuleDraft:
    """What the axioms give, if one of the regimes has rules of axioms."""
    draft = RuleDraft()
    if any(regime.only != frozenset() for regime in chosen):
        translate_axioms(ontology.axioms, draft, descriptions(ontology))
    return draft


def _parts(rules: Iterable[Rule]) -> list[Rule]:
    return [part for rule in rules for part in rule.split()]


def sub_class_id(names: Iterable[str]) -> str | None:
    """The id of the rule that regimes make of a sub-class axiom between names; None if of none.

    >>> sub_class_id(["rdfs"]), sub_class_id(["rdfs", "owl-rl"]), sub_class_id(["swrl"])
    ('rdfs9', 'cax-sco', None)
    """
    draft = RuleDraft(simple=[sub_class_rule(b"\x01a", b"\x01b")])
    _, simple, _ = _selected(draft, _chosen(names))
    return simple[0].name if simple else None


_REPLACING = frozenset(schema.vocabulary_rules(schema.EQUALITY).rules)


def _outside(ontology: Ontology, draft: RuleDraft, chosen: Sequence[Regime]) -> tuple[Outside, ...]:
    rest = [*draft.outside]
    if all(regime.name != "swrl" for regime in chosen):
        rest += [Outside(rule, 'SWRL rules also need the regime "swrl"') for rule in ontology.rules]
    if any(regime.name == OWL_EL for regime in chosen):
        rest += outside_of_el(ontology.axioms)
        if len(chosen) == 1:
            return tuple(rest)
        within = {id(axiom) for axiom in ontology.axioms} - {id(one.axiom) for one in rest}
        beyond = outside_of(ontology.axioms)
        return (*rest, *(one for one in beyond if id(one.axiom) not in within))
    if any(regime.only is None for regime in chosen):
        return (*outside_of(ontology.axioms), *rest)
    wanted = frozenset[str]().union(*(regime.only or frozenset() for regime in chosen))
    return (*without_rules(ontology.axioms, wanted), *rest)


def _kinds_of_difference(ontology: Ontology) -> list[str]:
    """The ids of the rules about the existing axioms of AllDifferent."""
    found = {all_different_id(one) for one in ontology.axioms if isinstance(one, AllDifferent)}
    return sorted(found)


def _any_class(rules: Iterable[Rule]) -> bool:
    """Whether a rule may conclude a type in a class that it does not name."""
    return any(
        type(head.o if head.p == TYPE else head.p) is not Constant
        for rule in rules
        for head in rule.heads
        if isinstance(head, TripleAtom)
    )


def descriptions(ontology: Ontology) -> list[Description]:
    """The expressions of an ontology that describe classes or data ranges."""
    return [e for e in ontology.expressions if not isinstance(e, InverseOf)]


def _has_axioms(constraint: Constraint, ontology: Ontology) -> bool:
    """Whether there are axioms that a constraint about all axioms of a kind could find."""
    kind = _KINDS.get(constraint.id)
    return kind is None or any(isinstance(axiom, kind) for axiom in ontology.axioms)


_KINDS: dict[str, type[Axiom]] = {
    "cax-dw": DisjointClasses,
    "cax-adc": AllDisjointClasses,
    "eq-diff2": AllDifferent,
    "eq-diff3": AllDifferent,
}


def _selected(
    draft: RuleDraft, chosen: Sequence[Regime]
) -> tuple[list[Rule], list[Rule], list[Constraint]]:
    """The rules of a draft that some regime has; named as in RDFS if that is the only regime."""
    if any(regime.only is None for regime in chosen):
        return draft.rules, draft.simple, draft.constraints
    wanted = frozenset({"swrl"}).union(*(regime.only or frozenset() for regime in chosen))
    rules = [rule for rule in draft.rules if rule.name in wanted]
    simple = draft.simple if "cax-sco" in wanted else []
    constraints = [one for one in draft.constraints if one.id in wanted]
    draft.schema = [rule for rule in draft.schema if rule.name in wanted]
    if all(regime.name == "rdfs" for regime in chosen):
        rules = [replace(rule, name=_RDFS_RULES[rule.name]) for rule in rules]
        simple = [replace(rule, name=_RDFS_RULES[rule.name]) for rule in simple]
    return rules, simple, constraints


__all__ = ["REGIMES", "Regime", "SubClassOf", "Translation", "translate", "vocabulary"]
