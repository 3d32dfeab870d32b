"""Proofs as drawings: text for Graphviz or Mermaid.

Start at `dot` or `mermaid`. Facts are boxes, those that are stated rounded; each instance of a rule
is a node between what it needs and what it concludes, with its conditions below its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from triplestore.datalog.program import Constraint
from triplestore.proofs.proof_text import Prefixes, fact_text, part_text, rule_text
from triplestore.proofs.steps import ProofStep

if TYPE_CHECKING:
    from triplestore.proofs.proof import Proof


class _Box(NamedTuple):
    name: str
    lines: tuple[str, ...]
    kind: str  # stated, inferred or rule


class _Arrow(NamedTuple):
    start: str
    end: str
    dashed: bool = False


def dot(proof: Proof, names: Prefixes) -> str:
    """A digraph for Graphviz."""
    shapes = {
        "stated": "shape=box, style=rounded",
        "inferred": "shape=box",
        "rule": "shape=plaintext, fontsize=10",
    }
    lines = ["digraph proof {", "  rankdir=BT;", "  node [fontname=Helvetica];"]
    for part in _parts(proof, names):
        if isinstance(part, _Box):
            label = r"\n".join(_for_dot(line) for line in part.lines)
            lines.append(f'  {part.name} [label="{label}", {shapes[part.kind]}];')
        else:
            style = " [style=dashed]" if part.dashed else ""
            lines.append(f"  {part.start} -> {part.end}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(proof: Proof, names: Prefixes) -> str:
    """A flowchart for Mermaid."""
    ends = {"stated": ('(["', '"])'), "inferred": ('["', '"]'), "rule": ('>"', '"]')}
    lines = ["flowchart BT"]
    for part in _parts(proof, names):
        if isinstance(part, _Box):
            opening, closing = ends[part.kind]
            label = "<br/>".join(_for_mermaid(line) for line in part.lines)
            lines.append(f"  {part.name}{opening}{label}{closing}")
        else:
            lines.append(f"  {part.start} {'-.->' if part.dashed else '-->'} {part.end}")
    return "\n".join(lines) + "\n"


def _parts(proof: Proof, names: Prefixes) -> Iterator[_Box | _Arrow]:
    numbers = {fact: number for number, fact in enumerate(proof.steps)}
    for fact, number in numbers.items():
        step = proof.steps[fact]
        kind = "stated" if step.stated else "inferred"
        yield _Box(f"f{number}", (fact_text(fact, step, names),), kind)
        if step.stated:
            continue
        yield _Box(f"r{number}", tuple(_rule(step, names)), "rule")
        yield _Arrow(f"r{number}", f"f{number}")
        used = set(step.premises)
        for needed in step.needs:
            if needed in numbers:
                yield _Arrow(f"f{numbers[needed]}", f"r{number}", dashed=needed not in used)


def _rule(step: ProofStep, names: Prefixes) -> Iterator[str]:
    rule = step.rule
    assert rule is not None
    named = rule.id if isinstance(rule, Constraint) else rule.name
    if named:
        yield named
    yield rule_text(rule, names)
    yield from (part_text(part, names) for part in step.parts if part.fact is None)


def _for_dot(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _for_mermaid(text: str) -> str:
    """Entities, since Mermaid has no other way to write these."""
    text = text.replace("&", "&amp;").replace("#", "#35;").replace('"', "#quot;")
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
