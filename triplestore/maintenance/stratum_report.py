"""What was done in one stratum of an update."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StratumReport:
    """What was done in a stratum.

    strategy   the algorithm or the module that did it
    why        why this one was chosen
    """

    number: int
    strategy: str
    seconds: float
    rounds: int
    gone: int
    added: int
    instances: dict[str, int]
    why: str = ""
