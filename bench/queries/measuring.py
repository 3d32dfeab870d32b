"""What runs in children: making the stores, and the queries of a mix on one of them.

Start at `measure`. Both stores are asked by the same lines of Python: `store.query(text)`, then a
loop over what it gives, which either leaves the rows alone or takes every term. What is always
true: no two faces share a result; answers are compared apart from the timing, as bags.
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
from bench.modular import Memory
from bench.queries.mixes import lines, mix

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
    """Ask every query in every face; `seconds` is what a face of a query may take altogether.

    Every text is asked at least once after a warm-up; with `within`, only for this many seconds:
    what is left then is asked once, and that counts.
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
    """The mean over the texts of the least seconds of each."""
    each = seconds / len(texts)
    return sum(best(partial(act, store, text), each, until) for text in texts) / len(texts)


def mean_in_turn(
    act: Face, store: Any, texts: Sequence[str], seconds: float, until: float = float("inf")
) -> float:
    """The same, one text after the other, so that each comes after one with other constants."""
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
    """Our store as it lies on disk, or the peer's in memory, which is where it is fastest."""
    if peer == OURS:
        from triplestore import Store

        return Store.read_only(folder / STORE)
    import pyoxigraph

    store = pyoxigraph.Store()
    store.bulk_load(path=str(folder / CLOSED), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


# --- faces ---------------------------------------------------------------------------------------


def _is_answer(result: Any) -> bool:
    """Whether a result is that of an ASK: a bool, or what pyoxigraph has for one."""
    return not hasattr(result, "__iter__")


def rows(store: Any, text: str) -> int:
    """Every row is handed out and left alone."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    number = 0
    for _ in result:
        number += 1
    return number


def terms(store: Any, text: str) -> int:
    """Every term of every row is taken."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    number = 0
    for row in result:
        tuple(row)
        number += 1
    return number


def arrow(store: Any, text: str) -> int:
    """Columns of terms; an ASK has none, triples are taken as rows."""
    result = store.query(text)
    if _is_answer(result):
        return int(bool(result))
    if not hasattr(result, "to_arrow"):
        return sum(1 for _ in result)
    return int(result.to_arrow().num_rows)


class Alike:
    """Takes every term of a text that was never asked before, since a comment makes it another.

    Results kept by text are of no use then; similar texts were asked, with other constants.
    """

    def __init__(self) -> None:
        self._numbers = count(10**9)

    def __call__(self, store: Any, text: str) -> int:
        return terms(store, f"{text}\n# {next(self._numbers)}")


class Unseen(Alike):
    """Takes every term of a text unlike all earlier ones: it declares another prefix.

    What is kept by text or by shape is of no use then: parsing, rewriting and planning are paid.
    """

    def __call__(self, store: Any, text: str) -> int:
        return terms(store, f"PREFIX n{next(self._numbers)}: <http://n/>\n{text}")


def best(act: Callable[[], Any], seconds: float, until: float = float("inf")) -> float:
    """The least seconds of several times, after one that warms up; of that, if it is too late."""
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
    """How many rows, and a number that depends on which they are but not on their order.

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
    """The columns in the order of their names: after `SELECT *` stores have them in any order."""
    names = [str(getattr(one, "value", one)) for one in getattr(result, "variables", ())]
    return sorted(range(len(names)), key=names.__getitem__)


NUMERIC = ("integer", "decimal", "double", "float")


def _normal(term: Any) -> str:
    """A term's text; numbers by value, since stores differ in how many digits of a mean they keep.

    Blank nodes are all the same: stores name them as they like.
    """
    kind = type(term).__name__
    if kind == "BlankNode":
        return "_:"
    datatype = getattr(getattr(term, "datatype", None), "value", "")
    if datatype.rpartition("#")[2] in NUMERIC:
        return f"{float(term.value):.9g}"
    return str(term)
