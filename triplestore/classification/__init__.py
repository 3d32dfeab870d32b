"""What ontologists ask of a store under `owl-el`: the taxonomy, proofs, and justifications.

Start at `taxonomy.Taxonomy`, `el_proof.ElProof` and `justify.justifications`.
"""
