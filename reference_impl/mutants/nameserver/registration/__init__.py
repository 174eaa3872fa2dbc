"""Faults of registration (code 103)."""
