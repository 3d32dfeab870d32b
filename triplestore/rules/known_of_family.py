"""What has been found out about a family while it was evaluated, and is kept with it.

Start at `KnownOfFamily`. It holds nothing that could not be made again: plans depend on the sizes
of relations at the time when they were made, all else on the family only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import I64, U64, Keys
    from triplestore.rules.body_plans import BodyPlan, Turned
    from triplestore.rules.constant_index import TableIndex
    from triplestore.rules.kernel_shapes import KernelShape


@dataclass(slots=True)
class KnownOfFamily:
    """The caches of a family; each is filled by one function.

    plans          item to begin with -> plan (`body_plans.plan_for`)
    turned         item -> whether to begin elsewhere (`smallest_first.turn`)
    kernel_shapes  item -> how a kernel does the family, None if it cannot (`kernel_shape`)
    not_merged     steps after which merging rows did not pay (`existence.merged`)
    indexes        columns of the table of constants -> its rows by these (`join_table`)
    slices         variable of the table -> its constants as first ids of keys (`slices_of`)
    rule_numbers   the rows of the table as sorted keys, and the rule of each (`rules_of`)
    """

    plans: dict[int, BodyPlan] = field(default_factory=dict)
    turned: dict[int, Turned] = field(default_factory=dict)
    kernel_shapes: dict[int, KernelShape | None] = field(default_factory=dict)
    not_merged: set[tuple[int, tuple[int, ...], int]] = field(default_factory=set)
    indexes: dict[tuple[int, ...], TableIndex] = field(default_factory=dict)
    slices: dict[int, U64] = field(default_factory=dict)
    rule_numbers: tuple[Keys, I64] | None = None

    @property
    def is_planned(self) -> bool:
        """Whether the family has been evaluated before."""
        return bool(self.plans or self.kernel_shapes)
