"""Commands that examine data: proofs, comparisons, shapes, taxonomies."""
