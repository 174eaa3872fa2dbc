"""Chapter rights: which entry decides."""

from itertools import pairwise

from harness.conformance import Matching, Reply, case
from harness.conformance.broker.rights.guarded import (
    BELIEVING,
    DENIED,
    GUARDED,
    NO_PERMISSION,
    SUCCESS,
    UNMATCHED,
    UNPROVIDED,
    Asked,
    asks,
    body,
    entry,
    give,
    has_only,
    named,
    refused,
    sends,
)
from harness.conformance.broker.signed import ROOT, make
from harness.session import BrokerSession
from harness.session.broker.signing import Account
from harness.wire import RequestCode

HERE, NETWORK = "127.0.0.1", "127.0.0.0/8"
AWAY, OTHER_NETWORK = "127.0.0.2", "10.0.0.0/8"


def judged(bk: BrokerSession, user: Account, verdicts: dict[str, str | None]) -> None:
    """Which topics a user may send to: the reason why not, or None."""
    for topic, why in verdicts.items():
        sends(bk, user, topic) >> (Reply(SUCCESS) if why is None else refused(user, f"Topic:{topic}", why))


@case(kills=["super-users-need-rights"], setup=GUARDED)
def test_super_user_needs_no_rights(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, user, plain = bk.topic(), make(bk, "secret", userType="Super"), make(bk, "secret")
    sends(bk, plain, topic) >> refused(plain, f"Topic:{topic}")
    sends(bk, user, topic) >> Reply(SUCCESS)
    has_only(bk, user, entry("*", "All", decision="Deny"))
    sends(bk, user, topic) >> Reply(SUCCESS)


@case(
    kills=["beginnings-are-names", "names-are-beginnings", "everything-is-nothing", "all-is-no-action"],
    setup=GUARDED,
)
def test_entry_is_about_what_its_resource_names(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, long = make(bk, "secret"), bk.topic("Thema-ü")
    topic = bk.name("T")
    longer = f"{topic}-longer"
    for one in (topic, longer):
        bk.create_topic(one) >> Reply(SUCCESS)
    of_resources: dict[str, dict[str, str | None]] = {
        f"Topic:{topic}": {topic: None, longer: UNMATCHED, long: UNMATCHED},
        f"Topic:{topic}*": {topic: None, longer: None, long: UNMATCHED},
        f"Topic:{topic}-*": {topic: UNMATCHED, longer: None, long: UNMATCHED},
        f"Topic:{topic}*r": {topic: UNMATCHED, longer: UNMATCHED},
        "Topic:*": {topic: None, long: None},
        "*": {topic: None, long: None},
        f"Group:{topic}": {topic: UNMATCHED},
        "Cluster:*": {topic: UNMATCHED},
    }
    for resource, verdicts in of_resources.items():
        has_only(bk, user, entry(resource, "Pub"))
        judged(bk, user, verdicts)
    has_only(bk, user, entry(f"Topic:{topic}", "All"))
    judged(bk, user, {topic: None, longer: UNMATCHED})
    has_only(bk, user, entry(f"Topic:{topic}", "Pub", "Sub", decision="Deny"))
    judged(bk, user, {topic: DENIED, longer: UNMATCHED})


@case(kills=["last-entries-decide", "short-beginnings-decide", "allowing-decides"], setup=GUARDED)
def test_closest_entry_decides(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, topic = make(bk, "secret"), bk.topic()
    resources = (f"Topic:{topic}", f"Topic:{topic[:-1]}*", f"Topic:{topic[:-2]}*", "Topic:*", "*")
    for close, far in pairwise(resources):
        for decision, why in (("Allow", None), ("Deny", DENIED)):
            other = "Deny" if why is None else "Allow"
            several = [entry(close, "Pub", decision=decision), entry(far, "Pub", decision=other)]
            for entries in (several, several[::-1]):
                has_only(bk, user, *entries)
                judged(bk, user, {topic: why})
    twice = [entry(resources[0], "Pub"), entry(resources[0], "Pub", decision="Deny")]
    for entries in (twice, twice[::-1]):
        has_only(bk, user, *entries)
        judged(bk, user, {topic: DENIED})


@case(kills=["entries-about-other-actions-decide", "default-policies-decide"], setup=GUARDED)
def test_default_policy_decides_where_no_other_does(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, topic, other = make(bk, "secret"), bk.topic(), bk.topic()
    has_only(bk, user, entry(f"Topic:{topic}", "Pub", decision="Deny"), entry(f"Topic:{other}", "Sub"))
    judged(bk, user, {topic: DENIED, other: UNMATCHED})
    said = body(entry("Topic:*", "Pub"), policyType="Default")
    bk.call(RequestCode.AUTH_UPDATE_ACL, {"subject": named(user)}, said) >> Reply(SUCCESS)
    judged(bk, user, {topic: DENIED, other: None})
    give(bk, user, entry("*", "Pub", decision="Deny"), code=RequestCode.AUTH_UPDATE_ACL) >> Reply(SUCCESS)
    judged(bk, user, {topic: DENIED, other: DENIED})


@case(
    kills=[
        "addresses-of-rights-are-not-looked-at",
        "networks-are-addresses",
        "networks-begin-at-their-address",
        "networks-lack-their-first-address",
        "networks-lack-their-last-address",
    ],
    setup=GUARDED,
)
def test_entry_is_about_its_addresses(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, topic = make(bk, "secret"), bk.topic()
    for addresses, why in (
        ([HERE], None),
        ([AWAY], UNMATCHED),
        ([OTHER_NETWORK, NETWORK], None),
        (["127.0.0.0/31"], None),
        (["127.0.0.2/31"], UNMATCHED),
        (["127.0.0.1/32"], None),
        (["127.0.0.0/32"], UNMATCHED),
        (["127.0.0.2/32"], UNMATCHED),
        (["127.0.0.6/29"], None),
        (["127.0.0.14/29"], UNMATCHED),
        ([OTHER_NETWORK, AWAY], UNMATCHED),
        (["0.0.0.0/0"], None),
        (["::/0"], None),
        (["::1"], UNMATCHED),
        ([], None),
    ):
        has_only(bk, user, entry(f"Topic:{topic}", "Pub", sourceIps=addresses))
        judged(bk, user, {topic: why})
    denied = entry(f"Topic:{topic}", "Pub", decision="Deny", sourceIps=[OTHER_NETWORK])
    has_only(bk, user, denied, entry("Topic:*", "Pub"))
    judged(bk, user, {topic: None})


@case(kills=["unreadable-requests-need-nothing"], setup=GUARDED)
def test_unreadable_request_is_refused(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret")
    has_only(bk, user, entry("*", "All"))
    unreadable = Reply(NO_PERMISSION, remark="parse authorization context error.")
    for code, sent in ((RequestCode.HEART_BEAT, b"nonsense"), (RequestCode.LOCK_BATCH_MQ, b"")):
        asks(bk, user, Asked(code, {}, (), (), sent)) >> unreadable


@case(kills=["unknown-users-may-everything", "who-names-no-user-may-everything"], setup=BELIEVING)
def test_rights_without_signatures_are_those_of_who_is_named(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, user = bk.topic(), make(bk, "secret")
    stranger = Account(bk.name("U"), "secret")
    has_only(bk, user, entry(f"Topic:{topic}", "Pub"))
    sends(bk, Account(user.access_key, "another"), topic) >> Reply(SUCCESS)
    sends(bk, stranger, topic) >> Reply(NO_PERMISSION, remark=f"{named(stranger)} not found.")
    bk.sign_as(None)
    bk.send(topic) >> Reply(NO_PERMISSION, remark=Matching("^Authorization failed"))
    bk.call(RequestCode.AUTH_LIST_USER) >> Reply(SUCCESS)


@case(kills=["rights-that-are-nowhere-are-all"], setup=UNPROVIDED)
def test_rights_need_a_provider(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, user = bk.topic(), make(bk, "secret")
    sends(bk, ROOT, topic) >> Reply(SUCCESS)
    sends(bk, user, topic) >> Reply(
        NO_PERMISSION, remark="The authorizationMetadataProvider is not configured"
    )
