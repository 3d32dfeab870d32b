"""The maintenance strategies, exchangeable from update to update and from stratum to stratum."""
