"""What a store does not do of the rule cases: name of the case -> why."""

from __future__ import annotations

DEVIATIONS = {
    "prp-fp a literal and an individual": "a literal is replaced by nothing that is the same",
    "prp-spo2 over two spellings of a value": "chains do not join subjects that are literals",
}
