"""Real data imported and closed by Spark: the store equals one that infers locally."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("pyspark")
from demo.__main__ import RULES
from demo.files import make_files
from tests.spark.test_closure_data import rows_of, rows_said_in
from triplestore import Store
from triplestore.loaders.spark.importing.dataset import import_dataset


class Case(NamedTuple):
    """Files below the shared data, a regime, and an ontology beside them."""

    files: str
    reason: str
    ontology: str | None = None


REAL = {
    "lubm": Case("lubm/lubm1/lubm1.nt.gz", "owl-rl", "lubm/univ-bench.owl"),
    "unesco": Case("skos/unesco/unesco-thesaurus-2017.ttl", "skos"),
    "uat": Case("skos/uat/UAT.rdf", "skos"),  # which it also breaks
    "relations": Case("owl-real/obo-relations/ro-base.owl", "owl-rl"),
    "pato": Case("owl-real/pato/pato-base.owl", "owl-rl"),
    "sequences": Case("owl-real/so/so.owl", "owl-rl"),
    "same": Case("uobm/uobm1.ttl.gz", "owl-rl", "uobm/univ-bench-dl.owl"),
    "chains": Case("owl2bench/OWL2RL-1.nt.gz", "owl-rl"),
}


def counted(store: Store, ids: dict[bytes, int]) -> np.ndarray:
    """The facts with status and counter, in a fixed order, under the ids of these keys."""
    dictionary = store._database.state.dictionary
    own = [0, *(ids[dictionary.key(number)] for number in range(1, dictionary.size + 1))]
    rows = rows_of(store)
    rows[:, :3] = np.array(own)[rows[:, :3]]
    return rows[np.lexsort(rows.T)]


def ids_of(store: Store) -> dict[bytes, int]:
    dictionary = store._database.state.dictionary
    return {dictionary.key(number): number for number in range(1, dictionary.size + 1)}


def check(spark: Any, files: list[Path], folder: Path, *reason: str, **told: Any) -> Any:
    """Assert that a store closed by Spark is the one that was loaded and closed, and stays so."""
    names = [os.fspath(path) for path in files]
    target = folder / "spark.db"
    stages: list[dict[str, Any]] = []
    import_dataset(
        spark,
        names,
        target,
        reason=reason,
        closure="spark",
        driver_facts=0,
        partitions=3,
        progress=lambda name, figures: stages.append({"name": name, **figures}),
        **told,
    )
    local = Store()
    local.load(path=sorted(files))
    local.reason(*reason, **told)
    with Store(target) as made:
        assert made.digest() == local.digest()
        assert made.count("inferred") == local.count("inferred") > 0
        ids = ids_of(local)
        assert ids.keys() == ids_of(made).keys()
        assert np.array_equal(counted(made, ids), counted(local, ids))
        assert rows_said_in(made) == rows_said_in(local)
        assert made.verify(closure=True) == []
        # Whatever goes takes with it what nothing else gives: the counters are those of a store.
        some = sorted(local.quads_for_pattern(None, None, None, facts="explicit"), key=str)[::997]
        for store in (made, local):
            store.remove_all(some)
        assert made.digest() == local.digest()
        for store in (made, local):
            store.extend(some)
        assert made.digest() == local.digest()
    closure = next(stage for stage in stages if stage["name"] == "closure" and "figures" in stage)
    return {"seconds": closure["seconds"], **closure["figures"]}


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_import__of_real_data_is_closed_on_spark_as_in_a_store(
    spark: Any, tmp_path: Path, shared_data: Path, name: str, record_property: Any
) -> None:
    case = REAL[name]
    told = {} if case.ontology is None else {"ontology": shared_data / case.ontology}
    figures = check(spark, [shared_data / case.files], tmp_path, case.reason, **told)
    assert figures["rounds"] > 0
    record_property("figures", figures)


@pytest.mark.long
def test_import__of_the_demo_is_closed_on_spark_as_in_a_store(spark: Any, tmp_path: Path) -> None:
    files = make_files(tmp_path / "in")
    chosen = [path for name, path in files.items() if name != "register"]
    check(spark, chosen, tmp_path, "owl-rl", "skos", rules=RULES)
