"""Faults of the reference NameServer, a module for each chapter of its catalogue."""
