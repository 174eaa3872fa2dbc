"""The JSON of Apache's servers: what they write, and what they accept.

Their engine is fastjson 1.2 up to 5.3, and fastjson2 from 5.4 on.
`parse` and `dumps` are values in, values out. `tree` and `locate` say where things are.
"""

from __future__ import annotations

from .emit import Dialect, document, dumps, quote, restated
from .parse import VALUES_LIMIT, Engine, Node, ParseError
from .reading import locate, parse, tree

__all__ = [
    "VALUES_LIMIT",
    "Dialect",
    "Engine",
    "Node",
    "ParseError",
    "document",
    "dumps",
    "locate",
    "parse",
    "quote",
    "restated",
    "tree",
]
