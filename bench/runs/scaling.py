"""The children of the workload `scale`: one closed store, made, written to and queried.

Start at `build`. Every part runs in a process of its own. Always true: files were read once before
a store is opened, so that the operating system has them; modules and kernels are loaded before, by
the same work on a small store in memory (`warm_up`); CPU time is that of the whole process, with
the work behind the commits.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.child import Clock
from bench.harness import folder_bytes
from bench.inputs import lubm
from bench.inputs.data import read_through
from bench.queries.lubm import queries
from bench.queries.measuring import arrow
from bench.workload import quantile

if TYPE_CHECKING:
    from triplestore import Quad, Store

MANY = 1000
"""Number of facts that are removed, or added, in one commit."""

SINGLE = 100
"""Number of facts that are removed and added again in commits of their own."""

PROPERTIES = ("takesCourse", "advisor", "memberOf", "emailAddress", "name")


def build(data: str, ontology: str, folder: str) -> dict[str, Any]:
    """Load, close under OWL 2 RL, merge, and close the store."""
    from triplestore import Store

    warm_up(ontology)
    clock = Clock()
    with clock.part("all"):
        store = Store(folder, durability="flush")
        with clock.part("load"):
            store.load(path=ontology, format="rdf")
            loaded = store.load(path=data, format="nt")
        with clock.part("close"):
            report = store.reason("owl-rl")
        with clock.part("merge"):
            store._database.upkeep.run()  # what would go on behind the next commits
        asserted, facts = store._database.state.tables.total(1), len(store)
        store.close()
    return {
        **clock.seconds,
        "added": loaded.added,
        "asserted": asserted,
        "facts": facts,
        "engine s": report.seconds,
        "disk bytes": folder_bytes(Path(folder)),
    }


def write(folder: str, ontology: str, universities: int, run: int) -> dict[str, Any]:
    """Open a store and write to it: first one fact, then a thousand, then one by one."""
    from triplestore import NamedNode, Quad, Store

    warm_up(ontology)
    for path in Path(folder).iterdir():
        read_through(path)
    many, again, single = draw(folder, universities, run)
    clock = Clock()
    with clock.part("open"):
        store = Store(folder, durability="flush")
    course = NamedNode("http://www.Department0.University0.edu/Course0")
    takes = NamedNode(lubm.UNIV_BENCH + "takesCourse")
    new = Quad(NamedNode(f"http://bench.example/student{run}"), takes, course)
    with clock.part("first fact"):
        store.add(new)
    with clock.part("first removal"):
        store.remove(new)
    removed = 0
    for name, quads in (("first thousand", many), ("second thousand", again)):
        with clock.part(f"{name} removed"):
            removed += store.remove_all(quads).removed
        with clock.part(f"{name} added"):
            store.extend(quads)
    if removed != 2 * MANY:
        raise AssertionError(f"{removed} facts were removed, not {2 * MANY}")
    found = {**clock.seconds, **one_by_one(store, single)}
    store.close()
    return found


def one_by_one(store: Store, quads: list[Quad]) -> dict[str, float]:
    """Facts removed and added again, each in a commit of its own."""
    seconds: dict[str, list[float]] = {}
    for quad in quads:
        for name, act in (("remove", store.remove), ("add", store.add)):
            wall, cpu = time.perf_counter(), time.thread_time()
            act(quad)
            seconds.setdefault(f"{name} cpu s", []).append(time.thread_time() - cpu)
            seconds.setdefault(f"{name} s", []).append(time.perf_counter() - wall)
    return {name: quantile(sorted(values), 0.5) for name, values in seconds.items()}


def draw(folder: str, universities: int, seed: int) -> tuple[list[Quad], list[Quad], list[Quad]]:
    """Asserted facts of random students, all different."""
    from triplestore import Store

    chance = random.Random(seed)
    with Store.read_only(folder) as store:
        quads = facts_of_students(store, universities, chance)
        chosen = list(dict.fromkeys(islice(quads, 2 * MANY + SINGLE)))
        while len(chosen) < 2 * MANY + SINGLE:
            chosen = list(dict.fromkeys([*chosen, next(quads)]))
    return chosen[:MANY], chosen[MANY : 2 * MANY], chosen[2 * MANY :]


def facts_of_students(store: Store, universities: int, chance: random.Random) -> Iterator[Quad]:
    """One asserted fact of one random student after the other."""
    from triplestore import NamedNode

    properties = [NamedNode(lubm.UNIV_BENCH + name) for name in PROPERTIES]
    while True:
        department = f"Department{chance.randrange(15)}.University{chance.randrange(universities)}"
        kind = chance.choice(["Undergraduate", "Graduate"])
        student = f"http://www.{department}.edu/{kind}Student{chance.randrange(80)}"
        found = store.quads_for_pattern(
            NamedNode(student), chance.choice(properties), None, facts="explicit"
        )
        yield from islice(found, 1)


def warm_up(ontology: str) -> None:
    """Load modules and kernels: the same work on a small store in memory."""
    from pyoxigraph import RdfFormat, parse

    from triplestore import Quad, Store

    few = lubm.Profile(departments=(1, 1))
    made = (entity for part in lubm.universities(1, profile=few) for entity in part)
    text = "".join(lubm.ntriples_lines(made))
    with Store() as store:
        store.load(path=ontology, format="rdf")
        store.load(text, "nt")
        store.reason("owl-rl")
        some = [Quad(*triple) for triple in islice(parse(text, RdfFormat.N_TRIPLES), 2 * MANY)]
        store.remove_all(some)
        store.extend(some)
        for quad in some[:10]:
            store.remove(quad)
            store.add(quad)
        for query in queries().values():
            arrow(store, query)


def ask(folder: str, ontology: str) -> dict[str, Any]:
    """LUBM's queries as Arrow: each text for the first time, and the best of three more runs."""
    from triplestore import Store

    warm_up(ontology)
    for path in Path(folder).iterdir():
        read_through(path)
    found: dict[str, Any] = {}
    with Store.read_only(folder) as store:
        for name, text in queries().items():
            runs = []
            for _ in range(4):
                wall, cpu = time.perf_counter(), time.process_time()
                rows = arrow(store, text)
                runs.append((time.process_time() - cpu, time.perf_counter() - wall))
            found[name] = {"rows": rows, "first": runs[0], "again": min(runs[1:])}
    return {"queries": found, "again cpu s": sum(one["again"][0] for one in found.values())}
