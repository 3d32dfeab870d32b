"""Triple terms as columns of ids: which three terms each of them consists of."""
