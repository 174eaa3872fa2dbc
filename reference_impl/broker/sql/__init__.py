"""Filters by SQL92: what they may say, and which messages they let pass."""

from .expressions import Selector
from .parser import NoExpressionError, compiled

__all__ = ["NoExpressionError", "Selector", "compiled"]
