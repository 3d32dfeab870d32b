"""Data classes that are quick to define: start at `data_class`.

Starting a program defines some 250 data classes, and makes objects of a few of them only.
`dataclasses.dataclass` compiles six methods for each class, a sixth of the time of a start
(`bench/workloads/opening.py`). Here `__init__` is compiled when it is first used, and all classes
share the other methods.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def data_class(cls: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def data_class(
    *,
    frozen: bool = True,
    slots: bool = True,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
    weakref_slot: bool = False,
) -> Callable[[type[T]], type[T]]: ...


def data_class(
    cls: type[T] | None = None,
    /,
    *,
    frozen: bool = True,
    slots: bool = True,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
    weakref_slot: bool = False,
) -> type[T] | Callable[[type[T]], type[T]]:
    """A data class, frozen and with slots unless told otherwise; the options are `dataclass`'s.

    >>> @data_class
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0)
    (Point(x=1, y=0), True)
    """

    def decorate(cls: type[T]) -> type[T]:
        own = cls.__dict__
        has_init, has_repr, has_eq = (f"__{name}__" in own for name in ("init", "repr", "eq"))
        has_hash = own.get("__hash__") is not None
        made: Any = dataclasses.dataclass(
            init=False,
            repr=False,
            eq=False,
            slots=slots,
            kw_only=kw_only,
            weakref_slot=weakref_slot,
        )(cls)
        if not has_init:
            made.__init__ = _FirstInit(made, frozen, slots)
        if repr and not has_repr:
            made.__repr__ = _repr
        if eq:
            _compare_fields(made, has_eq, has_hash, frozen)
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_set, _refuse_delete
            if slots and "__getstate__" not in own:
                made.__getstate__, made.__setstate__ = _get_state, _set_state
        return made  # type: ignore[no-any-return] # it has the methods that were set above

    return decorate if cls is None else decorate(cls)


class _FirstInit:
    """Stands for `__init__` until it is first looked up, and then is replaced by the real one."""

    def __init__(self, owner: type, frozen: bool, slots: bool) -> None:
        self._owner = owner
        self._options = {"frozen": frozen, "slots": slots}

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        init = self._compiled()
        self._owner.__init__ = init  # type: ignore[misc] # this is what it waited for
        return init.__get__(instance, owner)

    def _compiled(self) -> Any:
        """The `__init__` of a data class with the same fields."""
        owner: Any = self._owner
        if self._options["frozen"] and self._options["slots"]:
            return _init_of_slots(owner)
        names: dict[str, Any] = {"__annotations__": {}, "__qualname__": owner.__qualname__}
        for each in fields(owner):
            names["__annotations__"][each.name] = each.type
            names[each.name] = field(
                default=each.default,
                default_factory=each.default_factory,
                init=each.init,
                kw_only=each.kw_only,
            )
        if hasattr(owner, "__post_init__"):
            names["__post_init__"] = owner.__post_init__
        twin = type(owner.__name__, (), names)
        made: Any = dataclasses.dataclass(eq=False, repr=False, **self._options)(twin)
        return made.__init__


def _init_of_slots(owner: Any) -> Any:
    """The `__init__` of a frozen class with slots: sets each slot by its descriptor.

    `dataclass` would write `object.__setattr__(self, name, value)`, which takes twice as long.
    """
    names: dict[str, Any] = {"made_later": _MADE_LATER}
    given, named, lines = ["self"], list[str](), list[str]()
    for each in fields(owner):
        name = each.name
        names[f"set_{name}"] = getattr(owner, name).__set__
        parameter = value = name
        if each.default is not dataclasses.MISSING:
            names[f"default_{name}"] = each.default
            parameter, default = f"{name}=default_{name}", f"default_{name}"
        elif each.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = each.default_factory
            parameter, default = f"{name}=made_later", f"make_{name}()"
            value = f"{default} if {name} is made_later else {name}"
        elif not each.init:
            continue
        if each.init:
            (named if each.kw_only else given).append(parameter)
        lines.append(f"set_{name}(self, {value if each.init else default})")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*given, "*", *named] if named else given)
    body = "".join(f"\n    {line}" for line in lines or ["pass"])
    exec(f"def __init__({parameters}):{body}", names)
    init = names["__init__"]
    init.__qualname__ = f"{owner.__qualname__}.__init__"
    init.__annotations__ = {**{each.name: each.type for each in fields(owner)}, "return": None}
    return init


class _MadeLater:
    def __repr__(self) -> str:
        return "<factory>"


_MADE_LATER = _MadeLater()


def _compare_fields(made: Any, has_eq: bool, has_hash: bool, frozen: bool) -> None:
    """Give a class `__eq__` and `__hash__` by its fields."""
    names = [each.name for each in fields(made) if each.compare]
    values = attrgetter(*names) if names else _no_values

    def equals(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    if not has_eq:
        made.__eq__ = equals
    if not has_hash:
        made.__hash__ = hashed if frozen else None


def _no_values(self: object) -> tuple[()]:
    return ()


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
