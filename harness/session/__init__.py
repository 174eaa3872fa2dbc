"""The one thing that cases and rules touch: connect, call, send raw bytes, advance time, names.

Rules of this package: it imports ``harness.wire`` and ``harness.trace`` only; it keeps no state at module
level; what a target does is never an exception but an ``Outcome``; exceptions are verdicts (see ``errors``).
"""

from harness.session.broker import Broker
from harness.session.clock import Clock, ClockKind, RunningClock, Timing, VirtualClock
from harness.session.connection import Connection
from harness.session.errors import (
    Blocked,
    CaseTimeout,
    Misuse,
    TargetDied,
    TooLate,
    Unjudged,
    Unmet,
    Unsupported,
)
from harness.session.exchange import Exchange
from harness.session.listener import Listener
from harness.session.nameserver import NameServerSession, ProfileName, announced_by
from harness.session.outcome import (
    Answer,
    ClosedBy,
    Decisive,
    Expectation,
    Garbled,
    Mark,
    Outcome,
    Replied,
    Silent,
    Stalled,
    Stray,
    Unreadable,
)
from harness.session.session import Session
from harness.session.transport import (
    DEFAULT_SETUP,
    Ending,
    Instance,
    Listening,
    PeerReset,
    Setup,
    SocketListening,
    SocketTransport,
    Transport,
    TransportTimeout,
    connect,
)

__all__ = [
    "DEFAULT_SETUP",
    "Answer",
    "Blocked",
    "Broker",
    "CaseTimeout",
    "Clock",
    "ClockKind",
    "ClosedBy",
    "Connection",
    "Decisive",
    "Ending",
    "Exchange",
    "Expectation",
    "Garbled",
    "Instance",
    "Listener",
    "Listening",
    "Mark",
    "Misuse",
    "NameServerSession",
    "Outcome",
    "PeerReset",
    "ProfileName",
    "Replied",
    "RunningClock",
    "Session",
    "Setup",
    "Silent",
    "SocketListening",
    "SocketTransport",
    "Stalled",
    "Stray",
    "TargetDied",
    "Timing",
    "TooLate",
    "Transport",
    "TransportTimeout",
    "Unjudged",
    "Unmet",
    "Unreadable",
    "Unsupported",
    "VirtualClock",
    "announced_by",
    "connect",
]
