"""Faults of registration (code 103): whose id it is, and what a name says of itself (5.x)."""

from reference_impl.mutants.registry import V5, mutant
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53

# -- whose id it is (5.x) ------------------------------------------------------------------------------------


@mutant(RouteTable.conflicts, "The holder of an id is replaced whatever its stateVersion.", V5)
def state_version_gives_no_right(original, self, broker, registration):
    return False


@mutant(RouteTable53.outranks, "The holder of an id is kept when stateVersions are equal.")
def equal_state_version_conflicts(original, self, holder, registrant):
    return (holder.state_version or 0) >= (registrant.state_version or 0)


@mutant(RouteTable53.outranks, "The holder of an id is kept against greater stateVersions.")
def greater_state_version_conflicts(original, self, holder, registrant):
    return (holder.state_version or 0) != (registrant.state_version or 0)


@mutant(RouteTable53.outranks, "The holder of an id is kept if it has registered without a stateVersion.")
def missing_state_version_is_the_greatest(original, self, holder, registrant):
    return holder.state_version is None or original(self, holder, registrant)


@mutant(RouteTable.conflicts, "The greatest stateVersion that a name ever had decides who holds an id.", V5)
def greatest_state_version_holds_the_id(original, self, broker, registration):
    greatest: dict[str, int] = self.__dict__.setdefault("greatest_state_version", {})
    held = broker.addresses.get(registration.id, registration.address)
    versions = [record.version.state_version or 0 for record in self.live.values()]
    most = greatest[broker.name] = max([greatest.get(broker.name, 0), *versions])
    return held != registration.address and most > (registration.version.state_version or 0)


@mutant(RouteTable.conflicts, "An address cannot lower its own stateVersion.", V5)
def holder_conflicts_with_itself(original, self, broker, registration):
    record = self.live.get(self.live_key(registration.cluster, broker.addresses.get(registration.id, "")))
    return record is not None and (
        (registration.version.state_version or 0) < (record.version.state_version or 0)
    )


@mutant(RouteTable.refuses, "A registration with a lower stateVersion than the holder's is refused.", V5)
def conflict_is_refused(original, self, broker, registration):
    conflicts = broker is not None and self.conflicts(broker, registration)
    return conflicts or original(self, broker, registration)


# -- who takes a free id -------------------------------------------------------------------------------------


@mutant(RouteTable.put_address, "A registration is the first one of a new name only, not of a free id.", V5)
def free_id_of_a_known_name_is_not_first(original, self, broker, registration):
    original(self, broker, registration)
    return False


@mutant(RouteTable.put_address, "A free id is none to an address whose lease is running.")
def free_id_of_a_live_address_is_not_first(original, self, broker, registration):
    key = self.live_key(registration.cluster, registration.address)
    return original(self, broker, registration) and key not in self.live


# -- what a name says of itself (5.x) ------------------------------------------------------------------------


@mutant(RouteTable.describe, "A name that once said enableActingMaster=true keeps it.", V5)
def acting_master_flag_sticks(original, self, broker, registration):
    registration.acting_master = registration.acting_master or broker.acting_master or None
    original(self, broker, registration)


@mutant(RouteTable.describe, "A route that was shown keeps zone and acting master of its names.", V5)
def routes_keep_what_a_name_says_of_itself(original, self, broker, registration):
    before = self.revision
    original(self, broker, registration)
    self.revision = before


@mutant(RouteTable.describe, "A broker name keeps the first zone that it named.", V5)
def zone_sticks(original, self, broker, registration):
    registration.zone = broker.zone or registration.zone
    original(self, broker, registration)


@mutant(RouteTable53.store_mapping, "Static-topic mappings of a registration are not kept.")
def mappings_are_not_kept(original, self, topic, name, mapping):
    return None


@mutant(RouteTable.reject, "The registrant of an ignored registration keeps its data version.", V5)
def ignored_registrants_stay_live(original, self, broker, registration):
    self.forget_other_ids(broker, registration)


@mutant(RouteTable.reject, "A route that was shown keeps the id that an ignored registrant had.", V5)
def routes_keep_the_id_of_ignored_registrants(original, self, broker, registration):
    before = self.revision
    original(self, broker, registration)
    self.revision = before


@mutant(RouteTable.reject, "The registrant of an ignored registration keeps the id that it had.", V5)
def ignored_registrants_keep_their_id(original, self, broker, registration):
    self.live.pop(self.live_key(registration.cluster, registration.address), None)
