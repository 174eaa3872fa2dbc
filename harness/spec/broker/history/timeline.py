"""How the calls on a Broker are written in a timeline."""

from __future__ import annotations

from harness.spec.broker.history.operations import Append, End, Nothing, Restarted, Shown
from harness.spec.history.register import Get, Put
from harness.spec.history.timeline import Texts


def _append(asked: Append) -> str:
    answer = {True: f"at {asked.offset}", False: "refused", None: "no answer"}[asked.accepted]
    return f"send {', '.join(asked.messages)} → {answer}"


def _shown(seen: Shown) -> str:
    messages = ", ".join(f"{message} at {place}" for place, message in seen.messages)
    return f"pull from {seen.offset} → {messages or 'messages, but none'}"


TEXTS: Texts = {
    Append: _append,
    Shown: _shown,
    Nothing: lambda one: f"pull from {one.offset} → {'beyond the end' if one.beyond else 'no new message'}",
    End: lambda one: f"next offset → {one.offset}",
    Restarted: lambda _: "the Broker is started again",
    Put: lambda one: f"commit {one.value}",
    Get: lambda one: f"committed → {one.value}",
}
"""By the type of the action."""
