"""The invariants of a Broker by name, each with the statement of the catalogue that it comes from.

Names are stable, as findings are found again by them.
"""

from __future__ import annotations

import functools
from typing import Final

from harness.spec.broker.invariant_error import InvariantError
from harness.spec.nameserver.invariants import Invariant
from harness.spec.observation import Violation

_ALL = (
    # What was acknowledged is there.
    Invariant("request-is-answered", "bk.sanity.heartbeat-is-answered"),
    Invariant("send-succeeds", "bk.send.is-stored-and-its-place-returned"),
    Invariant("long-send-succeeds", "bk.send.long-header-names"),
    Invariant("acknowledged-is-there", "bk.send.is-stored-and-its-place-returned"),
    Invariant("oneway-is-there", "bk.send.oneway-is-stored-in-silence"),
    Invariant("acknowledged-survives-a-kill", "bk.storage.messages-survive-a-kill"),
    Invariant("acknowledged-survives-a-stop", "bk.storage.messages-survive-a-stop"),
    Invariant("batch-is-stored-in-order", "bk.send.batch-is-stored-message-by-message"),
    Invariant("batch-has-all-ids", "bk.send.batch-has-an-id-for-each-message"),
    Invariant("queue-beyond-the-topic-is-refused", "bk.send.queue-beyond-the-topic-is-refused"),
    Invariant("id-finds-the-message", "bk.query.message-id-finds"),
    Invariant("key-finds-every-message", "bk.query.all-with-the-key-are-found"),
    Invariant("key-finds-no-others", "bk.query.other-topics-are-not-searched"),
    Invariant("unique-key-finds-the-message", "bk.query.unique-key-finds"),
    Invariant("key-that-nobody-has-finds-nothing", "bk.query.unknown-key-is-not-found"),
    Invariant("search-is-not-more-than-asked-for", "bk.query.not-more-than-requested"),
    Invariant("search-is-in-order", "bk.query.all-with-the-key-are-found"),
    Invariant("earliest-time-is-that-of-the-first", "bk.offset.earliest-time-is-that-of-the-first-message"),
    Invariant("key-finds-each-once", "bk.storage.many-keys-survive-once"),
    Invariant("keys-survive-a-kill", "bk.storage.keys-survive-a-kill"),
    Invariant("cleaning-succeeds", "bk.administration.cleaning-keeps-queues-in-use"),
    # What it is, and where.
    Invariant("message-is-as-it-was-sent", "bk.send.fields-of-the-producer-are-kept"),
    Invariant("body-is-as-it-was-sent", "bk.messages.keep-every-byte-of-the-body"),
    Invariant(
        "message-has-no-other-properties",
        "bk.send.properties-are-those-of-the-producer",
        "bk.send.properties-are-three-more",
    ),
    Invariant("answer-tells-region-and-trace", "bk.send.region-and-trace-are-returned"),
    Invariant("message-has-its-checksum", "bk.messages.have-the-checksum-of-the-body"),
    Invariant("message-has-its-cluster", "bk.send.cluster-is-added"),
    Invariant("stored-at-its-time", "bk.messages.tell-when-they-were-stored"),
    Invariant("message-is-where-its-id-says", "bk.messages.are-where-their-id-says"),
    Invariant("message-knows-its-queue", "bk.messages.know-their-queue"),
    Invariant("messages-can-be-read", "bk.messages.begin-with-their-size-and-a-magic"),
    # Offsets of queues.
    Invariant("offsets-are-consecutive", "bk.storage.offsets-are-consecutive"),
    Invariant("offsets-go-on-after-a-kill", "bk.storage.offsets-go-on-after-a-kill"),
    Invariant("max-offset-is-the-next", "bk.offset.max-is-that-of-the-next-message"),
    Invariant("min-offset-is-the-first", "bk.offset.min-is-that-of-the-first-message"),
    # Pulls.
    Invariant("pull-is-answered", "bk.pull.messages-from-an-offset-on"),
    Invariant("pull-goes-on-from-its-offset", "bk.pull.messages-from-an-offset-on"),
    Invariant("pull-is-not-more-than-asked-for", "bk.pull.not-more-than-requested"),
    Invariant("pull-has-the-tag", "bk.pull.only-messages-with-the-tag"),
    Invariant("pull-at-the-end-waits", "bk.pull.end-of-the-queue-is-not-found"),
    Invariant("pull-beyond-the-end-is-moved", "bk.pull.beyond-the-end-is-moved"),
    Invariant("pull-before-the-beginning-is-moved", "bk.pull.before-the-beginning-is-moved"),
    Invariant("no-message-with-the-tag-is-told", "bk.pull.no-message-with-the-tag"),
    Invariant("held-until-a-message-comes", "bk.pull.waits-for-a-message"),
    Invariant("held-until-its-time-is-over", "bk.pull.waits-until-its-time-is-over"),
    Invariant("queue-that-is-not-there-is-refused", "bk.pull.unknown-queue-is-refused"),
    Invariant("topic-that-is-not-there-is-refused", "bk.pull.unknown-topic-is-refused"),
    Invariant("group-that-is-not-online-is-refused", "bk.pull.group-that-is-not-online"),
    Invariant("topic-without-a-subscription-is-refused", "bk.pull.topic-without-a-subscription"),
    Invariant("newer-than-the-heartbeat-is-refused", "bk.pull.newer-than-the-heartbeat"),
    Invariant("unwanted-message-ends-the-wait", "bk.pull.unwanted-message-ends-the-wait-later"),
    Invariant("heartbeat-subscribes", "bk.pull.subscription-of-the-heartbeat"),
    # Filters by SQL92.
    Invariant("filter-decides", "bk.filter.pull-brings-a-filter"),
    Invariant("group-filter-decides", "bk.filter.group-says-its-filters"),
    Invariant("unreadable-filter-is-refused", "bk.filter.pull-with-an-unreadable-filter-is-refused"),
    Invariant("filter-is-refused-where-it-is-off", "bk.filter.filter-is-refused-where-it-is-off"),
    Invariant("filter-can-be-checked", "bk.filter.filter-can-be-checked"),
    Invariant("unreadable-filter-takes-the-old-away", "bk.filter.unreadable-filter-takes-the-old-one-away"),
    Invariant("filter-that-is-too-old-is-refused", "bk.filter.filter-that-is-too-old-is-refused"),
    Invariant("filter-of-a-pop-decides", "bk.filter.pop-brings-a-filter"),
    Invariant("unreadable-filter-of-a-pop-is-refused", "bk.filter.pop-with-an-unreadable-filter-is-refused"),
    # Pops.
    Invariant("popped-is-given-once", "bk.pop.gives-messages-once"),
    Invariant("pop-is-not-more-than-asked-for", "bk.pop.not-more-than-requested"),
    # Offsets of groups.
    Invariant("offset-is-what-was-committed", "bk.offset.is-what-was-committed"),
    Invariant("offset-is-of-one-group-and-queue", "bk.offset.is-of-one-group-and-queue"),
    Invariant("oneway-commit-counts", "bk.offset.oneway-commit-counts"),
    Invariant("pull-commits", "bk.pull.commits-an-offset"),
    Invariant("never-committed-starts-at-zero", "bk.offset.never-committed-starts-at-zero"),
    Invariant("all-offsets-are-told", "bk.offset.all-of-them-are-told"),
    Invariant("reset-sets-offsets", "bk.administration.reset-sets-offsets"),
    Invariant("reset-is-told", "bk.administration.reset-is-told-once"),
    Invariant("clone-gives-offsets", "bk.offset.clone-gives-a-group-the-offsets-of-another"),
    Invariant("unknown-group-may-not-commit", "bk.offset.unknown-group-may-not-commit"),
    Invariant("unknown-topic-may-not-be-committed", "bk.offset.unknown-topic-may-not-be-committed"),
    # Transactions.
    Invariant("half-is-invisible", "bk.transaction.half-is-invisible"),
    Invariant("commit-delivers", "bk.transaction.commit-delivers"),
    Invariant("unknown-is-not-answered", "bk.transaction.unknown-is-not-answered"),
    Invariant("silent-producer-is-asked", "bk.transaction.silent-producer-is-asked"),
    Invariant("ended-is-not-asked-about", "bk.transaction.ended-is-not-asked-about"),
    Invariant("immune-is-not-asked-about", "bk.transaction.immune-message-is-not-asked-about"),
    Invariant("late-end-is-refused", "bk.transaction.late-end-is-refused"),
    Invariant("other-producers-are-not-asked", "bk.transaction.other-producers-are-not-asked"),
    Invariant("question-carries-the-message", "bk.transaction.question-carries-the-message"),
    Invariant("commit-delivers-once", "bk.transaction.commits-once"),
    Invariant("commit-keeps-the-message", "bk.transaction.commit-keeps-what-was-sent"),
    Invariant("rolled-back-is-invisible", "bk.transaction.rolled-back-is-never-seen"),
    Invariant("rolled-back-stays-so", "bk.transaction.rolled-back-stays-so"),
    Invariant("other-groups-end-nothing", "bk.transaction.other-groups-end-nothing"),
    # Delays.
    Invariant("delayed-is-not-early", "bk.delay.level-is-waited-for"),
    Invariant("delayed-is-delivered", "bk.delay.delivered-after-its-level"),
    Invariant("delayed-is-delivered-once", "bk.delay.delivered-once"),
    Invariant("delayed-keeps-its-order", "bk.delay.order-within-a-level"),
    Invariant("delayed-keeps-the-message", "bk.delay.keeps-what-was-sent"),
    Invariant("delayed-outlives-the-broker", "bk.delay.outlives-the-broker"),
    Invariant("delayed-answer-names-its-queue", "bk.delay.reply-names-its-own-queue"),
    Invariant("timed-is-not-early", "bk.delay.time-is-waited-for"),
    Invariant("timed-is-delivered", "bk.delay.time-is-kept"),
    # Recalls.
    Invariant("recall-is-taken", "bk.recall.recalled-message-is-not-delivered"),
    Invariant("recall-says-what", "bk.recall.recalled-message-is-not-delivered"),
    Invariant("recalled-is-not-delivered", "bk.recall.recalled-message-is-not-delivered"),
    Invariant("recalled-stays-so", "bk.recall.recall-survives-a-restart"),
    Invariant("recall-is-refused-where-it-is-off", "bk.recall.refused-by-default"),
    Invariant("handle-that-is-none-is-refused", "bk.recall.handle-that-is-none-is-refused"),
    Invariant("handle-that-does-not-fit-is-refused", "bk.recall.handle-that-does-not-fit-is-refused"),
    Invariant("recall-of-no-topic-is-refused", "bk.recall.unknown-topic-is-refused"),
    # What is sent back.
    Invariant("sent-back-is-taken", "bk.retry.comes-back-after-its-level"),
    Invariant("retried-is-not-early", "bk.retry.not-before-its-level"),
    Invariant("retried-comes-back", "bk.retry.comes-back-after-its-level"),
    Invariant("retried-keeps-the-message", "bk.retry.keeps-what-was-sent"),
    Invariant("retried-is-counted", "bk.retry.counts-how-often"),
    Invariant("dead-letter-is-kept", "bk.retry.negative-level-is-dead-letter"),
    # Clients and locks.
    Invariant("client-is-listed", "bk.client.is-listed-in-its-group"),
    Invariant("empty-group-is-an-error", "bk.client.empty-group-is-an-error"),
    Invariant("client-without-heartbeats-is-removed", "bk.client.without-heartbeats-is-removed"),
    Invariant("members-are-told-of-a-new-one", "bk.client.members-are-notified-of-a-new-member"),
    Invariant("members-are-told-of-new-topics", "bk.client.members-are-notified-of-new-topics"),
    Invariant("members-are-told-of-one-that-leaves", "bk.client.members-are-notified-of-one-that-leaves"),
    Invariant("members-are-told-of-a-departure", "bk.client.members-are-notified-of-a-departure"),
    Invariant("members-are-not-told-without-news", "bk.client.heartbeats-without-news-are-quiet"),
    Invariant("client-that-left-is-not-listed", "bk.client.leaves-its-group"),
    Invariant("lock-is-of-one-client", "bk.lock.is-given-to-one-client"),
    Invariant("free-lock-is-given", "bk.lock.is-over-after-a-minute"),
    Invariant("given-up-lock-is-free", "bk.lock.is-given-up-by-its-holder"),
    # Roles.
    Invariant("role-is-changed", "bk.administration.settings-change"),
    Invariant("demoted-is-not-available", "bk.role.demoted-broker-is-not-available"),
    Invariant("demoted-is-busy", "bk.role.demoted-broker-is-busy"),
    Invariant("demoted-is-read-from", "bk.role.demoted-broker-is-read-from"),
    Invariant("demoted-is-not-read-from", "bk.role.demoted-broker-is-not-read-from"),
    Invariant("demoted-takes-nothing-back", "bk.role.demoted-broker-takes-nothing-back"),
    Invariant("demoted-ends-no-transaction", "bk.role.demoted-broker-ends-no-transaction"),
    Invariant("demoted-resets-no-offset", "bk.role.demoted-broker-resets-no-offset"),
    Invariant("demoted-changes-no-topic", "bk.role.demoted-broker-changes-no-topic"),
    Invariant("demoted-delivers-no-delay", "bk.role.demoted-broker-delivers-no-delay"),
    Invariant("promoted-takes-messages", "bk.role.promoted-broker-takes-messages"),
    Invariant("promoted-keeps-what-it-had", "bk.role.promoted-broker-keeps-what-it-had"),
    Invariant("promoted-goes-on-with-delays", "bk.role.promoted-broker-goes-on-with-delays"),
    Invariant("promoted-ends-transactions", "bk.role.promoted-broker-ends-transactions"),
    # A master and its slave.
    Invariant(
        "send-waits-for-its-slave",
        "bk.replication.send-waits-for-a-slave",
        "bk.replication.send-waits-for-replicas",
    ),
    Invariant(
        "send-gives-its-slave-up",
        "bk.replication.send-gives-a-slave-up",
        "bk.replication.send-gives-replicas-up",
    ),
    Invariant("send-without-a-slave-is-stored", "bk.replication.send-without-a-slave-is-stored"),
    Invariant("send-that-does-not-wait", "bk.replication.send-that-does-not-wait-is-answered"),
    Invariant("pushes-begin-at-the-report", "bk.replication.master-pushes-from-reported-offset"),
    Invariant("stored-is-pushed", "bk.replication.master-pushes-what-is-stored-later"),
    Invariant("acknowledged-is-pushed", "bk.replication.master-pushes-what-is-stored-later"),
    Invariant("slave-reports-its-end", "bk.replication.slave-reports-where-its-log-ends"),
    Invariant("slave-comes-again", "bk.replication.slave-comes-again"),
    Invariant("slave-keeps-whole-messages", "bk.replication.slave-keeps-whole-messages"),
    Invariant("copied-is-there", "bk.replication.slave-stores-what-it-is-pushed"),
    Invariant("copied-is-as-it-was", "bk.replication.slave-stores-what-it-is-pushed"),
    Invariant("slave-asks-for-offsets", "bk.role.slave-takes-over-groups-and-offsets"),
    Invariant("slave-takes-over-offsets", "bk.role.slave-takes-over-groups-and-offsets"),
    Invariant("promoted-delivers-what-waits", "bk.replication.promoted-slave-delivers-what-waits"),
    # Static topics.
    Invariant("static-topic-is-made", "bk.static-topics.is-shown-as-created"),
    Invariant("older-mapping-is-refused", "bk.static-topics.older-mapping-is-refused"),
    Invariant("mapping-survives-a-kill", "bk.static-topics.survives-a-kill"),
    Invariant("mapped-queue-is-used", "bk.static-topics.sends-and-pulls-use-mapped-queues"),
    Invariant("any-queue-is-one-that-is-mapped", "bk.static-topics.any-queue-is-one-that-is-mapped"),
    Invariant("leader-alone-serves-a-queue", "bk.static-topics.leader-alone-serves-a-queue"),
    Invariant("old-leader-refuses", "bk.static-topics.old-leader-refuses-and-keeps-what-it-has"),
    Invariant("offsets-go-on-in-another-queue", "bk.static-topics.offsets-go-on-in-another-queue"),
    Invariant("end-of-a-part-goes-on", "bk.static-topics.pull-at-the-end-of-a-part-goes-on"),
    Invariant("behind-one-part-is-nothing", "bk.static-topics.pull-behind-a-queue-of-one-part-finds-nothing"),
    Invariant("time-is-searched-from-the-first-part", "bk.static-topics.time-is-searched-in-all-parts"),
    Invariant("mapped-commits-count", "bk.static-topics.committed-offsets-are-mapped"),
    # NameServers.
    Invariant("registers-at-the-start", "bk.registration.is-sent-at-the-start"),
    Invariant("registers-again-after-ten-seconds", "bk.registration.comes-again-after-ten-seconds"),
    Invariant("registers-every-thirty-seconds", "bk.registration.comes-every-thirty-seconds"),
    Invariant("settings-change", "bk.administration.settings-change"),
    Invariant("does-not-ask-by-default", "bk.data-version.is-not-asked-by-default"),
    Invariant("asks-without-force", "bk.data-version.is-asked-without-force"),
    Invariant("unchanged-is-not-registered", "bk.data-version.unchanged-is-not-registered"),
    Invariant("changed-is-registered", "bk.data-version.changed-is-registered"),
    Invariant("goes-to-every-nameserver", "bk.registration.goes-to-every-nameserver"),
    Invariant("absent-nameserver-delays-no-other", "bk.registration.absent-nameserver-delays-no-other"),
    Invariant("silent-nameserver-delays-no-other", "bk.registration.silent-nameserver-delays-no-other"),
    Invariant(
        "returning-nameserver-gets-a-registration",
        "bk.registration.returning-nameserver-gets-a-registration",
    ),
    Invariant("registers-again-after-silence", "bk.registration.comes-again-after-silence"),
    Invariant("registers-again-after-a-refusal", "bk.registration.comes-again-after-a-refusal"),
    Invariant(
        "new-topic-is-announced",
        "bk.registration.new-topic-is-announced-with-all",
        "bk.registration.new-topic-is-announced-by-itself",
    ),
    Invariant("new-topic-raises-the-data-version", "bk.registration.new-topic-raises-the-data-version"),
    Invariant("new-topic-stays-announced", "bk.registration.new-topic-stays-announced"),
    Invariant("deleted-topic-is-not-announced", "bk.topics.deleted-is-gone"),
    Invariant("registration-names-the-broker", "bk.registration.names-the-broker"),
    Invariant("demoted-registers-as-slave", "bk.role.demoted-broker-registers-as-slave"),
    Invariant("promoted-registers-as-master", "bk.role.promoted-broker-registers-as-master"),
    Invariant("unregisters-at-the-end", "bk.unregistration.is-sent-at-the-end"),
    Invariant("unregistration-goes-to-every-nameserver", "bk.unregistration.goes-to-every-nameserver"),
    # Topics.
    Invariant("topic-is-made", "bk.topics.created-as-requested"),
    Invariant("status-shows-each-queue", "bk.topics.status-shows-each-queue"),
    Invariant("topic-is-deleted", "bk.topics.deleted-is-gone"),
)

BROKER_INVARIANTS: Final = {one.name: one for one in _ALL}


def violation_of(wrong: InvariantError, profile: str, number: int) -> Violation:
    """What a step has shown to be broken."""
    return Violation(
        invariant=wrong.invariant,
        statement=BROKER_INVARIANTS[wrong.invariant].statement_in(profile),
        expected=wrong.expected,
        actual=wrong.actual,
        number=number,
    )


@functools.cache
def statements_of(profile: str, invariants: frozenset[str]) -> frozenset[str]:
    """The statements that invariants come from."""
    return frozenset(BROKER_INVARIANTS[one].statement_in(profile) for one in invariants)
