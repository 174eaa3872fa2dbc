"""The dialect of JSON that fastjson 1.2 speaks: what Apache's servers write, and what they accept.

`parse` and `dumps` are values in, values out. `tree` and `locate` say where things are.
"""

from __future__ import annotations

from .emit import Dialect, document, dumps, quote
from .parse import VALUES_LIMIT, Node, ParseError, locate, parse, tree

__all__ = [
    "VALUES_LIMIT",
    "Dialect",
    "Node",
    "ParseError",
    "document",
    "dumps",
    "locate",
    "parse",
    "quote",
    "tree",
]
