"""All requests of programs to Brokers."""

from __future__ import annotations

from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Ack, Allow, Check, Hide, Pop, Recall
from harness.program.broker.static_steps import MapTopic, Search

AnyRequest = (
    bk.MakeTopic
    | bk.DropTopic
    | bk.Send
    | bk.End
    | bk.Pull
    | bk.Beat
    | bk.Leave
    | bk.Members
    | bk.Commit
    | bk.Committed
    | bk.Bound
    | bk.Back
    | bk.Lock
    | bk.Find
    | bk.View
    | bk.Offsets
    | bk.Clone
    | bk.Reset
    | bk.Status
    | bk.Clean
    | bk.Switch
    | bk.Force
    | Allow
    | Check
    | Pop
    | Ack
    | Hide
    | Recall
    | MapTopic
    | Search
)
