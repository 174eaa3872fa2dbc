"""What was recorded on the wire, byte for byte: the truth, where a seed is only a hint.

It imports nothing of ours, reads no clock, opens no socket, and knows no report.
"""

from harness.trace.events import (
    BETWEEN,
    LINE_BREAK,
    Closed,
    Event,
    Header,
    How,
    Note,
    Opened,
    Purpose,
    Received,
    Sent,
)
from harness.trace.pcap import PcapWriter, write_pcap
from harness.trace.store import Recorder, Trace, TraceError, TraceWriter, open_trace, read_trace, write_trace

__all__ = [
    "BETWEEN",
    "LINE_BREAK",
    "Closed",
    "Event",
    "Header",
    "How",
    "Note",
    "Opened",
    "PcapWriter",
    "Purpose",
    "Received",
    "Recorder",
    "Sent",
    "Trace",
    "TraceError",
    "TraceWriter",
    "open_trace",
    "read_trace",
    "write_pcap",
    "write_trace",
]
