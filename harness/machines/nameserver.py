"""Machines of NameServers: their rules.

Rules of this module: those of `machine`.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from harness.machines import strategies as make
from harness.machines.machine import Machine, rule_of
from harness.machines.nameserver_role import NAMESERVER
from harness.machines.strategies import drawn
from harness.program.steps import AnyStep

__all__ = ["NameServerMachine"]


class NameServerMachine(Machine):
    """What all lines have in common."""

    role = NAMESERVER

    # --- rules ----------------------------------------------------------------------------------------------

    register = rule_of(make.registers)
    register_again = rule_of(make.registers_again)
    register_oddly = rule_of(make.registers_oddly)
    register_everywhere = rule_of(make.registers_everywhere)
    join = rule_of(make.joins)
    promote = rule_of(make.is_promoted)
    demote = rule_of(make.is_demoted)
    take_an_id = rule_of(make.takes_an_id)
    take_an_address = rule_of(make.takes_an_address)
    unregister = rule_of(make.unregisters)
    unregister_wrongly = rule_of(make.unregisters_wrongly)
    unregister_late = rule_of(make.unregisters_late)
    query_version = rule_of(make.asks_for_versions)
    wait = rule_of(make.waits)
    lie_idle = rule_of(make.lies_idle)
    permit = rule_of(make.permits)
    delete_topic = rule_of(make.deletes_a_topic)
    keep_pairs = rule_of(make.keeps_pairs)
    configure = rule_of(make.configures)
    write_settings = rule_of(make.writes_settings)
    order_a_topic = rule_of(make.orders_a_topic)
    come_back = rule_of(make.comes_back)
    describe_itself = rule_of(make.describes_itself)
    let_a_lease_end = rule_of(make.lets_a_lease_end)
    serve_a_zone = rule_of(make.serves_a_zone)
    crowd = rule_of(make.crowds)
    see_elsewhere = rule_of(make.is_seen_elsewhere)
    ask_for_a_route = rule_of(make.asks_for_a_route)
    ask_for_brokers = rule_of(make.asks_for_brokers)
    ask_for_pairs = rule_of(make.asks_for_pairs)
    ask_at_once = rule_of(make.asks_at_once)
    fail = rule_of(make.fails)
    close = rule_of(make.closes)
    reconnect = rule_of(make.reconnects)

    @precondition(lambda self: self.restarts)
    @rule(steps=drawn(make.restarts), rarely=st.integers(0, 3))
    def restart(self, steps: tuple[AnyStep, ...], rarely: int) -> None:
        """Every fourth time only: nothing is left of a server afterwards."""
        if rarely == 3 and self._may_restart():
            self.do(steps)


class _FiveMachine(NameServerMachine):
    """The rules that only 5.x knows."""

    five = True

    beat = rule_of(make.beats)
    act_as_master = rule_of(make.acts_as_master)
    register_topic = rule_of(make.registers_a_topic)
    map_a_topic = rule_of(make.maps_a_topic)
    lose_its_master = rule_of(make.loses_its_master)


NameServerMachine.in_five = _FiveMachine
