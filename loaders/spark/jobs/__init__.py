"""Jobs around an import or a closure: sessions, stages, reports, packaging. Start at `run_job`."""
