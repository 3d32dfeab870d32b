"""The search for proofs that B/F and FBF need. Start at `proof_search`."""
