"""Rules that only copy facts, joined to longer steps: a hierarchy is one round, not one per level.

Start reading at `with_longer_steps`. `D[?x] :- C[?x]` and `q[?y, ?x] :- p[?x, ?y]` are edges
between slices, and two consecutive edges are a rule too. With the rules of all paths, a fact gets
all its copies in one step. These rules are computed here, on the driver, from the constants; if
there would be too many, the given rules are used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.loaders.spark.closure.shapes import TRIPLE, FlatAtom, Form, Shape

Edge = tuple[int, int, bool]
"""From a slice to a slice, and whether subject and object are exchanged."""


def with_longer_steps(shapes: Sequence[Shape], type_id: int, most: int) -> list[Shape]:
    """The shapes, with longer steps (at most `most`) for those that copy."""
    shapes = [part for shape in shapes for part in _by_type(shape, type_id)]
    classes = [shape for shape in shapes if _copies_classes(shape, type_id)]
    properties = [shape for shape in shapes if _turn_of(shape, type_id) is not None]
    taken = {id(shape) for shape in (*classes, *properties)}
    made = [shape for shape in shapes if id(shape) not in taken]
    for some, of_class in ((classes, True), (properties, False)):
        edges: set[Edge] = set()
        for shape in some:
            edges |= _edges(shape, of_class, type_id)
        closed = _closed(edges, most) if edges else None
        made += some if closed is None else _shapes(closed, of_class, type_id)
    return made


def _by_type(shape: Shape, type_id: int) -> list[Shape]:
    """The rules of a copying shape about classes only, and the others."""
    form = shape.form
    if not _plain(form) or form.width != 4:
        return [shape]
    slots = [atom.slots[0] for atom in (form.head, form.body[0]) if atom.slots[0] < 4]
    of_class = (shape.constants[:, slots] == type_id).all(axis=1)
    return [shape.only(some) for some in (of_class, ~of_class) if some.any()]


def _plain(form: Form) -> bool:
    return len(form.body) == 1 and not (form.nots or form.computations or form.summary)


def _copies_classes(shape: Shape, type_id: int) -> bool:
    """Whether all rules have the form `D[?x] :- C[?x]`."""
    form = shape.form
    if not _plain(form) or form.width != 4:
        return False
    head, body = form.head, form.body[0]
    if head.arity != TRIPLE or body.arity != TRIPLE:
        return False
    places = (head.slots[1], body.slots[1])
    if places != (4, 4):
        return False
    names = shape.constants[:, [head.slots[0], body.slots[0]]]
    return bool((names == type_id).all())


def _turn_of(shape: Shape, type_id: int) -> bool | None:
    """Whether rules `q :- p` exchange subject and object; None for other shapes."""
    form = shape.form
    if not _plain(form) or form.width != 2 or form.head.arity != TRIPLE:
        return None
    head, body = form.head, form.body[0]
    if body.arity != TRIPLE or head.slots[0] >= 2 or body.slots[0] >= 2:
        return None
    if (shape.constants == type_id).any() or body.slots[1] == body.slots[2]:
        return None
    if head.slots[1:] == body.slots[1:]:
        return False
    return True if head.slots[1:] == body.slots[:0:-1] else None


def _edges(shape: Shape, of_class: bool, type_id: int) -> set[Edge]:
    form = shape.form
    place = 2 if of_class else 0
    turned = False if of_class else bool(_turn_of(shape, type_id))
    sources = shape.names(form.body[0].slots[place]).tolist()
    targets = shape.names(form.head.slots[place]).tolist()
    return {(a, b, turned) for a, b in zip(sources, targets, strict=True)}


def _closed(edges: set[Edge], most: int) -> set[Edge] | None:
    """All paths as edges; None if there are too many."""
    following: dict[int, list[tuple[int, bool]]] = {}
    for source, target, turned in edges:
        following.setdefault(source, []).append((target, turned))
    found: set[Edge] = set()
    for source in following:
        seen = {(source, False)}
        open_ = [(source, False)]
        while open_:
            at, way = open_.pop()
            for target, turned in following.get(at, ()):
                reached = (target, way != turned)
                if reached not in seen:
                    seen.add(reached)
                    open_.append(reached)
        found.update((source, target, way) for target, way in seen - {(source, False)})
        if len(found) > most:
            return None
    return found


def _shapes(edges: set[Edge], of_class: bool, type_id: int) -> list[Shape]:
    made = []
    for turned in (False, True):
        rows = sorted((b, a) for a, b, way in edges if way == turned)
        if not rows:
            continue
        pairs = np.array(rows, np.int64)
        numbers = np.full(len(rows), -1, np.int64)
        if of_class:
            types = np.full(len(rows), type_id, np.int64)
            constants = np.stack([types, pairs[:, 0], types, pairs[:, 1]], axis=1)
            head, body = FlatAtom(TRIPLE, (0, 4, 1)), FlatAtom(TRIPLE, (2, 4, 3))
            form = Form(4, head, (body,), (), (), None)
        else:
            constants = pairs
            head = FlatAtom(TRIPLE, (0, 3, 2) if turned else (0, 2, 3))
            form = Form(2, head, (FlatAtom(TRIPLE, (1, 2, 3)),), (), (), None)
        made.append(Shape(form, constants, numbers))
    return made
