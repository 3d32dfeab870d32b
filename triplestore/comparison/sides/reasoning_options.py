"""How the sides of a comparison are reasoned about: start at `Reasoning`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from triplestore._version import VERSION
from triplestore.comparison.sides.files_of_side import FileSide
from triplestore.data_classes import data_class
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.errors import MissingError

if TYPE_CHECKING:
    from triplestore.store import Transaction

FORMAT = 1
"""Raised when cached closures of older versions must not be used."""


@data_class
class Reasoning:
    """Regimes, files of rules, and options, for sides that are files.

    regimes  such as "owl-rl"
    rules    files of rules, which are read from each side; one that a side lacks is empty there
    scope    which named graphs are used: "default" or "union"
    """

    regimes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    trivial: bool = False
    scope: str = "default"

    @classmethod
    def of(
        cls,
        regimes: Sequence[str] | str = (),
        rules: Sequence[str] | str = (),
        scope: str = "default",
    ) -> Reasoning:
        """Regimes and rules as a caller gives them.

        >>> Reasoning.of("owl-rl").regimes
        ('owl-rl',)
        """
        named = (regimes,) if isinstance(regimes, str) else tuple(regimes)
        files = (rules,) if isinstance(rules, str) else tuple(rules)
        return cls(named, tuple(map(str, files)), scope=scope)

    def program(self, *sides: FileSide) -> Program:
        """The rules of the first side; at least one of all sides has each file."""
        made = Program()
        for name in self.rules:
            found = [side.read(name) for side in sides]
            if all(data is None for data in found):
                raise MissingError(f"cannot read {name}: no side has this file of rules")
            if found[0] is not None:
                made = made + read(found[0].decode(), file=name)
        return made

    def start(self, transaction: Transaction, program: Program) -> None:
        """Put the rules in force in a new store."""
        if self.regimes or len(program) or self.scope != "default":
            transaction.reason(
                *self.regimes,
                rules=program if len(program) else None,
                scope=self.scope if self.scope != "default" else None,
                trivial=True if self.trivial else None,
            )

    def key(self) -> str:
        """Equal for closures that may be changed into each other."""
        said = [FORMAT, VERSION, self.regimes, self.trivial, self.scope, sorted(self.rules)]
        return sha256(json.dumps(said).encode()).hexdigest()[:16]
