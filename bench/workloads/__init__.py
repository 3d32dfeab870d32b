"""The workloads, one per file, listed in `WORKLOADS`."""

from __future__ import annotations

from bench.serving import workload as serving
from bench.workload import Workload
from bench.workloads import (
    choices,
    classify,
    closure,
    cold,
    commits,
    federation,
    limits,
    loading,
    lookups,
    maintenance,
    modules,
    ontologies,
    opening,
    programs,
    pull_requests,
    queries,
    rulecount,
    scalability,
    scale,
    schema,
    schemes,
    searches,
    shacl,
    spark,
    sparqloscope,
    subscriptions,
    tables,
    text,
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
        shacl.WORKLOAD,
        ontologies.WORKLOAD,
        classify.WORKLOAD,
        schema.WORKLOAD,
        queries.WORKLOAD,
        sparqloscope.WORKLOAD,
        pull_requests.WORKLOAD,
        spark.WORKLOAD,
        tables.WORKLOAD,
        text.WORKLOAD,
        limits.WORKLOAD,
        serving.WORKLOAD,
        federation.WORKLOAD,
    )
}

__all__ = ["WORKLOADS", "Workload"]
