"""From algebra to operators. Start at `planner.Planner`."""
