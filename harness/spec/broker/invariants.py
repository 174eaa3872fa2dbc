"""The invariants of a Broker by name, each with the statement of the catalogue that it comes from.

Names are stable, as findings are found again by them.
"""

from __future__ import annotations

from typing import Final

from harness.spec.nameserver.invariants import Invariant

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
    Invariant("keys-survive-a-kill", "bk.storage.keys-survive-a-kill"),
    Invariant("cleaning-succeeds", "bk.administration.cleaning-keeps-queues-in-use"),
    # What it is, and where.
    Invariant("message-is-as-it-was-sent", "bk.send.fields-of-the-producer-are-kept"),
    Invariant("body-is-as-it-was-sent", "bk.messages.keep-every-byte-of-the-body"),
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
    Invariant("heartbeat-subscribes", "bk.pull.subscription-of-the-heartbeat"),
    # Offsets of groups.
    Invariant("offset-is-what-was-committed", "bk.offset.is-what-was-committed"),
    Invariant("offset-is-of-one-group-and-queue", "bk.offset.is-of-one-group-and-queue"),
    Invariant("oneway-commit-counts", "bk.offset.oneway-commit-counts"),
    Invariant("pull-commits", "bk.pull.commits-an-offset"),
    Invariant("never-committed-starts-at-zero", "bk.offset.never-committed-starts-at-zero"),
    Invariant("unknown-group-may-not-commit", "bk.offset.unknown-group-may-not-commit"),
    # Transactions.
    Invariant("half-is-invisible", "bk.transaction.half-is-invisible"),
    Invariant("commit-delivers", "bk.transaction.commit-delivers"),
    Invariant("commit-delivers-once", "bk.transaction.commits-once"),
    Invariant("commit-keeps-the-message", "bk.transaction.commit-keeps-what-was-sent"),
    Invariant("rolled-back-is-invisible", "bk.transaction.rolled-back-is-never-seen"),
    Invariant("rolled-back-stays-so", "bk.transaction.rolled-back-stays-so"),
    Invariant("other-groups-end-nothing", "bk.transaction.other-groups-end-nothing"),
    # Delays.
    Invariant("delayed-is-not-early", "bk.delay.level-is-waited-for"),
    Invariant("delayed-is-delivered", "bk.delay.delivered-after-its-level"),
    Invariant("delayed-is-delivered-once", "bk.delay.delivered-once"),
    Invariant("delayed-keeps-the-message", "bk.delay.keeps-what-was-sent"),
    Invariant("delayed-outlives-the-broker", "bk.delay.outlives-the-broker"),
    Invariant("delayed-answer-names-its-queue", "bk.delay.reply-names-its-own-queue"),
    Invariant("timed-is-not-early", "bk.delay.time-is-waited-for"),
    Invariant("timed-is-delivered", "bk.delay.time-is-kept"),
    # What is sent back.
    Invariant("sent-back-is-taken", "bk.retry.comes-back-after-its-level"),
    Invariant("retried-is-not-early", "bk.retry.not-before-its-level"),
    Invariant("retried-comes-back", "bk.retry.comes-back-after-its-level"),
    Invariant("retried-keeps-the-message", "bk.retry.keeps-what-was-sent"),
    Invariant("retried-is-counted", "bk.retry.counts-how-often"),
    Invariant("dead-letter-is-kept", "bk.retry.negative-level-is-dead-letter"),
    # Clients and locks.
    Invariant("client-is-listed", "bk.client.is-listed-in-its-group"),
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
    Invariant("demoted-changes-no-topic", "bk.role.demoted-broker-changes-no-topic"),
    Invariant("demoted-delivers-no-delay", "bk.role.demoted-broker-delivers-no-delay"),
    Invariant("promoted-takes-messages", "bk.role.promoted-broker-takes-messages"),
    Invariant("promoted-keeps-what-it-had", "bk.role.promoted-broker-keeps-what-it-had"),
    Invariant("promoted-goes-on-with-delays", "bk.role.promoted-broker-goes-on-with-delays"),
    Invariant("promoted-ends-transactions", "bk.role.promoted-broker-ends-transactions"),
    # Topics.
    Invariant("topic-is-made", "bk.topics.created-as-requested"),
    Invariant("topic-is-deleted", "bk.topics.deleted-is-gone"),
)

BROKER_INVARIANTS: Final = {one.name: one for one in _ALL}
