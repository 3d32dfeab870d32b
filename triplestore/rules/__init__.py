"""Rules compiled: simplified, grouped into families and strata. Start at `compiled_program`."""
