"""What the rules of a machine do: steps, chosen with regard to what should exist.

- A maker is a function of `Pick` and `ProgramState` that gives one or more steps. It is pure; all chance
  comes from `Pick`, and so from Hypothesis or from a seed.
- The first choice is the plainest everywhere: Hypothesis shrinks towards it.
- A maker that finds nothing to work on makes what it needs instead of giving up: a rule is never wasted.
"""

from harness.engine.nameserver.strategies.acting_master import acts_as_master
from harness.engine.nameserver.strategies.faults import closes, fails, reconnects, restarts
from harness.engine.nameserver.strategies.leases import asks_for_versions, beats, lies_idle, waits
from harness.engine.nameserver.strategies.pick import Maker, Pick
from harness.engine.nameserver.strategies.queries import (
    asks_at_once,
    asks_for_a_route,
    asks_for_brokers,
    asks_for_pairs,
)
from harness.engine.nameserver.strategies.readback import look, made
from harness.engine.nameserver.strategies.registering import (
    is_demoted,
    is_promoted,
    joins,
    registers,
    registers_again,
    registers_everywhere,
    registers_oddly,
    takes_an_address,
    takes_an_id,
)
from harness.engine.nameserver.strategies.scenarios import (
    comes_back,
    crowds,
    describes_itself,
    is_seen_elsewhere,
    lets_a_lease_end,
    loses_its_master,
    maps_a_topic,
    serves_a_zone,
)
from harness.engine.nameserver.strategies.state_changes import (
    configures,
    deletes_a_topic,
    keeps_pairs,
    orders_a_topic,
    permits,
    registers_a_topic,
    writes_settings,
)
from harness.engine.nameserver.strategies.unregister import unregisters, unregisters_late, unregisters_wrongly

__all__ = [
    "Maker",
    "Pick",
    "acts_as_master",
    "asks_at_once",
    "asks_for_a_route",
    "asks_for_brokers",
    "asks_for_pairs",
    "asks_for_versions",
    "beats",
    "closes",
    "comes_back",
    "configures",
    "crowds",
    "deletes_a_topic",
    "describes_itself",
    "fails",
    "is_demoted",
    "is_promoted",
    "is_seen_elsewhere",
    "joins",
    "keeps_pairs",
    "lets_a_lease_end",
    "lies_idle",
    "look",
    "loses_its_master",
    "made",
    "maps_a_topic",
    "orders_a_topic",
    "permits",
    "reconnects",
    "registers",
    "registers_a_topic",
    "registers_again",
    "registers_everywhere",
    "registers_oddly",
    "restarts",
    "serves_a_zone",
    "takes_an_address",
    "takes_an_id",
    "unregisters",
    "unregisters_late",
    "unregisters_wrongly",
    "waits",
    "writes_settings",
]
