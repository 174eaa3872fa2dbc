"""The one thing that cases and rules touch: connect, call, send raw bytes, advance time, names.

It imports ``harness.wire`` and ``harness.trace`` only; it keeps no state at module
level; what a target does is never an exception but an ``Outcome``; exceptions are verdicts (see ``errors``).
"""

from harness.session.broker.session import BrokerSession
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
from harness.session.meanwhile import meanwhile
from harness.session.nameserver.broker import Broker
from harness.session.nameserver.controller_session import ControllerSession
from harness.session.nameserver.session import NameServerSession
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
    Unreadable,
    UnsolicitedFrame,
)
from harness.session.ports import free_port
from harness.session.probing.nameserver import Answering, ProbingNameServer, ReceivedRequest
from harness.session.probing.received import NameServerView, ReceivedExchange
from harness.session.probing.served import ServedNameServer
from harness.session.requests import Query
from harness.session.session import Session
from harness.session.terms import TermSession
from harness.session.transport import (
    DEFAULT_SETUP,
    BrokerInstance,
    CanRest,
    Ending,
    Instance,
    Listening,
    NameServerInstance,
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
    "CanRest",
    "CaseTimeout",
    "Clock",
    "ClockKind",
    "ClosedBy",
    "Connection",
    "ControllerSession",
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
    "NameServerInstance",
    "NameServerSession",
    "NameServerView",
    "Outcome",
    "PeerReset",
    "ProbingNameServer",
    "Query",
    "ReceivedExchange",
    "ReceivedRequest",
    "Replied",
    "RunningClock",
    "ServedNameServer",
    "Session",
    "Setup",
    "Silent",
    "SocketListening",
    "SocketTransport",
    "Stalled",
    "TargetDied",
    "TermSession",
    "Timing",
    "TooLate",
    "Transport",
    "TransportTimeout",
    "Unjudged",
    "Unmet",
    "Unreadable",
    "UnsolicitedFrame",
    "Unsupported",
    "VirtualClock",
    "connect",
    "free_port",
    "meanwhile",
]
