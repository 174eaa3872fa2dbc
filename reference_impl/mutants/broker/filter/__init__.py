"""Faults of the chapter filter."""
