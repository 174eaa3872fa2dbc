"""Chapter rights: how they are given, shown and taken."""

from harness.conformance import Including, Matching, Reply, case
from harness.conformance.broker.rights.guarded import (
    GUARDED,
    NO_PERMISSION,
    SUCCESS,
    UNMATCHED,
    body,
    entry,
    give,
    named,
    refused,
    rights,
    sends,
    shown,
    take,
)
from harness.conformance.broker.signed import ROOT, about, make
from harness.conformance.broker.tools import asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.signing import Account
from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document

NONE = Reply(SUCCESS, None)
ERROR = Reply(ResponseCode.SYSTEM_ERROR)
GIVING = (RequestCode.AUTH_CREATE_ACL, RequestCode.AUTH_UPDATE_ACL)


def no(remark: str) -> Reply:
    return Reply(NO_PERMISSION, remark=remark)


@case(
    kills=["rights-replace-all-others", "entries-stand-beside-others"],
    setup=GUARDED,
)
def test_rights_are_given(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret")
    rights(bk, user) >> NONE
    first = entry("topic:Thema-ü", "pub", "Fly", "SUB", decision="allow", sourceIps=["10.0.0.0/8", "::1"])
    give(bk, user, first, entry("GROUP:T*x*", "get", decision="DENY", sourceIps=[])) >> Reply(SUCCESS)
    kept = entry("Topic:Thema-ü", "Pub", "Sub", sourceIps=["10.0.0.0/8", "::1"])
    second = entry("Group:T*", "Get", decision="Deny")
    rights(bk, user) >> Reply(SUCCESS, shown(user, kept, second))
    for code, action in zip(GIVING, ("Create", "Delete"), strict=True):
        changed, new = entry("Topic:Thema-ü", action), entry("*", action)
        give(bk, user, changed, new, code=code) >> Reply(SUCCESS)
        rights(bk, user) >> Reply(SUCCESS, shown(user, changed, second, new))
    other, many = make(bk, "secret-2"), [entry(f"Topic:{at:04}", "Pub") for at in range(1200)]
    for code in GIVING:
        give(bk, other, *many, code=code) >> Reply(SUCCESS)
    rights(bk, other) >> Reply(SUCCESS, shown(other, *many))


@case(
    kills=["policies-are-all-custom", "fields-name-before-bodies", "later-policies-change-nothing"],
    setup=GUARDED,
)
def test_rights_have_two_kinds(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, other = make(bk, "secret"), make(bk, "secret-2")
    plain = entry("Topic:B", "Pub")
    for code, (of_custom, of_default) in zip(GIVING, (("Pub", "Sub"), ("Get", "List")), strict=True):
        custom, default = entry("Topic:A", of_custom), entry("Topic:A", of_default)
        policies = [
            {"policyType": "default", "entries": [default]},
            {"policyType": "Nonsense", "entries": [custom]},
            {"policyType": "Custom", "entries": []},
        ]
        said = document({"subject": f"USER:{user.access_key}", "policies": policies})
        bk.call(code, {"subject": named(other)}, said) >> Reply(SUCCESS)
        both = shown(user, default, kind="Default")
        both["policies"] += shown(user, custom)["policies"]
        rights(bk, user) >> Reply(SUCCESS, both)
    give(bk, user, plain) >> Reply(SUCCESS)
    both["policies"][1]["entries"].append(plain)
    rights(bk, user) >> Reply(SUCCESS, both)
    rights(bk, other) >> NONE


@case(
    kills=["rights-are-taken-from-all-kinds", "rights-are-taken-whole", "no-rights-are-taken"], setup=GUARDED
)
def test_rights_are_taken(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, other = make(bk, "secret"), make(bk, "secret-2")
    first, second = entry("Topic:A", "Pub"), entry("Group:A", "Sub")
    for one in (user, other):
        give(bk, one, first, second) >> Reply(SUCCESS)
    default = body(first, policyType="Default")
    bk.call(RequestCode.AUTH_UPDATE_ACL, {"subject": named(user)}, default) >> Reply(SUCCESS)
    take(bk, user, resource="Topic:A") >> Reply(SUCCESS)
    left = shown(user, second)
    left["policies"] += shown(user, first, kind="Default")["policies"]
    rights(bk, user) >> Reply(SUCCESS, left)
    take(bk, user, resource="Topic:B") >> Reply(SUCCESS)
    rights(bk, user) >> Reply(SUCCESS, left)
    take(bk, user, resource="TOPIC:A", policyType="default") >> Reply(SUCCESS)
    rights(bk, user) >> Reply(SUCCESS, shown(user, second))
    take(bk, user, resource="Group:A") >> Reply(SUCCESS)
    rights(bk, user) >> NONE
    rights(bk, other) >> Reply(SUCCESS, shown(other, first, second))
    take(bk, other) >> Reply(SUCCESS)
    rights(bk, other) >> NONE
    take(bk, other) >> no("The acl is not exist.")


def listed(bk: BrokerSession, user: str = "", resource: str = "") -> Exchange:
    return asked(bk, RequestCode.AUTH_LIST_ACL, subjectFilter=user, resourceFilter=resource)


@case(
    kills=[
        "all-rights-are-listed",
        "rights-are-listed-whole",
        "no-rights-are-an-empty-list",
        "rights-are-listed-as-they-came",
        "lists-of-rights-need-both-filters",
    ],
    setup=GUARDED,
)
def test_rights_are_listed(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    part, topic = bk.name("M"), bk.name("Thema-ü")
    first, second = (make(bk, f"secret-{one}", named=f"{one}{part}{one}") for one in "ab")
    on_topic, on_group = entry(f"Topic:{topic}", "Pub"), entry("Group:G", "Sub")
    give(bk, second, on_group) >> Reply(SUCCESS)
    give(bk, first, on_topic, on_group) >> Reply(SUCCESS)
    both = [shown(first, on_topic, on_group), shown(second, on_group)]
    listed(bk, user=part) >> Reply(SUCCESS, both)
    listed(bk, user=f"er:a{part}") >> Reply(SUCCESS, both[:1])
    listed(bk, resource=topic) >> Reply(SUCCESS, [shown(first, on_topic)])
    listed(bk, user=part, resource="oup:") >> Reply(
        SUCCESS, [shown(first, on_group), shown(second, on_group)]
    )
    listed(bk, user=f"b{part}", resource=topic) >> NONE
    listed(bk, user=bk.name("N")) >> NONE
    listed(bk) >> Reply(SUCCESS, Including(both))
    code = RequestCode.AUTH_LIST_ACL
    asked(bk, code, subjectFilter=part) >> Reply(SUCCESS, both)
    asked(bk, code, resourceFilter=topic) >> Reply(SUCCESS, [shown(first, on_topic)])
    asked(bk, code) >> Reply(SUCCESS, Including(both))


@case(kills=["names-of-users-are-resources"], setup=GUARDED)
def test_resources_are_not_users(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret")
    on_topic = entry("Topic:A", "Pub")
    give(bk, user, on_topic) >> Reply(SUCCESS)
    listed(bk, user=user.access_key) >> Reply(SUCCESS, [shown(user, on_topic)])
    listed(bk, resource=user.access_key) >> NONE


@case(
    kills=[
        "unknown-resources-are-left-out",
        "entries-without-actions-are-left-out",
        "addresses-of-rights-are-left-out",
    ],
    setup=GUARDED,
)
def test_nonsense_is_not_given(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret")
    for nonsense, remark in (
        (entry("Nonsense:T", "Pub"), "The resource is null."),
        (entry("", "Pub"), "The resource is null."),
        (entry("Topic:T"), "The actions is empty."),
        (entry("Topic:T", "Fly"), "The actions is empty."),
        (entry("Topic:T", "Pub", "Any"), "The actions can not be Any."),
        (entry("Topic:T", "Pub", decision="Perhaps"), "The decision is null or illegal."),
        (entry("Topic:T", "Pub", sourceIps=["10.0.0.0/8", "10.0.0.0/33"]), "The source ip is invalid."),
        (entry("Topic:T", "Pub", sourceIps=[" "]), "The source ip is empty."),
    ):
        for code in GIVING:
            give(bk, user, entry("Topic:A", "Pub"), nonsense, code=code) >> no(remark)
    for code in GIVING:
        give(bk, user, code=code) >> no("The policies is empty.")
        no_actions = body({"resource": "Topic:T", "decision": "Allow"})
        bk.call(code, {"subject": named(user)}, no_actions) >> ERROR
        no_body = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("The body of acl is null"))
        bk.call(code, {"subject": named(user)}) >> no_body
    rights(bk, user) >> NONE


@case(kills=["strangers-have-rights", "rights-of-no-user-are-given"], setup=GUARDED)
def test_rights_need_a_user(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    stranger, said = Account(bk.name("U"), "secret"), body(entry("Topic:T", "Pub"))
    for code in GIVING:
        give(bk, stranger, entry("Topic:T", "Pub"), code=code) >> no(
            f"The subject of {named(stranger)} is not exist."
        )
        for subject in (stranger.access_key, f"Robot:{ROOT.access_key}"):
            bk.call(code, {"subject": subject}, said) >> ERROR
    rights(bk, stranger) >> no("The subject is not exist.")
    take(bk, stranger) >> no("The subject is not exist.")
    bk.call(RequestCode.AUTH_DELETE_ACL, {"subject": f"Robot:{ROOT.access_key}"}) >> no(
        "The subject is null."
    )
    unnamed = no("The subject is null.") if bk.profile.has("bare-batches") else ERROR
    bk.call(RequestCode.AUTH_GET_ACL) >> unnamed


@case(kills=["rights-outlive-their-user"], setup=GUARDED)
def test_rights_go_with_their_user(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, topic = make(bk, "secret"), bk.topic()
    give(bk, user, entry("*", "All")) >> Reply(SUCCESS)
    sends(bk, user, topic) >> Reply(SUCCESS)
    about(bk, RequestCode.AUTH_DELETE_USER, user.access_key) >> Reply(SUCCESS)
    about(bk, RequestCode.AUTH_CREATE_USER, user.access_key, password="secret") >> Reply(SUCCESS)
    rights(bk, user) >> NONE
    sends(bk, user, topic) >> refused(user, f"Topic:{topic}", UNMATCHED)


@case(kills=["rights-are-not-stored", "taken-rights-are-stored"], own_server=True, setup=GUARDED)
def test_rights_survive_a_restart(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    first, second, third = (make(bk, "secret") for _ in range(3))
    of_first = entry("Topic:Thema-ü*", "Pub", decision="Deny", sourceIps=["10.0.0.0/8"])
    for user in (first, second, third):
        give(bk, user, of_first, entry("Group:G", "Sub")) >> Reply(SUCCESS)
    take(bk, second, resource="Group:G") >> Reply(SUCCESS)
    take(bk, third) >> Reply(SUCCESS)
    bk.restart()
    rights(bk, first) >> Reply(SUCCESS, shown(first, of_first, entry("Group:G", "Sub")))
    rights(bk, second) >> Reply(SUCCESS, shown(second, of_first))
    rights(bk, third) >> NONE


@case(kills=["rights-of-gone-users-are-stored"], own_server=True, setup=GUARDED)
def test_rights_of_a_removed_user_are_gone_after_a_restart(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, other = make(bk, "secret"), make(bk, "secret")
    for one in (user, other):
        give(bk, one, entry("*", "All")) >> Reply(SUCCESS)
    about(bk, RequestCode.AUTH_DELETE_USER, user.access_key) >> Reply(SUCCESS)
    bk.restart()
    about(bk, RequestCode.AUTH_CREATE_USER, user.access_key, password="secret") >> Reply(SUCCESS)
    rights(bk, user) >> NONE
    rights(bk, other) >> Reply(SUCCESS, shown(other, entry("*", "All")))
