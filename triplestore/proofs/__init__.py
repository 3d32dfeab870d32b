"""Why a fact holds, and why not: proofs in terms of the rules as they were written.

Start at `why`. Proofs are looked for backwards from the fact, over the facts that hold.
"""

from triplestore.proofs.closed_facts import Written
from triplestore.proofs.proof import Proof, WhyNot
from triplestore.proofs.questions import Limits, why, why_not
from triplestore.proofs.steps import Attempt, Member, ProofPart, ProofStep

__all__ = [
    "Attempt",
    "Limits",
    "Member",
    "Proof",
    "ProofPart",
    "ProofStep",
    "WhyNot",
    "Written",
    "why",
    "why_not",
]
