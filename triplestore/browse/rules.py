"""The rules that users gave, as text with checks: start at `rules_text` and `check_text`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triplestore.datalog.problems import Problem
from triplestore.datalog.program import Program
from triplestore.datalog.text import parse, show, write
from triplestore.errors import UsageError
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.stored_rules import check_rules
from triplestore.store.readable import view_of

if TYPE_CHECKING:
    from triplestore.store import ReadableStore

MAX_TEXT = 1 << 20
"""Maximum number of characters of a text of rules that is checked as one types."""


def rules_data(store: ReadableStore) -> dict[str, Any]:
    """Users' rules as one text, and one by one.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . rule 'r' :B[?x] :- :A[?x] .")
    >>> found = rules_data(store)
    >>> [(item["id"], item["text"]) for item in found["items"]]
    [('r', 'rule "r" :B[?x] :- :A[?x] .')]
    """
    program = users_program(store)
    prefixes = dict(program.prefixes)
    items = [
        {"id": rule.name, "kind": "rule", "text": show(rule, prefixes), "source": _at(rule.source)}
        for rule in program.rules
    ]
    items += [
        {"id": one.id, "kind": "constraint", "text": show(one, prefixes), "source": _at(one.source)}
        for one in program.constraints
    ]
    return {"text": write(program), "items": items, "regimes": list(view_of(store).regimes)}


def users_program(store: ReadableStore) -> Program:
    """The rules that users gave, without those made from axioms."""
    rules = view_of(store).rules()
    users = rules.users if isinstance(rules, InForce) else rules
    return Program() if users is None else users.program


def check_text(store: ReadableStore, text: str) -> list[dict[str, Any]]:
    """Everything that is wrong with a text of rules, with places; nothing is put in force.

    >>> from triplestore import Store
    >>> for problem in check_text(Store(), "@prefix : <http://e/> .\\n:p[?x] :- :q[?y] ."):
    ...     print(problem["line"], problem["code"])
    2 unsafe-variable
    """
    if len(text) > MAX_TEXT:
        raise UsageError(f"rules of more than {MAX_TEXT:,} characters are not checked here")
    program, problems = parse(text, prefixes=store.prefixes)
    if not any(not problem.warning for problem in problems):
        problems = [*problems, *check_rules(program, store.prefixes, store.known_names())]
    return [_problem(problem) for problem in dict.fromkeys(problems)]


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.remedy or None,
        "warning": problem.warning,
    }


def _at(source: Any) -> str | None:
    return None if source is None else str(source)
