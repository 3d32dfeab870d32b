"""How a store reasons: what `reason(tuning={...})` may say.

Start reading at `Tuning`. It is kept with the store, so that every later commit is maintained in
the same way, by whichever process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import nearest
from triplestore.storage.metadata import TUNING
from triplestore.storage.state import value_of

AUTO = "auto"

MODULES = (AUTO, "on", "off")
SCHEMES = (AUTO, "plain", "compressed")


@data_class
class Tuning:
    """The values of `tuning`. None means that the software chooses.

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
    """Maximum number of facts that one commit may infer."""
    max_bytes: int | None = None
    """Maximum memory for the inference of one commit, including its results."""
    max_seconds: float | None = None
    """Maximum time for the inference of one commit."""
    max_terms: int | None = None
    """Maximum number of new terms that rules may make in one commit."""
    recursive_counters: bool = False
    """Whether to count in memory how many recursive rule instances derive each fact. Then `dred_c`
    and `fbf_c` need not look for other derivations of deleted facts."""
    traces: bool = False
    """Whether to keep the traces of `counting` while another strategy is in use."""
    modules: str = AUTO
    """Whether modules evaluate groups of rules that compute a closure: they do with `auto` and
    `on`, not with `off`."""
    schemes: str | Mapping[str, str] = AUTO
    """How closures are kept: written out (plain), by their scheme alone (compressed), or by size
    (auto); one word for all, or IRI of a property -> word, with "" for the others."""

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> Tuning:
        """The stored values; names that this version does not know are ignored."""
        return value_of(meta, TUNING, cls._read, cls())

    @classmethod
    def _read(cls, value: bytes) -> Tuning:
        known = {item.name for item in fields(cls)}
        kept = {name: v for name, v in json.loads(value).items() if name in known}
        return cls(**{name: _valid(name, v) for name, v in kept.items()})

    def changed(self, by: Mapping[str, Any]) -> Tuning:
        """With the named values set; None resets a value."""
        names = [item.name for item in fields(self)]
        defaults = Tuning()
        values: dict[str, Any] = {}
        for name, value in by.items():
            if name not in names:
                raise UsageError(_unknown(f"tuning has no {name!r}", str(name), names))
            values[name] = getattr(defaults, name) if value is None else _valid(name, value)
        return replace(self, **values)

    def to_bytes(self) -> bytes | None:
        """The stored form; None if every value is the default."""
        default = Tuning()
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = {name: v for name, v in values.items() if v != getattr(default, name)}
        return json.dumps(changed).encode() if changed else None

    @property
    def keeps_traces(self) -> bool:
        """Whether traces are kept: by default only while they are used."""
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
    """The current name of a strategy."""
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
