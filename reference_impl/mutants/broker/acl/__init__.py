"""Mutants of access control."""
