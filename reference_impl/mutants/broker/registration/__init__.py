"""Faults of the chapter registration."""
