"""Why a fact holds, and why not: proofs in terms of the rules that somebody wrote.

Start at `why`. Proofs are looked for backwards from the fact, over the facts that hold.
"""

from triplestore.engine.why.absent import Attempt, WhyNot
from triplestore.engine.why.ask import Limits, why, why_not
from triplestore.engine.why.closed import Written
from triplestore.engine.why.proof import Member, Part, Proof, Step

__all__ = [
    "Attempt",
    "Limits",
    "Member",
    "Part",
    "Proof",
    "Step",
    "WhyNot",
    "Written",
    "why",
    "why_not",
]
