"""The one thing that cases and rules touch: connect, call, send raw bytes, advance time, names.

Rules of this package: it imports ``harness.wire`` and ``harness.trace`` only; it keeps no state at module
level; what a target does is never an exception but an ``Outcome``; exceptions are verdicts (see ``errors``).
"""

from harness.session.broker import Broker
from harness.session.broker_session import BrokerSession
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
from harness.session.heard import HeardExchange, NameServerView
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
from harness.session.ports import free_port
from harness.session.probing import Answering, Heard, ProbingNameServer
from harness.session.probing_socket import ServedNameServer
from harness.session.session import Session
from harness.session.terms import TermSession
from harness.session.transport import (
    DEFAULT_SETUP,
    BrokerInstance,
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
    "Answering",
    "Blocked",
    "Broker",
    "BrokerInstance",
    "BrokerSession",
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
    "Heard",
    "HeardExchange",
    "Instance",
    "Listener",
    "Listening",
    "Mark",
    "Misuse",
    "NameServerSession",
    "NameServerView",
    "Outcome",
    "PeerReset",
    "ProbingNameServer",
    "ProfileName",
    "Replied",
    "RunningClock",
    "ServedNameServer",
    "Session",
    "Setup",
    "Silent",
    "SocketListening",
    "SocketTransport",
    "Stalled",
    "Stray",
    "TargetDied",
    "TermSession",
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
    "free_port",
]
