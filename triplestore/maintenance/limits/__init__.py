"""What an update may take: budgets, clocks, and expected costs."""
