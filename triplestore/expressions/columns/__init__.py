"""Functions of expressions with a form for columns: of strings, by kernels, and of times."""
