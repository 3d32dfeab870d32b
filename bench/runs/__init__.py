"""The parts of workloads that run in child processes."""
