"""Faults of the chapter pop."""
