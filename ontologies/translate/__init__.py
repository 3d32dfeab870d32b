"""From axioms to rules of a program. Start at `regimes.translate`."""
