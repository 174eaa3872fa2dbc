"""What `selftest` measures the catalogue by, besides mutants.

Code that no case runs (`--coverage`), and faults that were not written for the catalogue (`--generated`).
"""
