"""Mutants of what is shown to tools and told to clients: members of bodies that are missing, or wrong."""

import re

from harness.wire import RequestCode
from reference_impl.broker.core import Broker
from reference_impl.broker.ha_membership import HaMembership
from reference_impl.broker.settings import Settings
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import ALL, V4, V5, family, mutant

_TABLES = (
    RequestCode.GET_TOPIC_STATS_INFO,
    RequestCode.GET_CONSUME_STATS,
    RequestCode.GET_BROKER_CONSUME_STATS,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
)
_VERSIONED = (
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    RequestCode.GET_ALL_DELAY_OFFSET,
)
_PROGRESS = (RequestCode.GET_CONSUME_STATS, RequestCode.GET_BROKER_CONSUME_STATS)
_CLIENTS = (RequestCode.GET_CONSUMER_CONNECTION_LIST, RequestCode.GET_PRODUCER_CONNECTION_LIST)


def shown(description, *codes, profiles=ALL):
    """Answer requests of these codes with a body that the function has changed."""

    @family(Broker.execute)
    def execute(change, original, self, command, connection, now):
        reply = original(self, command, connection, now)
        if command.code in codes and reply is not None and reply.body:
            reply.body = change(reply.body)
        return reply

    return execute(description, profiles)


def _without(name, body):
    """A body without a member whose value is a scalar, an object or a list."""
    value = rb'(?:"[^"]*"|[-0-9.E]+|true|false|\{[^{}]*\}|\[[^\[\]]*\])'
    return re.sub(rb'"%s":%s,|,"%s":%s' % (name, value, name, value), b"", body)


def lacks(name, member, description, *codes, profiles=ALL):
    """A mutant of this name whose answers to requests of these codes lack a member."""

    def change(body):
        return _without(member.encode(), body)

    change.__name__ = name
    shown(description, *codes, profiles=profiles)(change)


lacks(
    "clients-are-shown-without-version",
    "version",
    "Codes 203 and 204 show clients without their version.",
    *_CLIENTS,
)
lacks(
    "subscriptions-lose-tags",
    "tagsSet",
    "Code 345 shows no tags.",
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER,
    profiles=V5,
)
lacks(
    "topics-of-groups-are-nowhere",
    "brokerAddr",
    "Code 343 does not name the Broker's address.",
    RequestCode.QUERY_TOPICS_BY_CONSUMER,
    profiles=V5,
)
lacks(
    "group-is-shown-without-policy",
    "groupRetryPolicy",
    "Code 352 shows no groupRetryPolicy.",
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG,
    profiles=V5,
)
lacks(
    "topic-is-shown-without-attributes",
    "attributes",
    "Code 351 shows a topic without its attributes.",
    RequestCode.GET_TOPIC_CONFIG,
    profiles=V5,
)
lacks(
    "progress-without-pulled-offsets",
    "pullOffset",
    "Codes 208 and 317 show no pullOffset.",
    *_PROGRESS,
    profiles=V5,
)
lacks(
    "status-without-rate",
    "topicPutTps",
    "Code 202 does not have topicPutTps.",
    RequestCode.GET_TOPIC_STATS_INFO,
    profiles=V5,
)
lacks(
    "locks-are-of-no-broker",
    "brokerName",
    "The answer to a lock does not name the Broker.",
    RequestCode.LOCK_BATCH_MQ,
)
lacks(
    "versions-without-state", "stateVersion", "Data versions have no stateVersion.", *_VERSIONED, profiles=V5
)
lacks(
    "topics-without-mappings",
    "topicQueueMappingDetailMap",
    "Code 21 shows no tables of static topics.",
    RequestCode.GET_ALL_TOPIC_CONFIG,
    profiles=V5,
)
lacks(
    "groups-without-bits",
    "forbiddenTable",
    "Code 201 shows no forbiddenTable.",
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    profiles=V5,
)


def _more(name, more, body):
    """A body with a larger number in a member."""
    return re.sub(rb'(?<="%s":)-?\d+' % name, lambda found: b"%d" % (int(found[0]) + more), body)


@shown("Codes 208 and 317 show no times.", *_PROGRESS)
def progress_without_times(body):
    return re.sub(rb'"lastTimestamp":\d+', b'"lastTimestamp":0', body)


@shown("Code 317 shows one message too many as in flight.", *_PROGRESS, profiles=V5)
def unconsumed_is_in_flight(body):
    return _more(b"totalInflightDiff", 1, body)


@shown("Tables of queues name another Broker.", *_TABLES)
def tables_of_another_broker(body):
    return body.replace(b'{"brokerName":"', b'{"brokerName":"another-')


@shown("Code 202 shows no times.", RequestCode.GET_TOPIC_STATS_INFO)
def status_without_times(body):
    return re.sub(rb'"lastUpdateTimestamp":\d+', b'"lastUpdateTimestamp":0', body)


@shown("Data versions have a stateVersion, as in 5.x.", *_VERSIONED, profiles=V4)
def versions_with_state(body):
    return body.replace(b'"timestamp":', b'"stateVersion":0,"timestamp":')


@mutant(Settings.show, "The answer to code 26 has no data version.")
def settings_without_version(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    reply.ext = {}
    return reply


@shown("Code 305 does not list the topic for replies.", RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
def replies_have_no_system_topic(body):
    return re.sub(rb'"[^"]*_REPLY_TOPIC",?', b"", body)


@shown("Code 305 lists no topic of the timer.", RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, profiles=V5)
def topics_of_the_timer_are_not_listed(body):
    return re.sub(rb',"rmq_sys_wheel_timer"', b"", body)


@shown("Code 328 shows producers that were heard of a minute later.", RequestCode.GET_ALL_PRODUCER_INFO)
def later_producers(body):
    return _more(b"lastUpdateTimestamp", 60_000, body)


@mutant(HaMembership._offer, "A master says that nothing was in its log when it started.", V5)
def master_does_not_say_how_far_it_was(original, self):
    return {**original(self), "masterFlushOffset": "0"}


@mutant(HaMembership._offer, "A master says where its log ends now.", V5)
def master_says_how_far_it_is_now(original, self):
    return {**original(self), "masterFlushOffset": str(self.broker.store.physical_range()[1])}


@shown("Data versions are of the next day.", *_VERSIONED)
def versions_of_tomorrow(body):
    return _more(b"timestamp", 86_400_000, body)


@mutant(Topics.changed, "A change of topics leaves the time of the table as it is.")
def topics_keep_the_time_of_their_version(original, self, now):
    original(self, self.version.timestamp)
