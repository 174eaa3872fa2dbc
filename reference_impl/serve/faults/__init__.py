"""Faults between sockets and the servers of the reference: what goes wrong for requests that rules select.

1. A fault decides nothing that the protocol decides. It loses, refuses, holds back or changes what a server
   is asked, or what it has answered.
2. A server without rules is as if there were no faults: `Layer` steps in with the first rule, and out with
   the last (`layer.py`).
3. What goes wrong is an `Action`, who meets it is a `Selector`, how often is the `Rule`'s.
"""

from .actions import (
    Action,
    Close,
    Cut,
    Damage,
    Delay,
    LoseReply,
    LoseRequest,
    Refuse,
    Reset,
    Stall,
    StoredBut,
)
from .groups import Crowd, Repeat, SuggestSlave
from .layers import Layers
from .request import WORDS, Request
from .routes import EmptyRoute, NoMaster, ReversedRoute, StaleRoute
from .rule import Rule
from .selector import Selector

__all__ = [
    "WORDS",
    "Action",
    "Close",
    "Crowd",
    "Cut",
    "Damage",
    "Delay",
    "EmptyRoute",
    "Layers",
    "LoseReply",
    "LoseRequest",
    "NoMaster",
    "Refuse",
    "Repeat",
    "Request",
    "Reset",
    "ReversedRoute",
    "Rule",
    "Selector",
    "StaleRoute",
    "Stall",
    "StoredBut",
    "SuggestSlave",
]
