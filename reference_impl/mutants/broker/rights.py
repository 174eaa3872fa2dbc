"""Faults of rights of users (5.x)."""

from ipaddress import ip_address, ip_network

import msgspec

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.rights.access import USER, Rights
from reference_impl.broker.rights.needs import UPDATE, Need
from reference_impl.broker.rights.policies import CUSTOM, DENY, Acl
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

RETRY = "%RETRY%"


def _less(needs, command, kind, *codes):
    """What a request needs, without resources of a kind."""
    return [one for one in needs if command.code not in codes or not one.resource.startswith(kind)]


# -- what requests need --------------------------------------------------------------------------------------


@mutant(Rights.lack, "Rights are not looked at.", V5)
def rights_are_not_looked_at(original, self, name, need, address):
    return None


@mutant(Rights.needs, "Batches need no right.", V5)
def batches_of_users_need_no_right(original, self, command):
    return _less(original(self, command), command, "Topic", RequestCode.SEND_BATCH_MESSAGE)


@mutant(Rights.needs, "A send to a retry topic needs a right to that topic.", V5)
def retries_belong_to_no_group(original, self, command):
    topic = (command.ext or {}).get("b") or ""
    return [Need(f"Topic:{topic}", ("Pub",))] if topic.startswith(RETRY) else original(self, command)


@mutant(Rights.needs, "A send to a retry topic needs a right to the group that the sender says.", V5)
def retries_are_for_who_they_say(original, self, command):
    ext = command.ext or {}
    is_retry = (ext.get("b") or "").startswith(RETRY)
    return [Need(f"Group:{ext.get('a')}", ("Sub",))] if is_retry else original(self, command)


@mutant(Rights.needs, "Pulls need no right to the topic.", V5)
def pulls_need_no_topic(original, self, command):
    return _less(original(self, command), command, "Topic", RequestCode.PULL_MESSAGE)


@mutant(Rights.needs, "Pulls need no right to the group.", V5)
def pulls_need_no_group(original, self, command):
    return _less(original(self, command), command, "Group", RequestCode.PULL_MESSAGE)


@mutant(Rights.needs, "Heartbeats need no right.", V5)
def heartbeats_need_nothing(original, self, command):
    return _less(original(self, command), command, "", RequestCode.HEART_BEAT)


@mutant(Rights.needs, "A heartbeat needs rights to the first of its groups.", V5)
def heartbeats_need_rights_to_one_group(original, self, command):
    found = original(self, command)
    if command.code != RequestCode.HEART_BEAT:
        return found
    groups = [place for place, one in enumerate(found) if one.resource.startswith("Group:")]
    return found[: groups[1]] if len(groups) > 1 else found


@after(Rights.needs, "What has no name needs no right.", V5)
def what_has_no_name_needs_no_right(found):
    return [one for one in found if not one.resource.endswith(":null")]


@mutant(Rights.needs, "To unlock queues needs no right to their topics.", V5)
def unlocking_needs_no_topic(original, self, command):
    return _less(original(self, command), command, "Topic", RequestCode.UNLOCK_BATCH_MQ)


@mutant(Rights.needs, "To ask for the smallest offset needs no right.", V5)
def smallest_offsets_need_no_right(original, self, command):
    return _less(original(self, command), command, "", RequestCode.GET_MIN_OFFSET)


@mutant(Rights.needs, "Only the first resource of a request is looked at.", V5)
def second_resources_are_not_looked_at(original, self, command):
    return original(self, command)[:1]


@mutant(Rights.needs, "To make a topic needs the right to change it.", V5)
def making_needs_update(original, self, command):
    found = original(self, command)
    is_made = command.code == RequestCode.UPDATE_AND_CREATE_TOPIC
    return [Need(one.resource, (UPDATE,)) for one in found] if is_made else found


@mutant(Rights.needs, "To remove a topic needs no right.", V5)
def removing_topics_needs_no_right(original, self, command):
    return _less(original(self, command), command, "", RequestCode.DELETE_TOPIC_IN_BROKER)


@mutant(Rights.needs, "To make a user needs no right.", V5)
def making_users_needs_no_right(original, self, command):
    return _less(original(self, command), command, "", RequestCode.AUTH_CREATE_USER)


@mutant(Rights.needs, "To change rights needs the right to read of the cluster.", V5)
def giving_needs_get(original, self, command):
    found = original(self, command)
    is_giving = command.code == RequestCode.AUTH_UPDATE_ACL
    return [Need(one.resource, ("Get",)) for one in found] if is_giving else found


@mutant(Rights.needs, "To read the settings needs a right to the cluster.", V5)
def settings_need_a_right(original, self, command):
    needed = [Need(f"Cluster:{self.config.broker_cluster_name}", ("Get",))]
    return needed if command.code == RequestCode.GET_BROKER_CONFIG else original(self, command)


@mutant(Rights.fault, "A request that cannot be read needs nothing.", V5)
def unreadable_requests_need_nothing(original, self, command, address):
    fault = original(self, command, address)
    return None if fault == "parse authorization context error." else fault


# -- which entry decides -------------------------------------------------------------------------------------


@mutant(Rights.lack, "A Super user needs rights like all others.", V5)
def super_users_need_rights(original, self, name, need, address):
    lack = original(self, name, need, address)
    subject = f"{USER}{name}"
    entry = self.deciding(self.of(subject), need, address)
    is_denied = self.is_kept and subject in self.table and (entry is None or entry.decision == DENY)
    return f"{subject} has no right" if is_denied else lack


@mutant(Rights.is_about, "A resource is the beginning of names.", V5)
def names_are_beginnings(original, self, entry, need, address):
    longer = msgspec.structs.replace(entry, resource=f"{entry.resource.rstrip('*')}*")
    return original(self, longer, need, address)


@mutant(Rights.is_about, "The beginning of names is a name.", V5)
def beginnings_are_names(original, self, entry, need, address):
    resource = entry.resource
    name = resource if resource.endswith(":*") or resource == "*" else resource.rstrip("*")
    return original(self, msgspec.structs.replace(entry, resource=name), need, address)


@mutant(Rights.is_about, "An entry about everything is about nothing.", V5)
def everything_is_nothing(original, self, entry, need, address):
    return entry.resource != "*" and original(self, entry, need, address)


@mutant(Rights.is_about, "All is no action.", V5)
def all_is_no_action(original, self, entry, need, address):
    return entry.actions != ["All"] and original(self, entry, need, address)


@mutant(Rights.closest, "Of several entries, the last one decides.", V5)
def last_entries_decide(original, self, entries, need):
    return entries[-1]


@mutant(Rights.closest, "Of several beginnings, the shortest one decides.", V5)
def short_beginnings_decide(original, self, entries, need):
    literal = [one for one in entries if one.resource == need.resource]
    return original(self, literal, need) if literal else min(entries, key=lambda one: len(one.resource))


@mutant(Rights.closest, "Of two entries about the same, the one that allows decides.", V5)
def allowing_decides(original, self, entries, need):
    found = original(self, entries, need)
    same = [one for one in entries if one.resource == found.resource and one.decision != DENY]
    return same[0] if same else found


@mutant(Rights.is_about, "An entry about other actions decides, too.", V5)
def entries_about_other_actions_decide(original, self, entry, need, address):
    return original(self, msgspec.structs.replace(entry, actions=["All"]), need, address)


@mutant(Rights.deciding, "An entry of a Default policy decides like all others.", V5)
def default_policies_decide(original, self, policies, need, address):
    every = [msgspec.structs.replace(policy, policy_type=CUSTOM) for policy in policies]
    return original(self, every, need, address)


@mutant(Rights.is_about, "The addresses of an entry are not looked at.", V5)
def addresses_of_rights_are_not_looked_at(original, self, entry, need, address):
    return original(self, msgspec.structs.replace(entry, source_ips=[]), need, address)


@mutant(Rights.is_about, "A network is one address.", V5)
def networks_are_addresses(original, self, entry, need, address):
    alone = [one.partition("/")[0] for one in entry.source_ips]
    return original(self, msgspec.structs.replace(entry, source_ips=alone), need, address)


@mutant(Rights.is_about, "A network has no addresses below the one that it is written with.", V5)
def networks_begin_at_their_address(original, self, entry, need, address):
    here = int(ip_address(address))
    left = [one for one in entry.source_ips if ":" in one or int(ip_address(one.partition("/")[0])) <= here]
    if entry.source_ips and not left:
        return False
    return original(self, msgspec.structs.replace(entry, source_ips=left), need, address)


@mutant(Rights.is_about, "The first address of a network is not in it.", V5)
def networks_lack_their_first_address(original, self, entry, need, address):
    return _without(0, original, self, entry, need, address)


@mutant(Rights.is_about, "The last address of a network is not in it.", V5)
def networks_lack_their_last_address(original, self, entry, need, address):
    return _without(-1, original, self, entry, need, address)


def _without(end, original, self, entry, need, address):
    left = [one for one in entry.source_ips if str(ip_network(one, strict=False)[end]) != address]
    if entry.source_ips and not left:
        return False
    return original(self, msgspec.structs.replace(entry, source_ips=left), need, address)


@mutant(Rights.lack, "An unknown user may everything.", V5)
def unknown_users_may_everything(original, self, name, need, address):
    lack = original(self, name, need, address)
    return None if lack and lack.endswith(" not found.") else lack


@mutant(Rights.lack, "Who names no user may everything.", V5)
def who_names_no_user_may_everything(original, self, name, need, address):
    return None if name is None else original(self, name, need, address)


@mutant(Rights.lack, "Where no rights are kept, everybody may everything.", V5)
def rights_that_are_nowhere_are_all(original, self, name, need, address):
    return original(self, name, need, address) if self.is_kept else None


# -- rights, given and taken ---------------------------------------------------------------------------------


@mutant(Rights.put, "Rights replace all others of the user.", V5)
def rights_replace_all_others(original, self, subject, policies):
    self.table[subject] = Acl(policies, subject)
    self.save()


@mutant(Rights.put, "A second entry about a resource stands beside the first.", V5)
def entries_stand_beside_others(original, self, subject, policies):
    found = self.table.get(subject)
    if found is None:
        original(self, subject, policies)
    else:
        found.policies[0].entries += policies[0].entries
        self.save()


@mutant(Rights.put, "Every policy is a Custom one.", V5)
def policies_are_all_custom(original, self, subject, policies):
    original(self, subject, [msgspec.structs.replace(one, policy_type=CUSTOM) for one in policies])


@mutant(Rights.put, "Of several policies, the first changes what a user may, and the others nothing.", V5)
def later_policies_change_nothing(original, self, subject, policies):
    original(self, subject, policies[:1] if subject in self.table else policies)


@mutant(Rights.give, "Whom the field names counts before whom the body names.", V5)
def fields_name_before_bodies(original, self, command, connection, now):
    body = command.body.replace(b'"subject"', b'"other"')
    return original(self, msgspec.structs.replace(command, body=body), connection, now)


@mutant(Rights.remove, "What is said of a resource goes from policies of both kinds.", V5)
def rights_are_taken_from_all_kinds(original, self, subject, resource, kind):
    for one in (CUSTOM, "Default"):
        if subject in self.table:
            original(self, subject, resource, one)


@mutant(Rights.remove, "All rights of a user go.", V5)
def rights_are_taken_whole(original, self, subject, resource, kind):
    original(self, subject, None, kind)


@mutant(Rights.take, "The removal of rights that there are not succeeds.", V5)
def no_rights_are_taken(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.SUCCESS) if reply.remark == "The acl is not exist." else reply


@mutant(Rights.matching, "Filters of rights are not looked at.", V5)
def all_rights_are_listed(original, self, user, resource):
    return original(self, "", "")


@mutant(Rights.matching, "A user with a resource that is asked for is listed with all.", V5)
def rights_are_listed_whole(original, self, user, resource):
    return [self.table[one.subject] for one in original(self, user, resource)]


@mutant(Rights.matching, "Users with rights are listed in the order in which they were given some.", V5)
def rights_are_listed_as_they_came(original, self, user, resource):
    places = list(self.table)
    return sorted(original(self, user, resource), key=lambda one: places.index(one.subject))


@mutant(Rights.show_all, "A list of rights that lacks a filter is refused.", V5)
def lists_of_rights_need_both_filters(original, self, command, connection, now):
    if not {"subjectFilter", "resourceFilter"} <= (command.ext or {}).keys():
        raise RefusedError("there is no filter")
    return original(self, command, connection, now)


@after(Rights.show_all, "Where there are no rights, the list is empty.", V5)
def no_rights_are_an_empty_list(reply):
    reply.body = reply.body or b"[]"


@mutant(Rights.matching, "A filter of resources is one of users, too.", V5)
def names_of_users_are_resources(original, self, user, resource):
    named = [self.table[one] for one in sorted(self.table) if user in one and resource in one]
    return original(self, user, resource) or named


def _given_anyway(reply, remark):
    return Reply(ResponseCode.SUCCESS) if reply.remark == remark else reply


@mutant(Rights.give, "A resource of an unknown kind is left out.", V5)
def unknown_resources_are_left_out(original, self, command, connection, now):
    return _given_anyway(original(self, command, connection, now), "The resource is null.")


@mutant(Rights.give, "An entry without actions is left out.", V5)
def entries_without_actions_are_left_out(original, self, command, connection, now):
    return _given_anyway(original(self, command, connection, now), "The actions is empty.")


@mutant(Rights.give, "An entry with an address that cannot be read is left out.", V5)
def addresses_of_rights_are_left_out(original, self, command, connection, now):
    return _given_anyway(original(self, command, connection, now), "The source ip is invalid.")


@mutant(Rights.is_user, "Users that there are not have rights.", V5)
def strangers_have_rights(original, self, subject):
    return True


@mutant(Rights.give, "Rights of no user are given to none.", V5)
def rights_of_no_user_are_given(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError as refused:
        if str(refused) == "the subject is null":
            return Reply(ResponseCode.SUCCESS)
        raise


@mutant(Rights.forget, "Rights outlive their user.", V5)
def rights_outlive_their_user(original, self, name):
    pass


@mutant(Rights.save, "Rights are not written down.", V5)
def rights_are_not_stored(original, self):
    pass


@mutant(Rights.forget, "That the rights of a user are gone is not written down.", V5)
def rights_of_gone_users_are_stored(original, self, name):
    save, self.save = self.save, lambda: None
    original(self, name)
    self.save = save


@mutant(Rights.remove, "What is taken is not written down.", V5)
def taken_rights_are_stored(original, self, subject, resource, kind):
    save, self.save = self.save, lambda: None
    original(self, subject, resource, kind)
    self.save = save
