"""Chapter administration: groups are created, shown, kept and deleted."""

from collections.abc import Mapping
from typing import Any

from harness.conformance import ABSENT, ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.tools import (
    ERROR,
    SUCCESS,
    SYSTEM_GROUPS,
    as_json,
    asked,
)
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo
from harness.session.views import body_member
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import TopicList
from harness.wire.fastjson import document

CHARACTERS = "contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"


def _topics(reply: Command) -> list[str]:
    return sorted(TopicList.decode(reply.body).topic_list)


@case(kills=["one-system-group-is-made"])
def test_groups_of_the_system_are_there(bk: BrokerSession) -> None:
    table = {name: Including({"groupName": name, "consumeEnable": True}) for name in SYSTEM_GROUPS}
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including(table)}))


@case(kills=["half-messages-have-no-group"])
def test_group_of_half_messages_is_there(bk: BrokerSession) -> None:
    table = {"CID_RMQ_SYS_TRANS": Including({"groupName": "CID_RMQ_SYS_TRANS", "consumeEnable": True})}
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including(table)}))


@case(kills=["groups-are-made-with-defaults"])
def test_group_is_created_as_requested(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group, retryQueueNums=3, retryMaxTimes=5) >> Reply(SUCCESS)
    made = Including({group: Including({"retryQueueNums": 3, "retryMaxTimes": 5, "consumeEnable": True})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))


@case(kills=["empty-groups-are-made"])
def test_group_without_body_is_refused(bk: BrokerSession) -> None:
    bk.create_group(bk.group()) >> Reply(SUCCESS)
    bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP) >> Reply(ERROR)


@case(kills=["groups-without-body-are-refused"])
def test_group_without_body_is_nothing(bk: BrokerSession) -> None:
    before = (bk.groups().json >> Reply(SUCCESS)).value
    bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP) >> Reply(SUCCESS)
    bk.groups().json >> Reply(SUCCESS, before)


@case(kills=["attributes-of-groups-are-not-judged", "attributes-of-listed-groups-are-not-judged"])
def test_unknown_attribute_of_a_group_is_refused(bk: BrokerSession) -> None:
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
    names = []
    for key in ("+nonsense", "nonsense"):
        one, listed = {"groupName": bk.group()}, {"groupName": bk.group()}
        bk.create_group(one["groupName"], attributes={key: "1"}) >> Reply(ERROR)
        body = document({"groupConfigList": [{**listed, "attributes": {key: "1"}}]})
        bk.call(code, None, body) >> Reply(ERROR)
        names += [one["groupName"], listed["groupName"]]
    none = Including(dict.fromkeys(names, ABSENT))
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": none}))


def has_attributes(bk: BrokerSession, group: str, **attributes: str) -> None:
    """Judges the attributes of a group."""
    shown = Including({group: Including({"attributes": attributes})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))


FACTOR = "priority.factor"


@case(kills=["attributes-of-groups-are-replaced", "attributes-of-groups-stay"])
def test_attributes_of_a_group_are_kept(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group, attributes={f"+{FACTOR}": "50"}) >> Reply(SUCCESS)
    has_attributes(bk, group, **{FACTOR: "50"})
    bk.create_group(group, attributes={f"+{FACTOR}": "60"}) >> Reply(SUCCESS)
    has_attributes(bk, group, **{FACTOR: "60"})
    bk.create_group(group, attributes={}) >> Reply(SUCCESS)
    has_attributes(bk, group, **{FACTOR: "60"})
    bk.create_group(group, attributes={f"-{FACTOR}": ""}) >> Reply(SUCCESS)
    has_attributes(bk, group)


@case(kills=["attributes-of-groups-have-any-value", "attributes-of-groups-are-not-judged"])
def test_wrong_attributes_of_a_group_are_refused(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for value in ("-1", "101", "x"):
        bk.create_group(group, attributes={f"+{FACTOR}": value}) >> Reply(ERROR)
    bk.create_group(group, attributes={f"-{FACTOR}": ""}) >> Reply(ERROR)
    for value in ("0", "100"):
        bk.create_group(group, attributes={f"+{FACTOR}": value}) >> Reply(SUCCESS)
        has_attributes(bk, group, **{FACTOR: value})


@case(kills=["groups-are-not-deleted"])
def test_deleted_group_is_gone(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}) >> Reply(SUCCESS)
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ABSENT})}))


def shown_group(bk: BrokerSession, group: str) -> Exchange:
    """GET_SUBSCRIPTIONGROUP_CONFIG (352)."""
    return asked(bk, RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, group=group)


@case(kills=["newest-group-is-shown", "group-is-shown-without-policy", "groups-never-lose-a-flag"])
def test_group_is_shown(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group, **OTHERS_5X) >> Reply(SUCCESS)
    bk.create_group(bk.group(), retryMaxTimes=7) >> Reply(SUCCESS)
    made = {"groupName": group, **DEFAULTS_5X, **OTHERS_5X}
    shown_group(bk, group) >> Reply(SUCCESS, made)
    changed = {
        **made,
        **DEFAULTS,
        "consumeMessageOrderly": False,
        "groupSysFlag": 5,
        "consumeTimeoutMinute": 9,
    }
    bk.create_group(group, **changed) >> Reply(SUCCESS)
    shown_group(bk, group) >> Reply(SUCCESS, changed)


@case(kills=["group-that-is-asked-for-is-unknown"])
def test_group_that_is_asked_for_is_created(bk: BrokerSession) -> None:
    group = bk.group()
    shown_group(bk, group) >> Reply(SUCCESS, Including({"groupName": group, "retryMaxTimes": 16}))
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ANYTHING})}))


@case(kills=["unknown-group-is-shown"], setup={"autoCreateSubscriptionGroup": "false"})
def test_unknown_group_is_not_shown(bk: BrokerSession) -> None:
    shown_group(bk, bk.group()) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


@case(kills=["topics-of-all-groups-are-shown", "topics-of-groups-are-nowhere"])
def test_topics_of_a_group(bk: BrokerSession) -> None:
    topics, group, other, idle = [bk.topic() for _ in range(3)], bk.group(), bk.group(), bk.group()
    for member in (group, other, idle):
        bk.create_group(member) >> Reply(SUCCESS)
    bk.commit_offset(group, topics[0], 0, 0) >> Reply(SUCCESS)
    bk.commit_offset(group, topics[2], 1, 0) >> Reply(SUCCESS)
    bk.commit_offset(other, topics[1], 0, 0) >> Reply(SUCCESS)
    code = RequestCode.QUERY_TOPICS_BY_CONSUMER
    asked(bk, code, _topics, group=group) >> Reply(SUCCESS, sorted([topics[0], topics[2]]))
    asked(bk, code, group=idle) >> Reply(SUCCESS, {"brokerAddr": bk.broker_address, "topicList": []})


@case(kills=["any-subscription-is-shown", "subscription-of-group-is-hidden", "subscriptions-lose-tags"])
def test_subscription_of_a_group(bk: BrokerSession) -> None:
    topic, other, group = bk.topic(), bk.topic(), bk.group()
    client, connection = bk.client()
    code = RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER
    asked(bk, code, group=group, topic=topic) >> Reply(SUCCESS, {"group": group, "topic": topic})
    wants = consuming(group, {topic: "A || B"}, version=7)
    bk.heartbeat(client, consumers=[wants], on=connection) >> Reply(SUCCESS)
    (wanted,) = wants["subscriptionDataSet"]
    online = {"group": group, "topic": topic, "subscriptionData": wanted}
    asked(bk, code, group=group, topic=topic) >> Reply(SUCCESS, online)
    asked(bk, code, group=group, topic=other) >> Reply(SUCCESS, {"group": group, "topic": other})


DEFAULTS = {
    "consumeEnable": True,
    "consumeFromMinEnable": True,
    "consumeBroadcastEnable": True,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "notifyConsumerIdsChangedEnable": True,
}
DEFAULTS_5X = {
    **DEFAULTS,
    "consumeMessageOrderly": False,
    "groupRetryPolicy": {"type": "CUSTOMIZED"},
    "groupSysFlag": 0,
    "consumeTimeoutMinute": 15,
    "attributes": {},
}
OTHERS = {
    "consumeEnable": False,
    "consumeFromMinEnable": False,
    "consumeBroadcastEnable": False,
    "retryQueueNums": 3,
    "retryMaxTimes": 5,
    "brokerId": 2,
    "whichBrokerWhenConsumeSlowly": 4,
    "notifyConsumerIdsChangedEnable": False,
}
OTHERS_5X = {**OTHERS, "consumeMessageOrderly": True, "groupSysFlag": 6, "consumeTimeoutMinute": 7}


def made_groups(bk: BrokerSession, defaults: Mapping[str, Any], others: Mapping[str, Any]) -> Including:
    """Two groups, one without any member and one with these; the table that shows them."""
    plain, other = bk.group("plain"), bk.group("other")
    bk.create_group(plain) >> Reply(SUCCESS)
    bk.create_group(other, **others) >> Reply(SUCCESS)
    shown = {plain: {"groupName": plain, **defaults}, other: {"groupName": other, **defaults, **others}}
    table = Including({"subscriptionGroupTable": Including(shown)})
    bk.groups().json >> Reply(SUCCESS, table)
    return table


@case(kills=["groups-are-made-with-defaults", "groups-lose-members-of-5x"])
def test_group_has_all_members_of_5x(bk: BrokerSession) -> None:
    made_groups(bk, DEFAULTS_5X, OTHERS_5X)


@case(kills=["groups-are-made-with-defaults", "groups-have-members-of-5x"])
def test_group_has_all_members_of_4_9(bk: BrokerSession) -> None:
    made_groups(bk, DEFAULTS, OTHERS)


def groups_over_kills(bk: BrokerSession, defaults: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """The last change before one kill is of a group that is there, before the other a deletion."""
    table = made_groups(bk, defaults, others)
    group = bk.group("changed")
    bk.create_group(group) >> Reply(SUCCESS)
    bk.create_group(group, **others) >> Reply(SUCCESS)
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, table)
    changed = Including({group: {"groupName": group, **defaults, **others}})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": changed}))
    delete_group(bk, group) >> Reply(SUCCESS)
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, table)
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ABSENT})}))


@case(
    kills=[
        "restarts-forget-groups",
        "changed-groups-are-not-written",
        "deleted-groups-are-not-written",
        "groups-begin-with-the-backup",
    ],
    own_server=True,
)
def test_groups_of_5x_survive_a_kill(bk: BrokerSession) -> None:
    groups_over_kills(bk, DEFAULTS_5X, OTHERS_5X)


@case(
    kills=[
        "restarts-forget-groups",
        "changed-groups-are-not-written",
        "deleted-groups-are-not-written",
        "groups-begin-with-the-backup",
    ],
    own_server=True,
)
def test_groups_of_4_9_survive_a_kill(bk: BrokerSession) -> None:
    groups_over_kills(bk, DEFAULTS, OTHERS)


def delete_group(bk: BrokerSession, group: str, **ext: str) -> Exchange:
    """DELETE_SUBSCRIPTIONGROUP (207)."""
    return bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group, **ext}, about=group)


@case(kills=["groups-need-no-name"])
def test_group_without_name_is_refused(bk: BrokerSession) -> None:
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    bk.call(code, None, b'{"retryMaxTimes":5}') >> Reply(ERROR)
    bk.create_group(bk.group(), retryMaxTimes=5) >> Reply(SUCCESS)


@case(
    kills=[
        "groups-need-no-name",
        "groups-have-any-name",
        "groups-have-long-names",
        "groups-have-shorter-names",
        "names-in-a-list-of-groups-are-free",
    ]
)
def test_illegal_name_of_a_group_is_refused(bk: BrokerSession) -> None:
    long, longest, one, other = "x" * 121, bk.group().ljust(120, "x"), bk.group("one"), bk.group("other")
    illegal = {
        "": "The specified group is blank.",
        " ": "The specified group is blank.",
        "a b": f"The specified group: a b, {CHARACTERS}",
        "Grüße": f"The specified group: Grüße, {CHARACTERS}",
        long: f"The specified group: {long}, is longer than group max length: 120",
    }
    blank = Reply(ResponseCode.INVALID_PARAMETER, remark=illegal[""])
    bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, b'{"retryMaxTimes":5}') >> blank
    for group, remark in illegal.items():
        refused = Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        bk.create_group(group) >> refused
        named = b",".join(document({"groupName": name}) for name in (one, group, other))
        bk.call(SEVERAL, None, b'{"groupConfigList":[' + named + b"]}") >> refused
    bk.create_group(longest) >> Reply(SUCCESS)
    made = {longest: ANYTHING} | dict.fromkeys((one, other, *illegal), ABSENT)
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including(made)}))


def part(bk: BrokerSession, first: int, most: int, version: str = "") -> Exchange:
    """GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201) of a part: its groups, and those that lack a right."""
    said = {"groupSeq": str(first), "maxGroupNum": str(most), "dataVersion": version}
    return asked(bk, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, _names_of_groups, **said)


def _names_of_groups(reply: Command) -> list[list[str]]:
    shown = as_json(reply)
    return [sorted(shown["subscriptionGroupTable"]), sorted(shown["forbiddenTable"])]


@case(
    kills=[
        "tables-are-shown-as-a-whole",
        "any-version-goes-on",
        "parts-do-not-show-the-total",
        "parts-show-all-that-is-forbidden",
    ]
)
def test_table_of_groups_comes_in_parts(bk: BrokerSession) -> None:
    one, *others = (bk.group() for _ in range(5))
    topic = bk.topic()
    for group in (one, *others):
        bk.create_group(group) >> Reply(SUCCESS)
        said = {"group": group, "topic": topic, "readable": "false"}
        bk.call(RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, said) >> Reply(SUCCESS)
    shown = {"subscriptionGroupTable": ANYTHING, "dataVersion": Including({"counter": ANYTHING})}
    forbidden = Including({"forbiddenTable": Including({one: ANYTHING}), **shown})
    whole = (bk.groups().json >> Reply(SUCCESS, forbidden)).value
    names, version = sorted(whole["subscriptionGroupTable"]), document(whole["dataVersion"]).decode()
    changed = document({**whole["dataVersion"], "counter": 1_000_000}).decode()
    total = Including({"totalGroupNum": str(len(names))})
    part(bk, 0, 2) >> Reply(SUCCESS, [names[:2], ANYTHING], ext=total)
    part(bk, names.index(one), 1, version) >> Reply(SUCCESS, [[one], [one]], ext=total)
    for first, most in ((2, 2), (3, 3)):
        shown_part = [names[first : first + most], ANYTHING]
        part(bk, first, most, version) >> Reply(SUCCESS, shown_part, ext=total)
    part(bk, names.index(one), 1, changed) >> Reply(SUCCESS, [names[:1], ANYTHING], ext=total)


def deletion_forgets(bk: BrokerSession, name: str, other_name: str) -> None:
    """A deletion forgets offsets if this field asks for it, which another line calls otherwise."""
    topics, (first, second, third) = [bk.topic(), bk.topic("U")], [bk.group(), bk.group(), bk.group()]
    for number, group in enumerate((first, second, third), 5):
        bk.create_group(group) >> Reply(SUCCESS)
        for topic in topics:
            bk.commit_offset(group, topic, 1, number) >> Reply(SUCCESS)
    delete_group(bk, first, **{name: "true"}) >> Reply(SUCCESS)
    delete_group(bk, second, **{name: "false", other_name: "true"}) >> Reply(SUCCESS)
    table: dict[str, Any] = {}
    for topic in topics:
        kept = {f"{topic}@{second}": {"1": 6}, f"{topic}@{third}": {"1": 7}}
        table |= {f"{topic}@{first}": ABSENT, **kept}
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(kills=["deletion-keeps-offsets-of-groups", "deletion-always-forgets-offsets-of-groups"])
def test_deletion_of_a_group_forgets_offsets_on_request_of_4_9(bk: BrokerSession) -> None:
    deletion_forgets(bk, "removeOffset", "cleanOffset")


@case(kills=["deletion-keeps-offsets-of-groups", "deletion-always-forgets-offsets-of-groups"])
def test_deletion_of_a_group_forgets_offsets_on_request_of_5x(bk: BrokerSession) -> None:
    deletion_forgets(bk, "cleanOffset", "removeOffset")


@case(kills=["forgotten-offsets-come-back"], own_server=True)
def test_forgotten_offsets_stay_forgotten(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group()
    for number, name in enumerate((group, other), 5):
        bk.create_group(name) >> Reply(SUCCESS)
        bk.commit_offset(name, topic, 1, number) >> Reply(SUCCESS)
    bk.restart()
    delete_group(bk, group, removeOffset="true", cleanOffset="true") >> Reply(SUCCESS)
    bk.restart()
    table = {f"{topic}@{group}": ABSENT, f"{topic}@{other}": {"1": 6}}
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(kills=["deletion-of-unknown-groups-is-a-change"], own_server=True)
def test_deletion_of_an_unknown_group_changes_nothing(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    version = body_member("dataVersion", "counter", of=int)
    before: int = (bk.groups().seen_as(version) >> Reply(SUCCESS)).value
    delete_group(bk, bk.group()) >> Reply(SUCCESS)
    bk.groups().seen_as(version) >> Reply(SUCCESS, before)
    delete_group(bk, group) >> Reply(SUCCESS)
    bk.groups().seen_as(version) >> Reply(SUCCESS, before + 1)


@case(kills=["first-group-of-topic-is-hidden", "last-group-of-topic-is-hidden"], own_server=True)
def test_groups_of_a_topic_are_all_shown(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    groups = [bk.group(f"offline{number}") for number in range(3)]
    for group, name in zip(groups, (topic, other, topic), strict=True):
        bk.create_group(group) >> Reply(SUCCESS)
        bk.commit_offset(group, name, 0, 0) >> Reply(SUCCESS)
    for name, shown in ((topic, [groups[0], groups[2]]), (other, [groups[1]])):
        asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, _group_list, topic=name) >> Reply(SUCCESS, shown)


@case(kills=["first-group-of-topic-is-hidden", "last-group-of-topic-is-hidden"], own_server=True)
def test_groups_of_a_topic_that_are_online(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    groups = [bk.group(f"online{number}") for number in range(3)]
    for group, name in zip(groups, (topic, other, topic), strict=True):
        wants = [consuming(group, [name])]
        bk.heartbeat(bk.name("client"), consumers=wants, on=bk.connect()) >> Reply(SUCCESS)
    expected = (topic, [groups[0], groups[2]]), (other, [groups[1]])
    for name, shown in expected:
        asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, _group_list, topic=name) >> Reply(SUCCESS, shown)
    bk.create_group(groups[0]) >> Reply(SUCCESS)
    bk.commit_offset(groups[0], topic, 0, 0) >> Reply(SUCCESS)
    for name, shown in expected:
        asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, _group_list, topic=name) >> Reply(SUCCESS, shown)


def _group_list(reply: Command) -> list[str]:
    found = as_json(reply)
    if not isinstance(found, dict) or not isinstance(found.get("groupList"), list):
        raise NotSo("there is no groupList")
    return sorted(map(str, found["groupList"]))


@case(kills=["null-in-quotes-is-false"])
def test_null_in_quotes_is_no_boolean(bk: BrokerSession) -> None:
    group, names = bk.group(), ("consumeEnable", "consumeFromMinEnable", "consumeBroadcastEnable")
    bk.create_group(group, **dict(zip(names, ("null", "NULL", ""), strict=True))) >> Reply(SUCCESS)
    made = Including({group: Including(dict.fromkeys(names, True))})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))
    bk.create_group(group, consumeEnable="false") >> Reply(SUCCESS)
    made = Including({group: Including({"consumeEnable": False})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))


SEVERAL = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST


def counter(bk: BrokerSession) -> int:
    """How often the table of groups has changed."""
    version = Including({"counter": Between(1, 1 << 30)})
    shown = bk.groups().json >> Reply(SUCCESS, Including({"dataVersion": version}))
    return int(shown.value["dataVersion"]["counter"])


@case(kills=["first-group-of-a-list-is-made", "lists-of-groups-are-new"], own_server=True)
def test_several_groups_are_created_at_once(bk: BrokerSession) -> None:
    known, new = bk.group("known"), bk.group("new")
    bk.create_group(known, consumeFromMinEnable=False) >> Reply(SUCCESS)
    before = counter(bk)
    wanted = [{"groupName": known, "retryMaxTimes": 3}, {"groupName": new, "consumeEnable": False}]
    one, two = (document(group) for group in wanted)
    body = b'{"groupConfigList":[' + one + b" " * 70_000 + b"," + two + b"]}"
    bk.call(SEVERAL, None, body) >> Reply(SUCCESS)
    made = {
        known: Including({"retryMaxTimes": 3, "consumeEnable": True, "consumeFromMinEnable": True}),
        new: Including({"retryMaxTimes": 16, "consumeEnable": False}),
    }
    version = Including({"counter": before + 2})
    shown = {"dataVersion": version, "subscriptionGroupTable": Including(made)}
    bk.groups().json >> Reply(SUCCESS, Including(shown))


@case(kills=["lists-of-no-groups-are-made"])
def test_list_of_groups_needs_a_body(bk: BrokerSession) -> None:
    for body in (b"", b"{}", b"x"):
        bk.call(SEVERAL, None, body) >> Reply(ERROR, remark=Matching("."))
    bk.call(SEVERAL, None, document({"groupConfigList": []})) >> Reply(SUCCESS)
