"""Mutants of the chapter administration."""
