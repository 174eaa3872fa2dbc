"""Faults of the reference Broker, a module for each chapter of its catalogue."""
