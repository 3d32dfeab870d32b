"""One run: the closure is brought up to date with earlier writes, under some settings.

Start reading at `ClosureRun.run`. It makes a new `ClosureState` and leaves the old one as it is.

With a regime the rules are a function of the axioms that hold, and these may follow from rules. So
a run takes turns: the closure is brought up to date, the axioms are read again if their triples
were touched, and if they give another program the closure is maintained from the one to the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from triplestore.data_classes import data_class
from triplestore.expressions.query_terms import QueryTerms
from triplestore.reasoning.asserted_changes import asserted_since
from triplestore.reasoning.drop_inferences import changes_to_asserted
from triplestore.reasoning.equality.rewriting import Rewriting
from triplestore.reasoning.outcome import WriteStep, change_of, is_helper_in, join_changes, layer_of
from triplestore.reasoning.program.graph_scope import DEFAULT, ScopeStep, scope_step
from triplestore.reasoning.program.in_force import (
    InForce,
    known_program_of,
    program_before_axioms,
    schema_program,
)
from triplestore.reasoning.program.outdated_rules import are_outdated
from triplestore.reasoning.program.program_history import ProgramHistory
from triplestore.reasoning.program.rules_on_demand import (
    RulesOnDemand,
    program_of,
    rules_on_demand,
)
from triplestore.reasoning.program.settings import BY_REWRITING, ReasonSettings
from triplestore.reasoning.progress import ProgressLine
from triplestore.reasoning.thresholds import REASONING
from triplestore.reasoning.visible import hidden_moves
from triplestore.relations import INFERRED, Changes, Layer, Tables
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.equality import EQUALITY
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.maintenance.budget import ReasoningBudget
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.reasoning.asserted_changes import AssertedChanges
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.reasoner import RuleCompiler
    from triplestore.reasoning.side_tables import SideTables
    from triplestore.rules.compiled_program import Compiled
    from triplestore.terms import Dictionary


@data_class
class ClosureState:
    """A closure as of the last run, and its history in this transaction; replaced as a whole.

    settings      what the rules were made for
    rules         all rules in force, also those that were made of axioms; None if there are none
    closed_under  the rules under which the tables are closed; None if nothing was inferred yet
    tables        the closed tables
    hidden        number of facts that hold and are not RDF triples
    steps         lead from the tables of the last commit to these tables
    stated        the steps that assert or remove facts
    runs          how often the closure was brought up to date in this transaction; turns of a run
                  that only added facts count as one, because their figures can be added up
    figures       what the last run did, for a report
    reread        whether rules have to be made again although no axiom was touched
    """

    settings: ReasonSettings
    rules: Rules | None
    closed_under: Rules | None
    tables: Tables
    hidden: int
    steps: tuple[WriteStep, ...] = ()
    stated: tuple[WriteStep, ...] = ()
    runs: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    reread: bool = False


class _Unclosed(NamedTuple):
    """What was written since the closure was right: steps, the tables that they lead to, and the
    changes of what the graphs of the scope assert, and of the rows of asserted axioms."""

    since: Sequence[WriteStep]
    tables: Tables
    kept: tuple[ScopeStep, ...]


class ClosureRun:
    """One run of a transaction; all of its updates share one budget."""

    def __init__(
        self,
        dictionary: Dictionary,
        settings: ReasonSettings,
        compiling: RuleCompiler,
        side_tables: SideTables | None,
        budget: ReasoningBudget,
        progress: ProgressLine | None,
    ) -> None:
        self.dictionary = dictionary
        self.settings = settings
        self.committed_terms = compiling.committed_terms
        self.budget = budget
        self._compiling = compiling
        self._side_tables = side_tables
        self._progress = progress

    def run(self, state: ClosureState, since: Sequence[WriteStep], tables: Tables) -> ClosureState:
        """The closure of tables to which these steps lead from those of a state."""
        now = self.settings.regimes
        written = _Unclosed(since, tables, self._kept(state, since, tables))
        if not now.infer:
            return self._turn(state, self.settings.users, written)
        return self._in_turns(state, written)

    def _kept(
        self, state: ClosureState, since: Sequence[WriteStep], tables: Tables
    ) -> tuple[ScopeStep, ...]:
        """The changes of rows that say what is asserted."""
        before, now = state.settings.regimes, self.settings.regimes
        kept: tuple[ScopeStep, ...] = ()
        if not before.scope == now.scope == DEFAULT:
            step = scope_step(state.tables, tables, since, before, now, self.dictionary)
            kept = () if step is None else (step,)
        if before.has_el or now.has_el:
            # Late: few stores have this regime.
            from triplestore.reasoning.program.asserted_axioms import axiom_step

            seen = _seen(_Unclosed(since, tables, kept))
            step = axiom_step(state.tables, seen, since, before, now, self.dictionary)
            kept += () if step is None else (step,)
        return kept

    # -- turns ----------------------------------------------------------------------------------

    def _in_turns(self, before: ClosureState, written: _Unclosed) -> ClosureState:
        """The same if rules are made from the axioms that hold; see the top of this file."""
        again = self.settings.users is not before.settings.users
        again |= self.settings.regimes != before.settings.regimes
        closed = before.closed_under is not None and before.tables.rows
        starts = 0 if closed else REASONING.max_restarts
        if starts:
            rules: Rules | None = (first := self._beginning(before, again, written))
            again = first.partial or first.foreseen  # that may have been a mistake
        else:
            rules = self._begin_with(before, written) if again else before.rules
        state, left, total = before, written, dict[str, Any]()
        history: ProgramHistory | None = None
        while True:
            after = self._turn(state, rules, left)
            steps = after.steps[len(state.steps) :]
            state, left = after, _Unclosed((), after.tables, ())
            total = sum_of(total, after.figures)
            woken = self._woken(rules, steps)
            rules = woken or rules
            if not (again or self._touches_axioms(after, rules, steps)):
                if woken is None:
                    break
                continue
            partial = isinstance(rules, InForce) and rules.partial
            made = self._whole(after.tables, rules, early=partial)
            again = made.foreseen
            known, much = known_program_of(rules), True
            if rules is not None:
                gone = known.count_beyond(made.known)
                changed = made.known.count_beyond(known) + gone
                if not (changed or partial):
                    if woken is None:
                        state = self._renewed(state, made)
                        break
                    continue
                much = gone > 0 if partial else changed * REASONING.restart_share > len(made.known)
                if not partial:
                    history = history or ProgramHistory(known)
                    history.add(made.known)
            rules = made
            starts -= 1
            if starts > 0 and much:  # what was inferred in vain is inferred again as fast
                state, left, total = before, written, {}
        if _only_adds(total) and not _rewrites(self.settings, before.tables):
            return replace(state, figures=total, runs=before.runs + 1)
        return replace(state, figures=total)

    def _renewed(self, state: ClosureState, made: InForce) -> ClosureState:
        """The state with rules that have the same compiled form as its own: axioms changed, but
        all that were touched give rules that are not made yet."""
        if state.rules is None or not isinstance(made, RulesOnDemand):
            return state
        self._compiling.share(state.rules, made)
        return replace(state, rules=made, closed_under=made)

    def _woken(self, rules: Rules | None, steps: Sequence[WriteStep]) -> InForce | None:
        """All rules, if some sleep and these steps bring a fact that one of them waits for."""
        if not isinstance(rules, InForce) or rules.sleeping is None:
            return None
        return rules.woken() if rules.sleeping.woken_by(steps, self.dictionary) else None

    def _begin_with(self, before: ClosureState, written: _Unclosed) -> Rules | None:
        """The rules to begin with where users' rules, or regimes, changed."""
        regimes = self.settings.regimes
        if isinstance(before.rules, InForce) and before.settings.regimes == regimes:
            return before.rules
        return program_before_axioms(regimes, self.settings.users, _seen(written), self.dictionary)

    def _beginning(self, before: ClosureState, again: bool, written: _Unclosed) -> InForce:
        """The program to begin a first closure with: nearly all axioms are asserted, and those that
        follow come in further turns.

        again  whether users' rules, or regimes, changed
        """
        regimes, seen = self.settings.regimes, _seen(written)
        look("reading the axioms")
        asleep = rules_on_demand(regimes, self.settings.users, seen, self.dictionary)
        if asleep is not None:
            return asleep
        rules = self._begin_with(before, written) if again else before.rules
        if regimes.equality == BY_REWRITING:  # the closure shows what was merged
            return self._whole(self._turn(before, rules, written).tables, rules, early=True)
        found = schema_program(regimes, self.settings.users, seen, self.dictionary)
        return self._whole(seen, rules, early=True) if found is None else found

    def _whole(self, tables: Tables, rules: Rules | None, *, early: bool = False) -> InForce:
        look("reading the axioms")
        known = rules if isinstance(rules, InForce) else None
        regimes, users = self.settings.regimes, self.settings.users
        return program_of(regimes, users, tables, self.dictionary, known, early=early)

    def _touches_axioms(
        self, state: ClosureState, rules: Rules | None, steps: Sequence[WriteStep]
    ) -> bool:
        rules = rules if isinstance(rules, InForce) else None
        regimes, committed = self.settings.regimes, self.committed_terms
        return state.reread or are_outdated(rules, regimes, steps, self.dictionary, committed)

    # -- one turn -------------------------------------------------------------------------------

    def _turn(self, state: ClosureState, rules: Rules | None, written: _Unclosed) -> ClosureState:
        """One turn, with these rules in force."""
        since, tables, kept = written
        if rules is None:
            if state.closed_under is not None:
                return self._without_rules(state, written)
            return self._after(state, rules, since, since, tables, {}, 0)
        compiled = self._compile(rules)
        stated = asserted_since(state.tables, tables, since, compiled.type_id)
        added: list[WriteStep] = list(stated.steps)
        for step in kept:
            stated = step.stated(stated)
            added.append(step.changes)
        same = state.settings.representation == self.settings.representation
        if rules is state.closed_under and stated.nothing and same:
            if self._side_tables is not None:
                self._side_tables.begin(state.tables)
            return self._after(state, rules, added, stated.steps, stated.tables, {}, state.hidden)
        try:
            return self._inferred(state, rules, compiled, stated, added, kept)
        finally:
            if self._progress is not None:
                self._progress.close()

    def _inferred(
        self,
        state: ClosureState,
        rules: Rules,
        compiled: Compiled,
        stated: AssertedChanges,
        added: list[WriteStep],
        kept: tuple[ScopeStep, ...],
    ) -> ClosureState:
        if self._side_tables is not None:  # facts that a module owns are in none of them
            same = state.settings.tuning.modules == self.settings.tuning.modules
            self._side_tables.begin(state.tables if same else None)
        under = None  # nothing follows yet
        if state.tables.rows and state.closed_under is not None:
            under = compiled if state.closed_under is rules else self._compile(state.closed_under)
        if _rewrites(self.settings, state.tables):
            return self._rewritten(state, rules, compiled, under, stated, kept)
        closure = self._update(
            compiled, state.tables, stated.tables, stated.plus, stated.minus, under
        )
        added, after = _with_closure(state.tables, stated, added, closure, kept)
        after = after.with_schemes(closure.work.schemes_after())
        hidden, figures = state.hidden, _figures(closure)
        if hidden or rules.may_hide:
            came, gone = hidden_moves(self.dictionary, closure, after)
            hidden += came - gone
            figures["inferred_added"] -= came
            figures["inferred_removed"] -= gone
        return self._after(state, rules, added, stated.steps, after, figures, hidden)

    def _rewritten(
        self,
        state: ClosureState,
        rules: Rules,
        compiled: Compiled,
        under: Compiled | None,
        stated: AssertedChanges,
        kept: tuple[ScopeStep, ...],
    ) -> ClosureState:
        """The same if one individual stands for all that are the same as it."""
        update = partial(self._update, compiled)
        scoped = kept[0] if kept else None  # rows of axioms are not combined with rewriting
        made = Rewriting(self, state, rules, compiled, under).run(stated, update, scoped)
        total: dict[str, Any] = {}
        for closure in made.closures:
            total = sum_of(total, _figures(closure))
        if made.inferred is not None:
            total |= made.inferred._asdict()
        steps = [*stated.steps, *(step.changes for step in kept), *made.steps]
        hidden = state.hidden + made.hidden
        after = self._after(state, rules, steps, stated.steps, made.tables, total, hidden)
        return replace(after, reread=made.reread)

    def _without_rules(self, state: ClosureState, written: _Unclosed) -> ClosureState:
        """Without rules: everything that is not asserted is removed, and all counts."""
        since, tables, kept = written
        added = list(since)
        for step in kept:
            added, tables = [*added, step.changes], step.on(tables)
        changes = changes_to_asserted(tables)
        inferred = tables.total(INFERRED)
        after = tables.push(Layer.build(changes)).with_schemes({})
        net = change_of(changes, is_helper_in(self.dictionary))
        unwritten = inferred - tables.with_schemes({}).total(INFERRED)
        figures = {"inferred_removed": net.inferred_removed + unwritten}
        if len(changes):
            added.append(changes)
        return self._after(state, None, added, since, after, figures, 0)

    def _after(
        self,
        state: ClosureState,
        rules: Rules | None,
        added: Sequence[WriteStep],
        stated: Sequence[WriteStep],
        tables: Tables,
        figures: Mapping[str, Any],
        hidden: int,
    ) -> ClosureState:
        """The state after a turn."""
        if self._side_tables is not None and rules is not None:
            self._side_tables.belong(tables)
        return ClosureState(
            self.settings,
            rules,
            rules,
            tables,
            hidden,
            (*state.steps, *added),
            (*state.stated, *stated),
            state.runs + 1,
            figures,
        )

    def _compile(self, rules: Rules) -> Compiled:
        look("compiling the rules")
        return self._compiling.compiled(rules, modules=self.settings.tuning.modules != "off")

    def _update(
        self,
        compiled: Compiled,
        closed: Tables,
        tables: Tables,
        plus: Any,
        minus: Any,
        previous: Compiled | None,
    ) -> Closure:
        # Late: most stores have no rules.
        from triplestore.maintenance.strategies import strategy
        from triplestore.maintenance.update import update

        terms, tuning, beside = QueryTerms(self.dictionary), self.settings.tuning, self._side_tables
        if beside is not None:
            beside.open(tuning, compiled, previous, closed, terms, self.budget)
        closure = update(
            compiled,
            closed,
            tables,
            plus,
            minus,
            strategy(tuning.strategy),
            previous=previous,
            terms=terms,
            budget=self.budget,
            recursive=None if beside is None else beside.recursive,
            traces=None if beside is None else beside.traces,
            choice=self.settings.choice,
        )
        if beside is not None:
            beside.note(closure)
        return closure


def _with_closure(
    closed: Tables,
    stated: AssertedChanges,
    added: list[WriteStep],
    closure: Closure,
    kept: tuple[ScopeStep, ...],
) -> tuple[list[WriteStep], Tables]:
    """The steps from closed tables to those with what follows, and these."""
    if not len(closure):
        return added, stated.tables
    steps = join_changes([*added, closure.step])
    only = steps[0]
    small = isinstance(only, Changes) and len(only) <= RELATIONS.combine_rows
    if not kept and len(steps) == 1 and small:
        # As most commits: all of it at once, so that the small layer on top is merged only once.
        return steps, closed.push(layer_of(only))
    return steps, stated.tables.push(closure.layer)


def _seen(written: _Unclosed) -> Tables:
    """The tables as rules see them, with the facts of the scope and the rows of axioms."""
    tables = written.tables
    for step in written.kept:
        tables = step.on(tables)
    return tables


def _rewrites(settings: ReasonSettings, tables: Tables) -> bool:
    """Whether one individual stands, or stood, for all that are the same as it."""
    return settings.regimes.rewrites or EQUALITY in tables.schemes


def _only_adds(figures: Mapping[str, Any]) -> bool:
    """Whether turns with these figures removed no inference; then no fact was counted twice."""
    return not (figures.get("inferred_removed", 0) or figures.get("still_entailed", 0))


def _figures(closure: Closure) -> dict[str, Any]:
    """The figures of an update, for a report."""
    return {
        "inferred_added": closure.inferred_added,
        "inferred_removed": closure.inferred_removed,
        "still_entailed": closure.still_entailed,
        "seconds": closure.seconds,
        "rounds": closure.rounds,
        "derivations": closure.instances,
        "rows_fetched": closure.fetched,
        "strata": tuple(closure.strata),
    }


def sum_of(total: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
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
