"""The closure inside of a transaction: brought up to date when something asks for it.

Start reading at `Closing.run`. What is always true: `closed` are tables closed under `_under`, the
rules as of the last run (at first, the rules and tables of the last commit); `steps` lead there
from `base`, the tables of the last commit; `stated` are those of them that say what is stated. A
run that fails (a budget, Ctrl-C) changes nothing of this, and can be tried again.

With a regime the rules are a function of the axioms that hold, and these may follow from rules. So
a run takes turns: the closure is brought up to date, the axioms are read again if their triples
were touched, and if they give another program the closure is maintained from the one to the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from triplestore.operators.context import running
from triplestore.reasoning.change import Change
from triplestore.reasoning.difference import net_changes
from triplestore.reasoning.outcome import Step, change_of, counts_of, is_helper_in, joined, layer_of
from triplestore.reasoning.program.graph_scope import DEFAULT, ScopeStep, needs_rules, scope_step
from triplestore.reasoning.program.in_force import (
    BY_REWRITING,
    InForce,
    Regimes,
    about_axioms,
    note,
    rules_of_state,
    vocabulary_of,
    whole,
    whole_of,
)
from triplestore.reasoning.program.literals import Literals
from triplestore.reasoning.program.schema_reader import SchemaNames
from triplestore.reasoning.progress import ProgressLine
from triplestore.reasoning.reasoner import Reasoner
from triplestore.reasoning.tuning import Tuning
from triplestore.reasoning.turns import Turns
from triplestore.reasoning.violations import Listed, count_new, count_new_between, listed_by
from triplestore.reasoning.visible import hidden_more
from triplestore.relations import INFERRED, Changes, Layer, Tables
from triplestore.relations.tables import COMBINE_ROWS
from triplestore.storage import State
from triplestore.storage.metadata import PROGRAM, hidden_count
from triplestore.thread_limits import limited, look

if TYPE_CHECKING:
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.maintenance.limits.budget import Budget
    from triplestore.reasoning.asserted_changes import Stated
    from triplestore.reasoning.bookkeeping import Books
    from triplestore.reasoning.closed_elsewhere import ClosedElsewhere
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.rules.compiled_program import Compiled

MOST_BEGINNINGS = 3
"""How often a first closure is begun, with the axioms that the one before found."""

FEW_CHANGES = 8
"""A first closure goes on, and does not begin again, if less than one rule in this many changes."""


class Closing:
    """The closure of one transaction.

    users    the rules of users in force now; None if there are none
    regimes  the regimes in force now
    rules    all rules, those that were made of axioms as of the last run; None if there are none
    tuning   how to apply them
    hidden   how many facts hold that are no triples of RDF
    runs     how often the closure was brought up to date
    term_count  how many terms of the dictionary are committed
    put_off  whether this commit leaves the closure as it is: see `stale`
    figures  what the last run did, as a report says it
    """

    def __init__(self, state: State, reasoner: Reasoner) -> None:
        self.base = state.tables
        self.dictionary, self.term_count = state.dictionary, state.term_count
        self._compiling = reasoner.compiling(state)
        self._reasoner = reasoner
        self._kept = reasoner.tables_of(state)
        self._books: Books | None = None  # once an update was made, in the place of `_kept`
        self.users, self.tuning = reasoner.kept(state.meta)
        self.regimes = Regimes.of(state.meta)
        self.rules: Rules | None = rules_of_state(state) if self.regimes else self.users
        self._before = self._under = self.rules
        self._wanted = self.users, self.regimes
        self._kept_as = self._keeping
        self.closed = state.tables
        self.hidden = hidden_count(state.meta)
        self._reread = False
        self._scoped: ScopeStep | None = None
        self.steps: list[Step] = []
        self.stated: list[Step] = []
        self.runs = 0
        self.put_off = False
        self.figures: dict[str, Any] = {}
        self._budget: Budget | None = None
        self.cancel: Callable[[], bool] | None = None
        self.progress: ProgressLine | None = None

    @property
    def active(self) -> bool:
        """Whether there is anything to do at all, or was in this transaction."""
        if self.put_off:
            return False
        known = self.rules is not None or self._under is not None
        return known or self.users is not None or bool(self.regimes) or self.runs > 0

    @property
    def _keeping(self) -> tuple[object, ...]:
        """How closures are kept, as the tuning says it."""
        return self.tuning.modules, self.tuning.schemes

    @property
    def compiled(self) -> Compiled | None:
        """The rules in force, compiled."""
        return None if self.rules is None else self._compile(self.rules)

    def _compile(self, rules: Rules) -> Compiled:
        look("compiling the rules")
        return self._compiling.compiled(rules, modules=self.tuning.modules != "off")

    def is_stale(self, tables: Tables) -> bool:
        """Whether these tables, or the rules, are others than those of the last run."""
        if not self.active:
            return False
        wanted = self._wanted[0] is self.users and self._wanted[1] == self.regimes
        same = wanted and self.rules is self._under and self._kept_as == self._keeping
        return tables is not self.closed or not same

    def watch(self, progress: bool, cancel: Callable[[], bool] | None) -> None:
        """Show the runs from now on, and ask whether to stop them; what is not given stays."""
        self.cancel = cancel or self.cancel
        if progress:
            self.progress = ProgressLine()

    def clear(self) -> None:
        """Begin again with empty tables."""
        self.steps, self.stated = [], []
        self.closed, self._under, self.hidden = Tables(), None, 0
        self._kept = self._books = None

    def end(self, committed: State | None) -> None:
        """The transaction is over: keep what was compiled, if that can be, and tables in memory.

        committed  what it led to; None if to nothing
        """
        rules = self._before if committed is None else self.rules
        if rules is not None:
            self._compiling.end(rules, committed is not None)
        if committed is not None:
            self._reasoner.note(committed.meta, self.users, self.tuning)
            if isinstance(self.rules, InForce):
                note(committed, self.rules)
            self._reasoner.drop_tables()  # also while they are changed
            if self._kept is not None or self._books is not None:
                from triplestore.reasoning.bookkeeping import Books

                books = self._books or Books(self._kept)
                self._reasoner.keep_tables(books.end(self.tuning), committed)

    def counts(self, steps: Sequence[Step], cleared: bool) -> Change:
        """What a transaction did with all its steps, as `joined` gives them."""
        if not self.runs:
            return counts_of(self.base, steps, cleared)
        only = steps[0] if len(steps) == 1 else Changes()
        closed = self.base.closed or self.closed.closed  # rows do not say all
        if isinstance(only, Changes) and len(steps) < 2 and not cleared and not closed:
            new = count_new(only, self.listed()) if self.rules is not None else 0
            return change_of(only, is_helper_in(self.dictionary), new)
        stated = counts_of(self.base, self.stated, cleared)
        return self._with_inferred(stated, cleared)

    def _with_inferred(self, stated: Change, cleared: bool) -> Change:
        """The counts of a transaction with loads, or one that cleared the store."""
        base, where = self.base, self.listed()
        new = count_new_between(base, self.closed, where)
        if self.runs == 1 and not cleared:
            names = ("inferred_added", "inferred_removed", "still_entailed")
            inferred = {name: self.figures.get(name, 0) for name in names}
        else:
            net = net_changes(base, self.closed, self.steps, cleared)
            change = change_of(net, is_helper_in(self.dictionary))
            inferred = {
                "inferred_added": change.inferred_added,
                "inferred_removed": change.inferred_removed,
                "still_entailed": change.still_entailed,
            }
        return replace(stated, new_violations=new, **inferred)

    def listed(self) -> Listed:
        """Where the violations of the rules in force are."""
        compiled = self.compiled
        return listed_by({} if compiled is None else compiled.violations, self.dictionary)

    # -- one run --------------------------------------------------------------------------------

    def run(self, since: Sequence[Step], tables: Tables) -> Tables:
        """The closure of tables to which these steps lead from the closed ones; all of it under
        one budget."""
        started = time.perf_counter()
        with self.budgeted(self.tuning):
            after = self._run_limited(since, tables)
        self.figures = {**self.figures, "seconds": time.perf_counter() - started}
        return after

    @contextmanager
    def budgeted(self, tuning: Tuning) -> Iterator[None]:
        """One budget for all that is done in the block, also where it runs several times."""
        if self._budget is not None:
            yield
            return
        self._budget = budget = tuning.make_budget(self.cancel, self.progress).begin()
        try:
            with limited(budget), running(budget.computing()):
                yield
        except MemoryError as error:
            raise budget.named(error) from None
        finally:
            self._budget = None

    def _run_limited(self, since: Sequence[Step], tables: Tables) -> Tables:
        before = self._wanted[1]
        self._scoped = scope_step(self.closed, tables, since, before, self.regimes, self.dictionary)
        if not self.regimes:
            self.rules = self.users
            tables = self._run(since, tables)
        else:
            tables = self._run_in_turns(since, tables)
        self._wanted = self.users, self.regimes
        return tables

    def budget(self) -> Budget:
        """What the run at work may spend: all of its updates together."""
        assert self._budget is not None, "updates are made inside of `run`"
        return self._budget

    def _run_in_turns(self, since: Sequence[Step], tables: Tables) -> Tables:
        """The same where rules are made of the axioms that hold; see the top of this file."""
        names = (
            "rules",
            "closed",
            "_under",
            "_kept_as",
            "steps",
            "stated",
            "runs",
            "figures",
            "hidden",
            "_scoped",
        )
        before = {name: getattr(self, name) for name in names}
        self.steps, self.stated = [*self.steps], [*self.stated]
        again = self._wanted[0] is not self.users or self._wanted[1] != self.regimes
        beginnings = MOST_BEGINNINGS if self._under is None or not self.closed.rows else 0
        if again and not (isinstance(self.rules, InForce) and self._wanted[1] == self.regimes):
            seen = self._seen(tables)
            self.rules = vocabulary_of(self.regimes, self.users, seen, self.dictionary)
        total: dict[str, Any] = {}
        start = since, tables
        try:
            if beginnings:
                first = self._beginning(since, tables)
                self._restore({**before, "rules": first})
                again = first.partial or first.foreseen  # that may have been a mistake
            turns: Turns | None = None
            while True:
                known = len(self.steps)
                tables = self._run(since, tables)
                since = []
                total = sum_of(total, self.figures)
                woken = self._wake(self.steps[known:])
                if not (again or self._touches_axioms(self.steps[known:])):
                    if woken:
                        continue
                    break
                partial = isinstance(self.rules, InForce) and self.rules.partial
                made = self._whole(tables, early=partial)
                again = made.foreseen
                before_it, much = whole_of(self.rules), True
                if self.rules is not None:
                    gone = before_it.count_beyond(made.whole)
                    changed = made.whole.count_beyond(before_it) + gone
                    if not (changed or partial):
                        if woken:
                            continue
                        break
                    much = gone > 0 if partial else changed * FEW_CHANGES > len(made.whole)
                    if not partial:
                        turns = turns or Turns(before_it)
                        turns.take(made.whole)
                self.rules = made
                beginnings -= 1
                if beginnings > 0 and much:  # what was inferred in vain is inferred again as fast
                    self._restore({**before, "rules": made})
                    since, tables = start
                    total = {}
        except BaseException:
            self._restore(before)
            raise
        self.figures = total
        return tables

    def _wake(self, steps: Sequence[Step]) -> bool:
        """Put the rules in force that slept, if some steps bring what they waited for."""
        rules = self.rules if isinstance(self.rules, InForce) else None
        if rules is None or rules.sleeping is None:
            return False
        if not rules.sleeping.woken_by(steps, self.dictionary):
            return False
        self.rules = rules.woken()
        return True

    def _beginning(self, since: Sequence[Step], tables: Tables) -> InForce:
        """The program to begin a first closure with: what is stated shows nearly all axioms, and
        those that follow come in further turns."""
        seen = self._seen(tables)
        if self.regimes.equality == BY_REWRITING:  # it shows what was merged, and whether
            return self._whole(self._run(since, tables), early=True)
        look("reading the axioms")
        found = about_axioms(self.regimes, self.users, seen, self.dictionary)
        return self._whole(seen, early=True) if found is None else found

    def _whole(self, tables: Tables, *, early: bool = False) -> InForce:
        look("reading the axioms")
        known = self.rules if isinstance(self.rules, InForce) else None
        return whole(self.regimes, self.users, tables, self.dictionary, known, early=early)

    def _seen(self, tables: Tables) -> Tables:
        """Tables as rules see them that read several graphs."""
        return tables if self._scoped is None else self._scoped.on(tables)

    def _touches_axioms(self, steps: Sequence[Step]) -> bool:
        in_force = self.rules if isinstance(self.rules, InForce) else None
        if self.regimes.scope != DEFAULT:
            scoped = frozenset() if in_force is None else in_force.scoped
            if needs_rules(steps, scoped, self.dictionary):
                return True
        names = SchemaNames(self.dictionary)
        if self._reread or names.touched_by(steps, self.dictionary, self.regimes):
            return True
        known = Literals() if in_force is None else in_force.literals
        return known.are_outdated(steps, self.dictionary, self.regimes.look_at_literals)

    def _restore(self, values: dict[str, Any]) -> None:
        """Go back to what was before a turn."""
        for name, value in values.items():
            setattr(self, name, list(value) if isinstance(value, list) else value)
        self._kept = self._books = None

    def _run(self, since: Sequence[Step], tables: Tables) -> Tables:
        """One turn, with the rules in force."""
        self._reread = False
        if self.rules is None:
            if self._under is not None:
                return self._strip(since, tables)
            self._done(since, since, tables, {}, 0)
            return tables
        from triplestore.reasoning.asserted_changes import stated_since

        compiled = self._compile(self.rules)
        stated = stated_since(self.closed, tables, since, compiled.type_id)
        added: list[Step] = list(stated.steps)
        if self._scoped is not None:
            stated = self._scoped.stated(stated)
            added.append(self._scoped.changes)
        if self.rules is self._under and stated.nothing and self._kept_as == self._keeping:
            self._done(added, stated.steps, stated.tables, {}, self.hidden)
            return stated.tables
        from triplestore.reasoning.equality.rewriting import rewrites

        under = self._compiled_under(compiled)
        try:
            if rewrites(self):
                return self._run_rewriting(compiled, under, stated)
            closure = self._update(
                compiled, self.closed, stated.tables, stated.plus, stated.minus, under
            )
        finally:
            if self.progress is not None:
                self.progress.close()
        added, after = self._after(stated, added, closure)
        after = after.with_schemes(closure.work.schemes_after())
        hidden = self.hidden
        if hidden or self.rules.may_hide:
            hidden += hidden_more(self.dictionary, closure, after)
        from triplestore.maintenance.report import figures

        self._done(added, stated.steps, after, figures(closure), hidden)
        return after

    def _after(
        self, stated: Stated, added: list[Step], closure: Closure
    ) -> tuple[list[Step], Tables]:
        """The steps from closed tables to those with what follows, and these."""
        if not len(closure):
            return added, stated.tables
        steps = joined([*added, closure.step])
        if self._scoped is None and len(steps) == 1 and _is_small(steps[0]):
            # As most commits: all of it at once, that the small layer on top is merged only once.
            return steps, self.closed.push(layer_of(steps[0]))
        return steps, stated.tables.push(closure.layer)

    def _run_rewriting(self, compiled: Compiled, under: Compiled | None, stated: Stated) -> Tables:
        """The same where one individual stands for all that are the same as it."""
        from triplestore.maintenance.report import figures
        from triplestore.reasoning.equality.rewriting import Rewriting

        scoped = [] if self._scoped is None else [self._scoped.changes]
        update = partial(self._update, compiled)
        made = Rewriting(self, compiled, under).run(stated, update, self._scoped)
        total: dict[str, Any] = {}
        for closure in made.closures:
            total = sum_of(total, figures(closure))
        if made.inferred is not None:
            total |= made.inferred._asdict()
        steps = [*stated.steps, *scoped, *made.steps]
        self._done(steps, stated.steps, made.tables, total, self.hidden + made.hidden)
        self._reread = made.reread
        return made.tables

    def adopt(self, closed: ClosedElsewhere, since: Sequence[Step], tables: Tables) -> Tables:
        """Take what was inferred elsewhere for tables to which these steps lead; all of them then.

        What is kept says the rules; from here on they are in force.
        """
        meta = closed.meta
        from triplestore.reasoning.program.stored_rules import rules_of

        users = rules_of(meta) if PROGRAM in meta else None
        self.users, self.regimes, self.tuning = users, Regimes.of(meta), Tuning.of(meta)
        stored = tables.with_schemes({})  # what is not written now is written: it has all rows
        changes = closed.changes(stored)
        after = stored.push(Layer.build(changes))
        self.rules = self.users
        if self.regimes:
            self.rules = whole(self.regimes, self.users, after, self.dictionary)
        self._wanted = self.users, self.regimes
        self._kept = self._books = None
        steps = [*since, changes]
        change = change_of(
            net_changes(self.base, after, [*self.steps, *steps], False),
            is_helper_in(self.dictionary),
        )
        names = ("inferred_added", "inferred_removed", "still_entailed")
        figures = {name: getattr(change, name) for name in names}
        self._done(steps, since, after, figures, closed.hidden)
        return after

    @property
    def under(self) -> Rules | None:
        """The rules as of the last run."""
        return self._under

    def _compiled_under(self, compiled: Compiled) -> Compiled | None:
        """The rules under which the tables are closed; None if nothing follows in them yet."""
        if not self.closed.rows or self._under is None:
            return None
        return compiled if self._under is self.rules else self._compile(self._under)

    def _update(
        self,
        compiled: Compiled,
        closed: Tables,
        tables: Tables,
        plus: Any,
        minus: Any,
        previous: Compiled | None,
    ) -> Closure:
        from triplestore.expressions.query_terms import QueryTerms
        from triplestore.maintenance.update import update
        from triplestore.reasoning.bookkeeping import Books

        terms = QueryTerms(self.dictionary)
        budget = self.budget()
        if self._kept_as[0] != self.tuning.modules:
            self._kept = self._books = None  # facts that a module owns are in no table
        if self._books is None:
            self._books = Books(self._kept)
        books = self._books
        books.open(self.tuning, compiled, previous, closed, terms, budget)
        closure = update(
            compiled,
            closed,
            tables,
            plus,
            minus,
            self.tuning.make_strategy(),
            previous=previous,
            terms=terms,
            budget=budget,
            recursive=books.recursive,
            traces=books.traces,
            choice=self.tuning.make_choice(),
        )
        books.note(closure)
        return closure

    def _strip(self, since: Sequence[Step], tables: Tables) -> Tables:
        """Without rules: everything that is not stated goes, and all counts."""
        from triplestore.reasoning.drop_inferences import stripped

        self._kept = self._books = None
        scoped: list[Step] = []
        if self._scoped is not None:
            scoped, tables = [self._scoped.changes], self._scoped.on(tables)
        changes = stripped(tables)
        inferred = tables.total(INFERRED)
        after = tables.push(Layer.build(changes)).with_schemes({})
        net = change_of(changes, is_helper_in(self.dictionary))
        unwritten = inferred - tables.with_schemes({}).total(INFERRED)
        figures = {"inferred_removed": net.inferred_removed + unwritten}
        added = [*since, *scoped, changes] if len(changes) else [*since, *scoped]
        self._done(added, since, after, figures, 0)
        return after

    def _done(
        self,
        added: Sequence[Step],
        stated: Sequence[Step],
        after: Tables,
        figures: dict[str, Any],
        hidden: int,
    ) -> None:
        self.steps += added
        self.stated += stated
        self.closed, self._under, self._kept_as = after, self.rules, self._keeping
        self.figures, self.hidden = figures, hidden
        self._scoped = None
        self.runs += 1


def _is_small(step: Step) -> bool:
    """Whether it is combined with what is on top."""
    return isinstance(step, Changes) and len(step) <= COMBINE_ROWS


def sum_of(total: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The figures of several turns together.

    >>> sum_of({"rounds": 1, "derivations": {"a": 1}}, {"rounds": 2, "derivations": {"b": 1}})
    {'rounds': 3, 'derivations': {'a': 1, 'b': 1}}
    """
    made = dict(total)
    for name, value in more.items():
        if isinstance(value, dict):
            known = made.get(name, {})
            made[name] = {**known, **{k: known.get(k, 0) + v for k, v in value.items()}}
        else:
            made[name] = made[name] + value if name in made else value
    return made
