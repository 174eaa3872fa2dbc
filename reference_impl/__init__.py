"""The reference implementation: one concrete reading of the catalogue, and what `builtin:` targets are."""
