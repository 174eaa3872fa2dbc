"""Modules of cases, made for a test."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def module(name: str, **functions: Any) -> ModuleType:
    """A module like `harness.conformance.nameserver.test_<name>` that holds these functions."""
    made = ModuleType(f"harness.conformance.nameserver.test_{name}")
    for function_name, function in functions.items():
        function.__module__ = made.__name__
        setattr(made, function_name, function)
    return made
