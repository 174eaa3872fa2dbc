"""Faults of the controller, by subject."""
