"""The pages of rules: each rule of a language, as the W3C has it and as it is here, with examples.

The W3C's rules are those of the oracle, the examples are the test cases, and our rules are what the
translator makes of the first example that gives any. So the pages say what the tests check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swrl_rules import BUILTINS, EXAMPLES, swrl_facts
from w3c_rules import LIST_RULES, NOTES, SKOS_LISTS

from tests.ontologies import rdfs_cases, rule_cases, skos_cases
from tests.ontologies.deviations import DEVIATIONS
from tests.ontologies.oracle.owl_rl import TABLE_4, TABLE_5, TABLE_6, TABLE_7, TABLE_9
from tests.ontologies.oracle.patterns import Rule as W3cRule
from tests.ontologies.oracle.rdfs import PATTERNS as RDFS_PATTERNS
from tests.ontologies.oracle.skos import AXIOMS as SKOS_AXIOMS
from tests.ontologies.oracle.skos import INTEGRITY as SKOS_INTEGRITY
from tests.ontologies.oracle.vocabulary import PREFIXES, Fact
from tests.ontologies.rule_cases import RuleCase
from triplestore.datalog.program import Constraint, Rule
from triplestore.datalog.text import show
from triplestore.ontologies.read import read_ontology
from triplestore.ontologies.translate import schema_rules
from triplestore.ontologies.translate.regimes import translate

_PREFIXES = {
    **PREFIXES,
    "swrlb": "http://www.w3.org/2003/11/swrlb#",
    "triplestore": "x-triplestore:",
}
_PROFILES = "https://www.w3.org/TR/owl2-profiles/#Reasoning_in_OWL_2_RL_and_RDF_Graphs_using_Rules"
_RDF_MT = "https://www.w3.org/TR/rdf11-mt/#patterns-of-rdfs-entailment-informative"
_TABLES = (
    ("Table 4: equality", TABLE_4, ("eq-",)),
    ("Table 5: axioms about properties", TABLE_5, ("prp-",)),
    ("Table 6: classes", TABLE_6, ("cls-",)),
    ("Table 7: class axioms", TABLE_7, ("cax-",)),
    ("Table 8: datatypes", "", ("dt-",)),
    ("Table 9: vocabulary", TABLE_9, ("scm-",)),
)
_TRIVIAL = "What it concludes holds for any data, so it is inferred with `trivial=True` only."
_MOST_RULES = 4
"""Maximum number of our rules that one entry shows."""


@dataclass
class Entry:
    """A rule of a language: what a page says of it."""

    id: str
    w3c: str
    ours: Sequence[str] = ()
    cases: Sequence[RuleCase] = ()
    notes: list[str] = field(default_factory=list)


def owl_rl_page() -> str:
    """OWL 2 RL, table by table."""
    w3c = {**_texts("".join(text for _, text, _ in _TABLES)), **LIST_RULES}
    cases = _by_rule(rule_cases.CASES)
    parts = [_head("OWL 2 RL rules", "owl-rl", _PROFILES)]
    for title, _, starts in _TABLES:
        ids = [id for id in cases if id.startswith(starts)]
        entries = [_owl_rl_entry(id, w3c[id], cases[id]) for id in ids]
        parts += [f"## {title}", *_table(entries)]
        parts += [line for entry in entries for line in _section(entry)]
    return "\n\n".join(parts) + "\n"


def _owl_rl_entry(id: str, w3c: str, cases: Sequence[RuleCase]) -> Entry:
    entry = Entry(id, w3c, _ours(id, cases, "owl-rl"), cases)
    return _noted(entry, "owl-rl")


def _noted(entry: Entry, regime: str) -> Entry:
    """With what is special about the rule here."""
    if entry.id in NOTES:
        entry.notes.append(NOTES[entry.id])
    elif not entry.ours:
        entry.ours = _ours(entry.id, entry.cases, regime, trivial=True)
        entry.notes.append(_TRIVIAL)
    return entry


def rdfs_page() -> str:
    """RDFS."""
    w3c = {rule.name: _text(rule) for rule in RDFS_PATTERNS}
    w3c["rdfs1"] = "true ⇒ ?d a rdfs:Datatype, for each datatype that is supported"
    entries = []
    for id, cases in _by_rule(rdfs_cases.CASES).items():
        entries.append(_noted(Entry(id, w3c[id], _ours(id, cases, "rdfs"), cases), "rdfs"))
    parts = [_head("RDFS rules", "rdfs", _RDF_MT)]
    parts += [*_table(entries), *(line for entry in entries for line in _section(entry))]
    return "\n\n".join(parts) + "\n"


def skos_page() -> str:
    """The statements of SKOS."""
    w3c: dict[str, list[str]] = {}
    for id, facts in SKOS_AXIOMS.items():
        w3c.setdefault(id, []).extend(_fact(fact) for fact in facts)
    for rule in SKOS_INTEGRITY:
        w3c.setdefault(rule.name, []).append(_text(rule))
    w3c.update({id: [text] for id, text in SKOS_LISTS.items()})
    entries = []
    for id, cases in _by_rule(skos_cases.CASES).items():
        entries.append(Entry(id, "\n".join(w3c[id]), _ours(id, cases, "skos"), cases))
    parts = [_head("SKOS rules", "skos", "https://www.w3.org/TR/skos-reference/"), _SKOS]
    parts += [*_table(entries), *(line for entry in entries for line in _section(entry))]
    return "\n\n".join(parts) + "\n"


_SKOS = """SKOS says most of what it means in axioms. They belong to the regime: each is a fact with
the number of its statement, and what follows from it follows by rules of OWL 2 RL. Statements that
only say that a word is a class or a property (S1 to S3 and the like) are left out."""


def swrl_page(design: Path) -> str:
    """SWRL: what each kind of atom becomes, and the built-ins."""
    parts = [_head("SWRL rules", "swrl", "https://www.w3.org/submissions/SWRL/", _ABOUT_SWRL)]
    parts += ["## Atoms"]
    for title, text in EXAMPLES.items():
        found = translate(read_ontology(swrl_facts(text)), ["swrl"]).program
        clauses: list[Rule | Constraint] = [*found.rules, *found.constraints]
        ours = [_clause(one) for one in clauses if not _name(one).startswith(("eq-", "dt-"))]
        parts += [f"### {title}", f"```turtle\n{text}\n```", _rules(ours)]
    table = design.read_text(encoding="utf-8").partition("### SWRL's built-ins")[2]
    parts += ["## Built-ins", BUILTINS, "\n".join(_rows(table))]
    return "\n\n".join(parts) + "\n"


def _rows(text: str) -> Iterator[str]:
    for line in text.partition("\n## ")[0].splitlines():
        if line.startswith("|"):
            yield line


def _head(title: str, regime: str, source: str, about: str = "") -> str:
    return (
        f'# {title}\n\n`store.reason("{regime}")` applies the rules of '
        f"[the specification]({source}). {about or _ABOUT}"
    )


_ABOUT = (
    "*Here* is what the translator makes of the axioms of the example: each axiom gives rules of "
    "its own, without the axiom in their body, so that facts are joined with facts only. The "
    "examples are test cases: a test checks each with all of its premises, and again without each "
    "of them. Below an example, `# then` is what follows, and `# but not` is what does not."
)
_ABOUT_SWRL = (
    "Each `swrl:Imp` in the data becomes a rule. The rules below the examples are what the "
    "translator makes of them."
)


def _by_rule(cases: Sequence[RuleCase]) -> dict[str, list[RuleCase]]:
    found: dict[str, list[RuleCase]] = {}
    for case in cases:
        found.setdefault(case.rule, []).append(case)
    return found


def _texts(table: str) -> dict[str, str]:
    """name -> rule, of a table of the oracle."""
    found = {}
    for line in re.sub(r"\n +", " ", table).split("\n"):
        if line:
            name, body, heads = (part.strip() for part in line.split("|"))
            found[name] = f"{body} ⇒ {heads}"
    return found


def _text(rule: W3cRule) -> str:
    body = " . ".join(map(_fact, rule.body))
    heads = " . ".join(map(_fact, rule.heads)) or "false"
    return f"{body} ⇒ {heads}"


def _fact(fact: Fact | Sequence[object]) -> str:
    return " ".join(_short(str(one)) for one in fact).replace(" rdf:type ", " a ")


def _short(text: str) -> str:
    for prefix, iri in PREFIXES.items():
        if text.startswith(f"<{iri}"):
            return f"{prefix}:{text[len(iri) + 1 : -1]}"
    return text


def _ours(id: str, cases: Sequence[RuleCase], regime: str, trivial: bool = False) -> list[str]:
    """The rules of this name that are made of the first case that gives any."""
    if id == "dt-not-type":
        about_literals = schema_rules.vocabulary_rules(schema_rules.LITERALS)
        return [_clause(one) for one in about_literals.constraints]
    for case in cases:
        ontology = read_ontology(case.facts)
        equal = id.startswith("eq-")
        found = translate(ontology, [regime], trivial=trivial, equal=equal).program
        clauses: list[Rule | Constraint] = [*found.rules, *found.constraints]
        own = [one for one in clauses if id in _name(one).split(", ") or _is_nothing(one, id)]
        if regime == "skos":
            own = own or [one for one in clauses if _name(one).startswith(f"{id}-")]
        if own:
            texts = list(dict.fromkeys(map(_clause, own)))
            more = len(texts) - _MOST_RULES
            return texts if more <= 0 else [*texts[:_MOST_RULES], f"# and {more} more"]
    return []


def _is_nothing(clause: Rule | Constraint, id: str) -> bool:
    return id == "cls-nothing2" and _name(clause) == "owl:Nothing"


def _name(clause: Rule | Constraint) -> str:
    return clause.name if isinstance(clause, Rule) else clause.id


def _clause(clause: Rule | Constraint) -> str:
    return show(clause, _PREFIXES)


def _table(entries: Sequence[Entry]) -> Iterator[str]:
    rows = [
        f"| [{entry.id}](#{entry.id.lower()}) | {_cell(entry.w3c)} | {_word(entry)} |"
        for entry in entries
    ]
    yield "\n".join(["| id | rule | here |", "|---|---|---|", *rows])


def _cell(w3c: str) -> str:
    return "<br>".join(f"`{line}`" for line in w3c.splitlines())


def _word(entry: Entry) -> str:
    if any(case.name in DEVIATIONS for case in entry.cases):
        return "deviates"
    if _TRIVIAL in entry.notes:
        return "with `trivial=True`"
    return "by value" if entry.id in NOTES and not entry.ours else "yes"


def _section(entry: Entry) -> Iterator[str]:
    yield f"### {entry.id}"
    yield f"```text\n{_broken(entry.w3c)}\n```"
    yield from entry.notes
    if entry.ours:
        yield f"Here:\n\n{_rules(entry.ours)}"
    for case in entry.cases:
        yield _example(case)


def _broken(w3c: str) -> str:
    """A long rule over two lines."""
    return "\n".join(
        line if len(line) < 90 else line.replace(" ⇒ ", "\n  ⇒ ") for line in w3c.splitlines()
    )


def _rules(ours: Sequence[str]) -> str:
    return "```rules\n" + "\n".join(_wrapped(one) for one in ours) + "\n```"


def _wrapped(rule: str) -> str:
    return rule if len(rule) < 100 else rule.replace(" :- ", " :-\n    ", 1)


def _example(case: RuleCase) -> str:
    lines = [_indented(case.premise) or "  # nothing is needed"]
    if case.inconsistent:
        lines.append("# is inconsistent")
    if case.concludes.strip():
        lines += ["# then", _indented(case.concludes)]
    if case.absent.strip():
        lines += ["# but not", _indented(case.absent)]
    title = f"Example: {case.about}" if case.about else "Example"
    block = "\n".join(lines)
    text = f"{title}:\n\n```turtle\n{block}\n```"
    if case.name in DEVIATIONS:
        text += f"\n\nA deviation: {DEVIATIONS[case.name]}."
    return text


def _indented(turtle: str) -> str:
    return "\n".join(f"  {line.strip()}" for line in turtle.strip().splitlines())
