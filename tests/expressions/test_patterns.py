"""REGEX and REPLACE mean what they did with Python's engine, and take linear time."""

from __future__ import annotations

import re
import threading
import time
from random import Random

import pytest
from support.fuzzing import seeds

from triplestore import Store
from triplestore.errors import BudgetError, CancelledError, TimeLimitError, UsageError
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.regex import compiled, matches, replace
from triplestore.expressions.library.strings import string
from triplestore.operators.context import Context, running

ALPHABET = "aAbBcé1٣ \n_-.ß"
CATEGORIES = {"Lu": "A-ZÉẞ", "L": "A-Za-zéÉßẞ", "Nd": "0-9٣", "P": "_\\-."}


def random_pattern(random: Random, depth: int) -> tuple[str, str]:
    """A pattern of XPath, and what Python has for it."""
    kind = random.random()
    if depth == 0 or kind < 0.35:
        return random_atom(random)
    one, other = random_pattern(random, depth - 1)
    if kind < 0.6:
        many = random.choice(("*", "+", "?", "{2}", "{1,3}", "{0,}", "{,2}", "*?", "+?", "??"))
        return f"({one}){many}", f"({other}){many}"
    second, as_python = random_pattern(random, depth - 1)
    if kind < 0.75:
        return f"(?:{one}|{second})", f"(?:{other}|{as_python})"
    return one + second, other + as_python


def random_atom(random: Random) -> tuple[str, str]:
    kind = random.random()
    if kind < 0.4:
        sign = random.choice(ALPHABET)
        return (sign, sign) if sign.isalnum() or sign in " \n_" else ("\\" + sign, "\\" + sign)
    if kind < 0.5:
        return (".", ".")
    if kind < 0.58:
        return ("^", "^")
    if kind < 0.66:
        return ("$", "$")
    if kind < 0.8:
        escape = "\\" + random.choice("dDsSwW")
        return (escape, escape)
    if kind < 0.9:
        name, inner = random.choice(list(CATEGORIES.items()))
        if random.random() < 0.5:
            return (f"\\P{{{name}}}", f"[^{inner}]")
        return (f"[a\\p{{{name}}}]", f"[a{inner}]")
    members = random.choice(("a-c", "^a", "A-Z1", "\\d_", "^\\w", "b\\S", "\\W1", "\\D"))
    return (f"[{members}]", f"[{members}]")


@pytest.mark.fuzz
def test_random_patterns__match_what_python_matches() -> None:
    for seed in seeds(400):
        random = Random(seed)
        pattern, as_python = random_pattern(random, 3)
        flags = random.choice(("", "", "i", "s", "m", "im"))
        options = sum({"i": re.I, "s": re.S, "m": re.M}[flag] for flag in flags)
        if "m" not in flags:
            as_python = as_python.replace("$", r"\Z")
        known = re.compile(as_python, options)
        regex = compiled(pattern, flags)
        for _ in range(10):
            text = "".join(random.choices(ALPHABET, k=random.randrange(8)))
            found = known.search(text)
            assert regex.occurs_in(text.encode()) == (found is not None), (pattern, flags, text)
            if known.search(""):
                continue
            got = replace(string(text), string(pattern), string("<$0>"), string(flags))
            assert got == string(known.sub(lambda m: f"<{m[0]}>", text)), (pattern, flags, text)


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|aa)*c$", "(a*)*c", "(x+x+)+y", "(.*)*(.*)*="])
def test_patterns__take_linear_time(pattern: str) -> None:
    began = time.process_time()
    assert not compiled(pattern, "").occurs_in(b"a" * 200_000 + b"b")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a)\\1", "back-reference"),
        ("a(?=b)", "linear time"),
        ("(?<!a)b", "linear time"),
        ("a{1001}", "linear time"),
        ("((a{1,30}){1,30}){1,30}", "linear time"),
        ("(a|b)?" * 10_000, "too long"),
    ],
)
def test_patterns__beyond_linear_time_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        matches(string("aab"), string(pattern))
    with pytest.raises(UsageError, match=message):
        replace(string("aab"), string(pattern), string("x"))


@pytest.mark.parametrize(
    "pattern", ["(", "[", "a**", "a{2}{3}", "[]a]", "\\q", "\\p{Foo}", "[a-z-[b]]"]
)
def test_patterns__that_are_none_are_errors_of_the_expression(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        matches(string("aab"), string(pattern))


def test_rules__have_the_same_patterns() -> None:
    store = Store()
    store.load('<http://e/a> <http://e/p> "%s" .' % ("a" * 100_000), "nt")
    store.reason(
        rules="@prefix : <http://e/> .\n"
        ':odd[?x, ?t] :- :p[?x, ?t], FILTER(!REGEX(?t, "^(a|aa)*c$")) .\n'
    )
    assert store.query("ASK { ?x <http://e/odd> ?t }") is True


def test_work_in_a_thread__ends_with_the_limits() -> None:
    regex = compiled("(x?){300}[ab]{500}c", "")
    text = b"ab" * 1_000_000
    began = time.monotonic()
    with running(Context(seconds=0.2)), pytest.raises(TimeLimitError):
        for _ in range(100):
            regex.occurs_in(text)
    flag = threading.Event()
    threading.Timer(0.2, flag.set).start()
    with running(Context(cancel=flag)), pytest.raises(CancelledError):
        for _ in range(100):
            regex.occurs_in(text)
    assert time.monotonic() - began < 30  # on a machine that does other things, too
    with pytest.raises(BudgetError, match="too long"):
        regex.occurs_in(b"a" * 20_000_000)
    with running(Context(budget=1_000_000)), pytest.raises(BudgetError):
        replace(string("a" * 100_000), string("a"), string("b" * 100))
