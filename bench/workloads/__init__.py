"""The workloads, one per file, listed in `WORKLOADS`."""

from __future__ import annotations

from bench.serving import workload as serving
from bench.workload import Workload
from bench.workloads import (
    choices,
    closure,
    cold,
    commits,
    limits,
    loading,
    lookups,
    maintenance,
    modules,
    ontologies,
    opening,
    programs,
    queries,
    rulecount,
    scalability,
    scale,
    schema,
    schemes,
    searches,
    spark,
    sparqloscope,
    subscriptions,
    tables,
    updates,
)

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        loading.WORKLOAD,
        opening.WORKLOAD,
        cold.WORKLOAD,
        commits.WORKLOAD,
        lookups.WORKLOAD,
        closure.WORKLOAD,
        rulecount.WORKLOAD,
        programs.WORKLOAD,
        maintenance.WORKLOAD,
        modules.WORKLOAD,
        schemes.WORKLOAD,
        scalability.WORKLOAD,
        scale.WORKLOAD,
        choices.WORKLOAD,
        searches.WORKLOAD,
        updates.WORKLOAD,
        subscriptions.WORKLOAD,
        ontologies.WORKLOAD,
        schema.WORKLOAD,
        queries.WORKLOAD,
        sparqloscope.WORKLOAD,
        spark.WORKLOAD,
        tables.WORKLOAD,
        limits.WORKLOAD,
        serving.WORKLOAD,
    )
}

__all__ = ["WORKLOADS", "Workload"]
