"""The children of the workload `queries`: making the stores, and running a mix on one of them.

Start at `measure`. Both stores are queried by the same lines of Python: `store.query(text)`, then a
loop over the result, which either ignores the rows or reads every term. Always true: no two ways of
reading share a result; answers are compared as bags, outside of the measured time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from bench.child import Clock, peak_bytes
from bench.queries.mixes import lines, mix
from bench.runs.modular import Memory

OURS, PEER = "triplestore", "pyoxigraph"
CLOSED, STORE = "closed.nt", "store"
FEW, MANY = 3, 30

Face: TypeAlias = Callable[[Any, str], int]


def close(
    source: str, format: str, ontology: str | None, rules: str, folder: str
) -> dict[str, Any]:
    """Make a closed store of ours from a file, and a file of its triples for the peer."""
    from triplestore import Store

    clock = Clock()
    store = Store(Path(folder) / STORE)
    with clock.part("load"):
        store.load(path=source, format=format)
        if ontology:
            store.load(path=ontology, format="rdf")
    with clock.part("reason"):
        if ontology:
            store.reason("owl-rl")
        else:
            store.reason(rules=Path(rules).read_text())
    store.dump(str(Path(folder) / CLOSED), "nt", facts="all")
    found = {"triples": len(store), **clock.seconds}
    store.close()
    return found


def generate(name: str, size: int, folder: str) -> dict[str, Any]:
    """Make a file of generated data, and a store of ours that has it."""
    from triplestore import Store

    path = Path(folder) / CLOSED
    with path.open("w") as file:
        file.writelines(lines(name, size))
    store = Store(Path(folder) / STORE)
    store.load(path=str(path), format="nt")
    found = {"triples": len(store)}
    store.close()
    return found


def measure(
    peer: str, name: str, size: int, folder: str, seconds: float, within: float = 0.0
) -> dict[str, Any]:
    """Run every query in every way; `seconds` is the limit for one way of a query.

    Every text is run at least once after a warm-up. With `within`, queries that remain after this
    many seconds are run only once, and that run counts.
    """
    until = time.perf_counter() + within if within else float("inf")
    clock, memory = Clock(), Memory()
    with clock.part("open"):
        store = opened(peer, Path(folder))
    opened_bytes = memory.peak()
    asked = mix(name, size).queries
    faces = [("rows", rows), ("terms", terms)]
    if peer == OURS:
        faces += [("arrow", arrow), ("unseen", Unseen())]
    if within:
        seconds = min(seconds, within / len(asked) / (len(faces) + 1))
    found: dict[str, dict[str, Any]] = {}
    for query, texts in asked.items():
        found[query] = {
            face: mean_of_best(act, store, texts, seconds, until) for face, act in faces
        }
        if peer == OURS:
            found[query]["alike"] = mean_in_turn(Alike(), store, texts, seconds, until)
    result = {
        **clock.seconds,
        "triples": len(store),
        "opened bytes": opened_bytes,
        "main": sum(float(one["rows"]) for one in found.values()),
        "queries": found,
    }
    most = peak_bytes()
    for query, texts in asked.items():
        memory = Memory()
        for text in texts:
            (arrow if peer == OURS else rows)(store, text)
        bags = [bag(store.query(text)) for text in texts]
        found[query] |= {
            "found": sum(number for number, _ in bags),
            "bags": [f"{number}:{digest:016x}" for number, digest in bags],
            "peak bytes": memory.peak(),
        }
        most = max(most, peak_bytes())
    return {**result, "most bytes": most}


def mean_of_best(
    act: Face, store: Any, texts: Sequence[str], seconds: float, until: float = float("inf")
) -> float:
    """The mean over the texts of their minimum seconds."""
    each = seconds / len(texts)
    return sum(best(partial(act, store, text), each, until) for text in texts) / len(texts)


def mean_in_turn(
    act: Face, store: Any, texts: Sequence[str], seconds: float, until: float = float("inf")
) -> float:
    """The same, in turns, so that each text follows one with other constants."""
    least = [float("inf")] * len(texts)
    spent = 0.0
    for turn in range(MANY + 1):
        for place, text in enumerate(texts):
            begin = time.perf_counter()
            act(store, text)
            took = time.perf_counter() - begin
            least[place] = min(least[place], took if turn else float("inf"))
            spent += took
        late = turn > 0 and time.perf_counter() > until
        if late or (spent > seconds and turn >= FEW):
            break
    return sum(least) / len(texts)


def opened(peer: str, folder: Path) -> Any:
    """Our store on disk, or the peer's in memory, where it is fastest."""
    if peer == OURS:
        from triplestore import Store

        return Store.read_only(folder / STORE)
    import pyoxigraph

    store = pyoxigraph.Store()
    store.bulk_load(path=str(folder / CLOSED), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


# --- faces ---------------------------------------------------------------------------------------


def _is_answer(result: Any) -> bool:
    """Whether a result is that of an ASK, for either store."""
    return not hasattr(result, "__iter__")


def rows(store: Any, text: str) -> int:
    """Iterate over the rows, and ignore them."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    number = 0
    for _ in result:
        number += 1
    return number


def terms(store: Any, text: str) -> int:
    """Read every term of every row."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    number = 0
    for row in result:
        tuple(row)
        number += 1
    return number


def arrow(store: Any, text: str) -> int:
    """Read columns of terms; triples are read as rows."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    if not hasattr(result, "to_arrow"):
        return sum(1 for _ in result)
    return int(result.to_arrow().num_rows)


class Alike:
    """Reads every term of the result of a new text, made new by a comment.

    Results cached by text cannot be used; similar texts were run with other constants.
    """

    def __init__(self) -> None:
        self._numbers = count(10**9)

    def __call__(self, store: Any, text: str) -> int:
        return terms(store, f"{text}\n# {next(self._numbers)}")


class Unseen(Alike):
    """Reads every term of the result of a text with a new prefix.

    Nothing cached by text or shape can be used: the time includes parsing, rewriting and planning.
    """

    def __call__(self, store: Any, text: str) -> int:
        return terms(store, f"PREFIX n{next(self._numbers)}: <http://n/>\n{text}")


def best(act: Callable[[], Any], seconds: float, until: float = float("inf")) -> float:
    """The minimum seconds of several runs after a warm-up; those of the warm-up if time is over."""
    begin = time.perf_counter()
    act()
    spent, least = time.perf_counter() - begin, float("inf")
    if time.perf_counter() > until:
        return spent
    for turn in range(MANY):
        begin = time.perf_counter()
        act()
        took = time.perf_counter() - begin
        least, spent = min(least, took), spent + took
        late = time.perf_counter() > until
        if late or (spent > seconds and (turn + 1 >= FEW or took > seconds)):
            break
    return least


# --- answers -------------------------------------------------------------------------------------


def bag(result: Any) -> tuple[int, int]:
    """The number of rows, and a hash that does not depend on their order.

    >>> bag([("a", 1.0), ("b", None)]) == bag([("b", None), ("a", 1.0)])
    True
    >>> bag([("a",), ("a",)]) == bag([("a",)])
    False
    """
    if _is_answer(result):
        return 1, int(bool(result))
    number = total = 0
    order = _by_name(result)
    for row in result:
        values = tuple(row)
        text = "\x1f".join(_normal(values[place]) for place in order or range(len(values)))
        total += int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        number += 1
    return number, total % 2**64


def _by_name(result: Any) -> list[int]:
    """The columns ordered by name: `SELECT *` gives them in any order."""
    names = [str(getattr(one, "value", one)) for one in getattr(result, "variables", ())]
    return sorted(range(len(names)), key=names.__getitem__)


NUMERIC = ("integer", "decimal", "double", "float")


def _normal(term: Any) -> str:
    """A term's text; numbers by value, since stores keep different numbers of digits of a mean.

    All blank nodes count as equal, because stores choose their labels.
    """
    kind = type(term).__name__
    if kind == "BlankNode":
        return "_:"
    datatype = getattr(getattr(term, "datatype", None), "value", "")
    if datatype.rpartition("#")[2] in NUMERIC:
        return f"{float(term.value):.9g}"
    return str(term)
