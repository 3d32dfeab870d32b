"""The report as JSON: start at `json_report`."""

from __future__ import annotations

import json
from typing import Any

from triplestore.comparison.findings import Cause, Consequence, Example, Findings, FoundViolation
from triplestore.comparison.reports.wording import caveats, headline


def json_report(found: Findings) -> str:
    """The report as JSON, with all that was listed."""
    return json.dumps(as_data(found), indent=2, ensure_ascii=False)


def as_data(found: Findings) -> dict[str, Any]:
    """The same as plain data."""
    made: dict[str, Any] = {
        "old": found.old,
        "new": found.new,
        "headline": headline(found),
        "metrics": dict(found.metrics),
        "consequences": [_consequence(one) for one in found.consequences],
        "more": {"causes": found.left_out[0], "consequences": found.left_out[1]},
        "unexplained": found.unexplained,
        "inexact": found.inexact,
        "violations": [_violation(one) for one in found.violations],
        "asserted": [_cause(one) for one in found.asserted],
        "shapes": [{"new": came, "text": text} for came, text in found.shapes],
        "notes": caveats(found),
        "seconds": round(found.seconds, 3),
    }
    if found.everything is not None:
        made["everything"] = [_example(one) for one in found.everything]
    return made


def _cause(one: Cause) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": one.kind, "change": "added" if one.came else "removed"}
    made["text"] = one.text
    if one.file is not None:
        made["file"], made["line"] = one.file, one.line
    return made


def _example(one: Example) -> dict[str, Any]:
    made: dict[str, Any] = {"fact": one.fact, "change": "added" if one.came else "removed"}
    made["causes"] = [_cause(cause) for cause in one.causes]
    if one.proof:
        made["proof"] = one.proof
    return made


def _consequence(one: Consequence) -> dict[str, Any]:
    names = ["added", "removed", "types_added", "types_removed"]
    names += ["new_violations", "resolved_violations", "similar", "together_with"]
    made: dict[str, Any] = {"cause": _cause(one.cause)}
    made |= {name: getattr(one, name) for name in names}
    for name, counts in (("classes", one.classes), ("properties", one.properties)):
        made[name] = {k: {"added": a, "removed": r} for k, (a, r) in counts.items()}
    made["examples"] = [_example(example) for example in one.examples]
    return made


def _violation(one: FoundViolation) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "message": one.message,
        "values": dict(one.values),
        "change": "new" if one.came else "resolved",
        "causes": [_cause(cause) for cause in one.causes],
        "proof": one.proof,
    }
