"""The tools `why`, `why_not` and `violations`: proofs of what holds, and what contradicts.

Proofs are written with prefixes, and cut after some facts: a large proof says how many steps it
has, and each fact in it can be asked about by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triplestore.errors import UsageError
from triplestore.mcp_server.answers import Answer, fitting, joined

if TYPE_CHECKING:
    from triplestore.mcp_server.session import AgentSession, Reading
    from triplestore.mcp_server.short_names import ShortNames
    from triplestore.reasoning.violations import Violation
    from triplestore.store.explain import FactLike

PROOF_FACTS = 60
"""Maximum number of facts of a proof that are written."""


def answer_why(session: AgentSession, reading: Reading, fact: str, seconds: float) -> Answer:
    """The smallest proof of a fact; for one that does not hold, why not."""
    names = reading.names()
    found = reading.snapshot.why(_fact(fact, names), seconds=session.proof_seconds(seconds))
    text, data = _explained(found, names, session.settings.characters)
    return Answer(joined(_prefixes(text, names), text), data)


def answer_why_not(session: AgentSession, reading: Reading, fact: str, seconds: float) -> Answer:
    """What each rule that could conclude a fact lacks."""
    names = reading.names()
    found = reading.snapshot.why(_fact(fact, names), seconds=session.proof_seconds(seconds))
    if found:
        how = "it is asserted" if getattr(found, "stated", False) else "it is inferred"
        return Answer(f"the fact holds: {how}; `why` shows its proof", {"holds": True})
    text, data = _explained(found, names, session.settings.characters)
    return Answer(joined(_prefixes(text, names), text), data)


def answer_violations(
    session: AgentSession,
    reading: Reading,
    limit: int,
    offset: int,
    explain: int | None,
    seconds: float,
) -> Answer:
    """What contradicts: counts by constraint and some violations, or the proof of one of them."""
    names = reading.names()
    if explain is not None:
        return _explained_violation(session, reading, names, explain, seconds)
    counted = reading.snapshot.inconsistencies
    total = len(counted)
    regimes = ", ".join(reading.regimes) or "none"
    if not total:
        text = f"no violations (inference: {regimes})"
        if not reading.regimes:
            text += "; without inference only constraints of rules are checked"
        return Answer(text, {"total": 0, "items": [], "regimes": list(reading.regimes)})
    limit = max(1, min(limit, session.settings.rows))
    found = reading.snapshot.violations(offset + limit)[offset:]
    lines = [
        f"{number}. {violation_line(violation, names)}"
        for number, violation in enumerate(found, offset)
    ]
    shown, _ = fitting(lines, session.settings.characters)
    by = ", ".join(f"{name} {count:,}" for name, count in counted.counts.items())
    said = f"{total:,} violations: {by}"
    last = offset + len(shown)
    more = None
    if last < total:
        more = f"(there are more: call again with offset={last})"
    why = "(violations(explain=NUMBER) shows the proof of one)"
    items = [
        {
            "number": number,
            "constraint": violation.constraint,
            "message": violation.message,
            "bindings": {name: names.text(term) for name, term in violation.values.items()},
        }
        for number, violation in enumerate(found[: len(shown)], offset)
    ]
    data: dict[str, Any] = {
        "total": total,
        "by_constraint": dict(counted.counts),
        "items": items,
        "more": last < total,
        "prefixes": names.used,
    }
    return Answer(joined(names.header(), said, *shown, more, why), data)


def violation_line(violation: Violation, names: ShortNames) -> str:
    """A violation in one line, with prefixes."""
    values = ", ".join(f"?{name} = {names.text(term)}" for name, term in violation.values.items())
    return ": ".join(part for part in (violation.constraint, violation.message, values) if part)


def proof_text(found: Any, names: ShortNames, most: int) -> str:
    """A proof, or why there is none, in at most about `most` characters."""
    options = {"most": PROOF_FACTS} if found else {}
    text = found.text(names.prefixes, **options)
    lines, whole = fitting(text.splitlines(), most)
    if not whole:
        lines.append("(cut: ask about a fact of the last lines by itself to see more)")
    return "\n".join(lines)


def _explained(found: Any, names: ShortNames, most: int) -> tuple[str, dict[str, Any]]:
    text = proof_text(found, names, most)
    if not found:
        return text, {"holds": False, "rules": found.rules, "text": text}
    sources = [names.shortened(str(atom)) for atom in found.sources[:PROOF_FACTS]]
    return text, {
        "holds": True,
        "asserted": found.stated,
        "steps": len(found),
        "height": found.height,
        "asserted_facts": sources,
        "text": text,
    }


def _explained_violation(
    session: AgentSession, reading: Reading, names: ShortNames, number: int, seconds: float
) -> Answer:
    found = reading.snapshot.violations(number + 1)[number:] if number >= 0 else []
    if not found:
        total = len(reading.snapshot.inconsistencies)
        raise UsageError(
            f"violation {number} does not exist: there are {total:,}, numbered from 0 on"
        )
    proof = reading.snapshot.why(found[0], seconds=session.proof_seconds(seconds))
    text, data = _explained(proof, names, session.settings.characters)
    line = violation_line(found[0], names)
    return Answer(joined(_prefixes(text + line, names), line, text), {**data, "number": number})


def _fact(text: str, names: ShortNames) -> FactLike:
    """A triple with any known prefix; another text is read as a fact of rules."""
    return names.triple(text) or text


def _prefixes(text: str, names: ShortNames) -> str:
    """The prefixes that occur in a text."""
    used = {name: iri for name, iri in names.prefixes.items() if f"{name}:" in text}
    listed = "  ".join(f"{name}: <{iri}>" for name, iri in sorted(used.items()))
    return f"prefixes: {listed}" if listed else ""
