"""Plans that are kept and used again with other constants. Start at `kept_plans`."""
