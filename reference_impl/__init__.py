"""The reference implementation: one concrete reading of the catalogue, the server that `builtin:` judges
cases with."""
