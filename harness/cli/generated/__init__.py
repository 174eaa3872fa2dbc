"""`selftest --generated`: the catalogue against faults that were not written for it."""
