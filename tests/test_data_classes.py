"""`data_class` behaves as `dataclasses.dataclass` does: each test asks both for the same."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import weakref
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from triplestore.data_classes import data_class

Decorator = Callable[[type], Any]


def ours(**options: Any) -> Decorator:
    return data_class(**options)


def theirs(**options: Any) -> Decorator:
    return dataclasses.dataclass(**{"frozen": True, "slots": True} | options)


BOTH = pytest.mark.parametrize("decorator", [ours, theirs])


@data_class
class Pickled:
    x: int
    y: tuple[int, ...] = ()


def sample(decorator: Callable[..., Decorator], **options: Any) -> Any:
    @decorator(**options)
    class Sample:
        kind: ClassVar[str] = "sample"
        x: int
        y: list[int] = field(default_factory=list)
        hidden: int = field(default=7, repr=False)
        apart: int = field(default=0, compare=False)
        made: int = field(default=5, init=False)
        late: int = field(default=1, kw_only=True)

    return Sample


@BOTH
def test_init__takes_values_defaults_and_keywords(decorator: Callable[..., Decorator]) -> None:
    kind = sample(decorator)
    first, second = kind(1), kind(x=2, y=[3], late=4)
    assert (first.x, first.y, first.hidden, first.made, first.late) == (1, [], 7, 5, 1)
    assert (second.x, second.y, second.late) == (2, [3], 4)
    assert kind(1).y is not first.y
    for wrong in ([], [1, [], 7, 0, 1]):
        with pytest.raises(TypeError):
            kind(*wrong)
    with pytest.raises(TypeError):
        kind(1, made=3)


@BOTH
def test_instances__compare_and_print_by_their_fields(decorator: Callable[..., Decorator]) -> None:
    kind = sample(decorator)
    assert kind(1) == kind(1, apart=9)
    assert kind(1) != kind(1, [2])
    assert kind(1) != 1
    assert repr(kind(1)).endswith("Sample(x=1, y=[], apart=0, made=5, late=1)")
    assert kind.__match_args__ == ("x", "y", "hidden", "apart")
    assert dataclasses.asdict(kind(1))["late"] == 1
    assert dataclasses.replace(kind(1), x=3).x == 3


@BOTH
def test_frozen__refuses_changes_and_has_a_hash(decorator: Callable[..., Decorator]) -> None:
    @decorator()
    class Point:
        x: int

    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert len({point, Point(1), Point(2)}) == 2


@BOTH
def test_not_frozen__changes_and_has_no_hash(decorator: Callable[..., Decorator]) -> None:
    kind = sample(decorator, frozen=False)
    changed = kind(1)
    changed.x = 2
    assert changed == kind(2)
    with pytest.raises(TypeError):
        hash(changed)
    with pytest.raises(AttributeError):
        changed.other = 1


@BOTH
def test_options__own_methods_and_identity_are_kept(decorator: Callable[..., Decorator]) -> None:
    @decorator(eq=False, repr=False, weakref_slot=True)
    class Same:
        x: int

        def __repr__(self) -> str:
            return "mine"

    @decorator()
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

    assert Same(1) != Same(1)
    assert repr(Same(1)) == "mine"
    assert weakref.ref(Same(1)) is not None
    assert Own(1) == Own(2)
    assert hash(Own(1)) == 3


@BOTH
def test_subclasses__inherit_fields_and_run_post_init(decorator: Callable[..., Decorator]) -> None:
    @decorator()
    class Base:
        x: int
        node: int = field(default=0, kw_only=True)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

    @decorator()
    class Derived(Base):
        z: int = 2

    assert repr(Derived(1, 3, node=4)).endswith("Derived(x=1, node=4, z=3)")
    assert Derived(1) != Base(1)
    with pytest.raises(ValueError, match="negative"):
        Derived(-1)


@BOTH
def test_signature__shows_the_fields(decorator: Callable[..., Decorator]) -> None:
    names = list(inspect.signature(sample(decorator)).parameters)
    assert names == ["x", "y", "hidden", "apart", "late"]


def test_copies__are_equal() -> None:
    value = Pickled(1, (2,))
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value


def test_repr__of_an_instance_that_holds_itself_ends() -> None:
    @data_class(frozen=False)
    class Node:
        inner: Any = None

    node = Node()
    node.inner = node
    assert repr(node).endswith("Node(inner=...)")
