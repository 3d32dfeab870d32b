"""The program in force: rules of users, and rules made of axioms. Start at `in_force`."""
