"""Machines of Brokers: their rules.

Rules of this module: those of `harness.machines.machine`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from harness.machines.broker import strategies as make
from harness.machines.broker.role import BROKER
from harness.machines.machine import Machine, rule_of
from harness.machines.strategies import Maker, drawn_plainly
from harness.program.steps import AnyStep

__all__ = ["BrokerMachine"]


def _rule(maker: Maker) -> Any:
    return rule_of(maker, drawn_plainly)


class BrokerMachine(Machine):
    """What both lines have in common."""

    role = BROKER

    make_topic = _rule(make.makes_a_topic)
    send = _rule(make.sends)
    send_several = _rule(make.sends_several)
    send_a_batch = _rule(make.sends_a_batch)
    send_delayed = _rule(make.sends_delayed)
    begin_a_transaction = _rule(make.begins_a_transaction)
    end_a_transaction = _rule(make.ends_a_transaction)
    pull = _rule(make.pulls)
    wait_for_a_message = _rule(make.waits_for_a_message)
    join = _rule(make.joins)
    leave = _rule(make.leaves)
    commit_an_offset = _rule(make.commits_an_offset)
    ask_for_offsets = _rule(make.asks_for_offsets)
    send_back = _rule(make.sends_back)
    lock = _rule(make.locks)
    ask_by_key = _rule(make.asks_by_key)
    ask_by_id = _rule(make.asks_by_id)
    wait = _rule(make.waits)
    fail = _rule(make.fails)
    close = _rule(make.closes)
    delete_topic = _rule(make.deletes_a_topic)

    @precondition(lambda self: self.restarts)
    @rule(steps=drawn_plainly(make.switches), rarely=st.integers(0, 1))
    def switch(self, steps: tuple[AnyStep, ...], rarely: int) -> None:
        """Every second time only, and on Brokers that are ours: somebody else's keeps the role it has."""
        if rarely == 1:
            self.do(steps)

    @precondition(lambda self: self.restarts)
    @rule(steps=drawn_plainly(make.restarts), rarely=st.integers(0, 1))
    def restart(self, steps: tuple[AnyStep, ...], rarely: int) -> None:
        """Every second time only."""
        if rarely == 1 and self._may_restart():
            self.do(steps)


class _FiveMachine(BrokerMachine):
    five = True


BrokerMachine.in_five = _FiveMachine
