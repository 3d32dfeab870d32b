"""The report as SARIF 2.1.0, which code hosts show beside the lines: start at `sarif_report`.

One result for each cause with its consequences (a note), and one for each violation that came (an
error), at the lines of its causes.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from triplestore._version import VERSION
from triplestore.comparison.findings import Cause, Consequence, Findings, FoundViolation
from triplestore.comparison.reports.wording import numbers_of, signed

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_RULES = {
    "new-violation": ("A change makes the data inconsistent.", "error"),
    "inferences": ("A change adds or removes inferred triples.", "note"),
}


def sarif_report(found: Findings) -> str:
    """The report as SARIF."""
    results = [_violation(one) for one in found.violations if one.came]
    results += [_consequence(one) for one in found.consequences if one.cause.file is not None]
    rules = [
        {
            "id": name,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for name, (text, level) in _RULES.items()
    ]
    driver = {"name": "triplestore diff", "version": VERSION, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _violation(one: FoundViolation) -> dict[str, Any]:
    causes = "; ".join(map(signed, one.causes[:5]))
    text = f"{one}\ncaused by {causes}" if causes else str(one)
    return _result("new-violation", text, [cause for cause in one.causes if cause.came])


def _consequence(one: Consequence) -> dict[str, Any]:
    return _result("inferences", f"{numbers_of(one)} by {signed(one.cause)}", [one.cause])


def _result(rule: str, text: str, causes: list[Cause]) -> dict[str, Any]:
    places = [_location(cause) for cause in causes if cause.file is not None]
    print_ = sha256(f"{rule} {text}".encode()).hexdigest()
    return {
        "ruleId": rule,
        "level": _RULES[rule][1],
        "message": {"text": text},
        "locations": places[:1],
        "relatedLocations": [{**place, "id": at} for at, place in enumerate(places[1:10], 1)],
        "partialFingerprints": {"change/v1": print_},
    }


def _location(cause: Cause) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(cause.file or "")}}
    if cause.line is not None:
        place["region"] = {"startLine": cause.line}
    return {"physicalLocation": place}
