"""The tools `preview_update` and `update`: what a change would do, and the change itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from triplestore.browse.change_request import ChangeRequest, commit_change
from triplestore.browse.preview import preview_update
from triplestore.mcp_server.answers import Answer, fitting, joined
from triplestore.thread_limits import limited

if TYPE_CHECKING:
    from triplestore.mcp_server.session import AgentSession
    from triplestore.mcp_server.short_names import ShortNames

PROOFS = 2
"""Maximum number of proofs of new violations, and of inferred facts, in a preview."""

PROOF_LINES = 30
"""Maximum number of lines of a proof in a preview."""

_KINDS = {
    "added": "asserted",
    "removed": "no longer asserted",
    "inferred_added": "inferred",
    "inferred_removed": "no longer inferred",
}
_SIGNS = {"added": "+", "removed": "-", "inferred_added": "⊢", "inferred_removed": "⊬"}


def answer_preview(
    session: AgentSession, cancel: threading.Event, *, update: str, timeout: float | None
) -> Answer:
    """What an update would do."""
    with session.changing(timeout, cancel) as (reading, limits):
        names = reading.names()
        found = preview_update(session.store, update, names.prefixes, limits=limits, proofs=PROOFS)
    parts, whole = fitting(_preview_lines(found, names), session.settings.characters)
    if not whole:
        parts.append("(cut: the counts in the first line are of all changes)")
    text = joined(names.header(), *parts, _next(session, found))
    return Answer(text, _preview_data(found, names))


def answer_update(
    session: AgentSession,
    cancel: threading.Event,
    *,
    update: str,
    expected_commit: int | None,
    timeout: float | None,
) -> Answer:
    """Make an update and commit it."""
    with session.changing(timeout, cancel) as (reading, limits):
        names = reading.names()
        with limited(None):  # an error after the commit would say that nothing was changed
            change = commit_change(
                session.store,
                ChangeRequest(update=update, prefixes=names.prefixes),
                expected_commit=expected_commit,
                limits=limits,
            )
    text = f"{change or 'nothing has changed'} (commit {session.store.commit:,})"
    if change.new_violations:
        text += "; call violations to see what contradicts now"
    return Answer(
        text,
        {
            "commit": session.store.commit,
            "added": change.added,
            "removed": change.removed,
            "inferred_added": change.inferred_added,
            "inferred_removed": change.inferred_removed,
            "new_violations": change.new_violations,
        },
    )


def _preview_lines(found: dict[str, Any], names: ShortNames) -> list[str]:
    counts = ", ".join(f"{found[kind]:,} {said}" for kind, said in _KINDS.items() if found[kind])
    lines = [f"this update would change: {counts or 'nothing'}; nothing has been written"]
    if found["still_entailed"]:
        lines.append(
            f"{found['still_entailed']:,} removed triples would still hold, because they follow"
        )
    violations = found["violations"]
    new, resolved = violations["new_count"], violations["resolved_count"]
    if new:
        lines.append(f"CONTRADICTIONS: {new:,} new violations")
        lines += [f"  {_violation(item, names)}" for item in violations["new"][:10]]
    if resolved:
        lines.append(f"resolved violations: {resolved:,}")
        lines += [f"  {_violation(item, names)}" for item in violations["resolved"][:5]]
    if not new:
        lines.append("no new violations")
    for group in found["groups"]:
        lines += _group_lines(group, names)
    if found["more_groups"]:
        lines.append(f"and {found['more_groups']:,} more classes and properties")
    for proof in found["proofs"]:
        text = names.shortened(proof["text"]).splitlines()
        lines += ["", *(f"  {line}" for line in text[:PROOF_LINES])]
        if len(text) > PROOF_LINES:
            lines.append(f"  (cut: {len(text) - PROOF_LINES:,} more lines)")
    return lines


def _group_lines(group: dict[str, Any], names: ShortNames) -> list[str]:
    counts = ", ".join(f"{group[kind]:,} {said}" for kind, said in _KINDS.items() if group[kind])
    lines = [f"{group['kind']} {_text(group['term'], names)}: {counts}"]
    for kind, examples in group["examples"].items():
        for triple in examples:
            said = " ".join(_text(term, names) for term in triple)
            lines.append(f"  {_SIGNS[kind]} {said} .")
        if group[kind] > len(examples):
            lines.append(f"  {_SIGNS[kind]} and {group[kind] - len(examples):,} more")
    return lines


def _violation(item: dict[str, Any], names: ShortNames) -> str:
    values = ", ".join(f"?{k} = {_text(term, names)}" for k, term in item["bindings"].items())
    return ": ".join(part for part in (item["constraint"], item["message"], values) if part)


def _next(session: AgentSession, found: dict[str, Any]) -> str:
    if not session.settings.update:
        return "(this server only reads: the update cannot be made here)"
    return f"(to make it: update with the same text and expected_commit={found['commit']})"


def _preview_data(found: dict[str, Any], names: ShortNames) -> dict[str, Any]:
    groups = [
        {
            "kind": group["kind"],
            "term": _text(group["term"], names),
            **{kind: group[kind] for kind in _KINDS},
        }
        for group in found["groups"]
    ]
    violations = found["violations"]
    return {
        **{kind: found[kind] for kind in _KINDS},
        "commit": found["commit"],
        "groups": groups,
        "new_violations": violations["new_count"],
        "resolved_violations": violations["resolved_count"],
        "violations": [_violation(item, names) for item in violations["new"]],
        "prefixes": names.used,
    }


def _text(term: dict[str, Any], names: ShortNames) -> str:
    """A term in the form of SPARQL's JSON results as short text."""
    return names.json_text(term)
