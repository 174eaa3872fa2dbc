"""`selftest --generated`: the catalogue against faults that nobody wrote for it."""
