"""How a store reasons: what `reason(tuning={...})` may say.

Start reading at `Tuning`. It is kept with the store, so that every later commit is maintained in
the same way, by whichever process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import nearest
from triplestore.storage.metadata import TUNING
from triplestore.storage.state import value_of

AUTO = "auto"

MODULES = (AUTO, "on", "off")
SCHEMES = (AUTO, "plain", "compressed")


@dataclass(frozen=True, slots=True)
class Tuning:
    """What `tuning` says. None means: as the software thinks best.

    >>> Tuning().changed({"max_facts": 1000})
    Tuning(strategy='auto', max_facts=1000, max_bytes=None, max_seconds=None, \
max_terms=None, recursive_counters=False, traces=False, modules='auto', schemes='auto')
    >>> Tuning().changed({"max_fact": 1000})
    Traceback (most recent call last):
    triplestore.errors.UsageError: tuning has no 'max_fact' (did you mean 'max_facts'?); it has \
strategy, max_facts, max_bytes, max_seconds, max_terms, recursive_counters, traces, modules, schemes
    """

    strategy: str = AUTO
    """Which algorithm maintains the closure."""
    max_facts: int | None = None
    """How many facts may be made in one commit."""
    max_bytes: int | None = None
    """How much memory the inference of one commit may take, and what is made by it."""
    max_seconds: float | None = None
    """How long the inference of one commit may take."""
    max_terms: int | None = None
    """How many new terms rules may make in one commit."""
    recursive_counters: bool = False
    """Whether to know, in memory, how many recursive rule instances derive each fact: for `dred_c`
    and `fbf_c`, which then need not look for derivations of what they took away."""
    traces: bool = False
    """Whether to keep what `counting` made, its traces, while another strategy is in use."""
    modules: str = AUTO
    """Whether groups of rules that are a closure are evaluated as such: auto and on do, off does
    not."""
    schemes: str | Mapping[str, str] = AUTO
    """How closures are kept: written out (plain), by their scheme alone (compressed), or by size
    (auto); one word for all, or IRI of a property -> word, with "" for the others."""

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> Tuning:
        """What a store keeps; names that this version does not know are left alone."""
        return value_of(meta, TUNING, cls._read, cls())

    @classmethod
    def _read(cls, value: bytes) -> Tuning:
        known = {item.name for item in fields(cls)}
        kept = {name: v for name, v in json.loads(value).items() if name in known}
        return cls(**{name: _valid(name, v) for name, v in kept.items()})

    def changed(self, by: Mapping[str, Any]) -> Tuning:
        """With what `tuning` names set; None sets it back."""
        names = [item.name for item in fields(self)]
        defaults = Tuning()
        values: dict[str, Any] = {}
        for name, value in by.items():
            if name not in names:
                raise UsageError(_unknown(f"tuning has no {name!r}", str(name), names))
            values[name] = getattr(defaults, name) if value is None else _valid(name, value)
        return replace(self, **values)

    def to_bytes(self) -> bytes | None:
        """The form in which it is kept; None if nothing is tuned."""
        default = Tuning()
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = {name: v for name, v in values.items() if v != getattr(default, name)}
        return json.dumps(changed).encode() if changed else None

    @property
    def keeps_traces(self) -> bool:
        """Whether traces are kept: by default, while they are used."""
        return self.traces or self.strategy == "counting"


def _valid(name: str, value: Any) -> Any:
    if name == "strategy":
        return _strategy(value)
    if name in ("recursive_counters", "traces"):
        if not isinstance(value, bool):
            raise UsageError(f"tuning: {name} is True, False or None, not {value!r}")
        return value
    if name == "modules":
        return _one_of(name, value, MODULES)
    if name == "schemes":
        if not isinstance(value, Mapping):
            return _one_of(name, value, SCHEMES)
        return {str(key): _one_of(name, mode, SCHEMES) for key, mode in value.items()}
    kinds = (int, float) if name == "max_seconds" else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds) or value <= 0:
        raise UsageError(f"tuning: {name} is a number above 0, or None, not {value!r}")
    return value


def _one_of(name: str, value: Any, words: tuple[str, ...]) -> str:
    if value not in words:
        raise UsageError(f"tuning: {name} is one of {', '.join(words)}, not {value!r}")
    return str(value)


def _strategy(value: Any) -> str:
    """The name of a strategy, as it is spelt today."""
    # Late: most stores have no rules.
    from triplestore.maintenance.strategies import STRATEGIES, known_name

    name, names = known_name(str(value)), sorted({AUTO, *STRATEGIES})
    if name not in names:
        raise UsageError(_unknown(f"strategy {value!r} does not exist", str(value), names))
    return name


def _unknown(what: str, name: str, names: list[str]) -> str:
    near = nearest(name, names)
    hint = f" (did you mean {near!r}?)" if near else ""
    has = "there are" if what.startswith("there") else "it has"
    return f"{what}{hint}; {has} {', '.join(names)}"
