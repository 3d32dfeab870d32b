"""Which rules are not counted, because what they conclude is seen in a view.

Start reading at `viewed_rules`.
"""

from __future__ import annotations

from triplestore.closures.attached import Schemes
from triplestore.closures.described import parts_of
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.chain_shapes import shape_of


def viewed_rules(schemes: Schemes, program: Compiled) -> set[int]:
    """The numbers of those rules of a program that copy parts into properties which are views by
    these schemes, whatever the program owns."""
    copies = {
        (one.structure.relations[0], name, turned)
        for one in schemes.values()
        if one.structure.is_union
        for name, turned in parts_of(one.structure)
    }
    found: set[int] = set()
    for number, rule in enumerate(program.rules if copies else ()):
        shape = shape_of(rule, number) if len(rule.body) == 1 else None
        if shape is not None and (shape.head, *shape.steps[0]) in copies:
            found.add(number)
    return found


def owned_views(schemes: Schemes, program: Compiled) -> set[int]:
    """The numbers of those rules of a program that it owns as unions which are views."""
    unions = {anchor for anchor, one in schemes.items() if one.structure.is_union}
    return {
        number
        for owned in program.modules.values()
        if owned.group.structure.is_union and owned.anchor in unions
        for number in owned.rules
    }
