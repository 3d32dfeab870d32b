"""Caches algebra and plans, so that repeated queries need no parsing and no planning.

Start at `QueryCache`, the only entry: an engine asks it for the algebra of a text, and for reusable
plans (`Reuse`). Behind it: texts that differ only by their constants have one shape (`text_shapes`)
and one kind (`text_kinds`); a plan belongs to the state that it reads (`kept_plans`), and may be
used with other constants (`slots`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

from triplestore.expressions.tree import Constant
from triplestore.operators.context import Context, current
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import Query
from triplestore.sparql.cache.kept_plans import PlanLoan, QueryPlan, StatePlans
from triplestore.sparql.cache.slots import Slots
from triplestore.sparql.cache.text_kinds import KnownText, TextKinds

MAX_TEXTS = 256
"""Maximum number of texts whose algebra is cached."""

MAX_TEXT_SIZE = 20_000
"""Maximum number of characters of a cached text; parsing longer ones takes no more time than
evaluating them."""

_BYTES = 15  # of algebra per character of text


class QueryText:
    """A text, and everything else that its algebra depends on.

    rewritten  False to apply only the rewrites that planning needs
    """

    __slots__ = ("aggregates", "base", "key", "prefixes", "rewritten", "text")

    def __init__(
        self,
        text: str,
        prefixes: Mapping[str, str],
        base: str | None = None,
        aggregates: Collection[str] = (),
        *,
        rewritten: bool = True,
    ) -> None:
        self.text = text
        self.prefixes = prefixes
        self.base = base
        self.aggregates = aggregates
        self.rewritten = rewritten
        names = tuple(sorted(aggregates)) if aggregates else ()
        self.key = (text, base, rewritten, tuple(prefixes.items()), names)

    def other(self, text: str) -> QueryText:
        """Another text with the same prefixes, base and options."""
        return QueryText(text, self.prefixes, self.base, self.aggregates, rewritten=self.rewritten)


class Reuse:
    """What can be reused for one query on one state."""

    __slots__ = ("_about", "_cache", "_key", "_known", "_plans", "_text")

    def __init__(
        self,
        cache: QueryCache,
        text: QueryText,
        known: KnownText,
        plans: StatePlans,
        about: Hashable,
    ) -> None:
        self._cache = cache
        self._text = text
        self._known = known
        self._plans = plans
        self._about = about
        self._key = known.plan_key(about)

    def plan(self, context: Context) -> QueryPlan | None:
        """A kept plan that answers the query, ready to run; None if there is none."""
        found = self._plans.lend(self._key)
        if found is not None:
            found.begin(context)
        return found

    def slots(self, query: Query) -> Slots | None:
        """An object that notes where a plan has constants; None if that is not needed yet."""
        found = when_large(query.size, self._known.slots, self._parse)
        self._key = self._known.plan_key(self._about)  # the exchangeable constants may be known now
        return found

    def loan(self, plan: QueryPlan) -> PlanLoan:
        """The loan for a result of a plan; the plan is kept when the result is deleted."""
        return PlanLoan(self._plans, self._key, plan)

    def _parse(self, text: str) -> Query:
        return self._cache.parse(self._text.other(text))


class QueryCache:
    """Caches the algebra of texts, and knows which plans answer which texts.

    parse  returns the rewritten algebra of a text
    """

    def __init__(self, parse: Callable[[QueryText], Query]) -> None:
        self.parse = parse
        self._parsed: OrderedDict[tuple[Any, ...], Query] = OrderedDict()
        self._kinds = TextKinds()

    def algebra(self, text: QueryText) -> Query:
        """The rewritten algebra of a text."""
        found = self._parsed.get(text.key)
        if found is None:
            found = self.parse(text)
            if len(text.text) > MAX_TEXT_SIZE:
                current().charge(_BYTES * len(text.text))
                return found
            self._parsed[text.key] = found
            if len(self._parsed) > MAX_TEXTS:
                self._parsed.popitem(last=False)
        return found

    def reuse(
        self,
        text: QueryText,
        values: Mapping[str, Constant] | None,
        plans: StatePlans,
        about: Hashable,
    ) -> Reuse | None:
        """What can be reused for a text whose variables may have values; None if nothing can.

        plans  the plans of the state
        about  everything else that the plan depends on
        """
        if len(text.text) > MAX_TEXT_SIZE:
            return None
        if values:
            known = self._kinds.with_values(text.key, values, lambda: self.algebra(text))
        else:
            known = self._kinds.of(text.key, text.text, text.prefixes, text.base)
        return None if known is None else Reuse(self, text, known, plans, about)
