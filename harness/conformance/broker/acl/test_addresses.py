"""Chapter acl: addresses that are let in."""

from harness.conformance import Reply, case
from harness.conformance.broker.acl.guarded import AWAY, HERE, ON, OPEN, REFUSED, SECRET, SUCCESS, made
from harness.session import BrokerSession
from harness.session.broker.signing import Account


@case(
    kills=[
        "global-addresses-need-an-access-key",
        "the-first-global-address-counts",
        "one-file-has-global-addresses",
    ],
    setup=OPEN,
)
def test_global_address_needs_no_account(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.send(topic, b"unsigned") >> Reply(SUCCESS)
    bk.sign_as(Account("no-such-account", "no-such-secret"))
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"unsigned"])
    bk.delete_topic(topic) >> Reply(SUCCESS)


@case(kills=["global-addresses-are-those-of-all"], setup=ON)
def test_other_address_is_not_let_in(bk: BrokerSession) -> None:
    made(bk)
    bk.topics() >> REFUSED


@case(kills=["addresses-of-accounts-need-a-signature", "addresses-of-accounts-need-rights"], setup=ON)
def test_address_of_an_account_needs_no_signature(bk: BrokerSession) -> None:
    topic = made(bk)
    key = {"AccessKey": "here-at-one"}
    bk.send(topic, b"unsigned", ext=key) >> Reply(SUCCESS)
    bk.pull(topic, ext=key).bodies.eventually() >> Reply(SUCCESS, [b"unsigned"])
    bk.create_topic(topic, ext=key) >> Reply(SUCCESS)
    bk.sign_as(Account("here-at-one", "another-secret"))
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.sign_as(None)
    bk.max_offset(topic) >> REFUSED


@case(
    kills=[
        "addresses-are-compared-as-text",
        "sets-of-addresses-are-empty",
        "ranges-of-addresses-begin-at-zero",
        "stars-match-nothing",
    ],
    setup=ON,
)
def test_addresses_are_patterns(bk: BrokerSession) -> None:
    topic = made(bk)
    for key in HERE:
        bk.max_offset(topic, ext={"AccessKey": key}).offset >> Reply(SUCCESS, 0)
    for key in AWAY:
        bk.max_offset(topic, ext={"AccessKey": key}) >> REFUSED
        bk.sign_as(Account(key, SECRET))
        bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
        bk.sign_as(None)
