"""What is measured, one file each. A workload is listed in `WORKLOADS` below."""

from __future__ import annotations

from bench.workloads import closure, commits, loading, lookups, opening
from bench.workloads.base import Workload

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        loading.WORKLOAD,
        opening.WORKLOAD,
        commits.WORKLOAD,
        lookups.WORKLOAD,
        closure.WORKLOAD,
    )
}

__all__ = ["WORKLOADS", "Workload"]
