"""Chapter users: who may ask a Broker of 5.x, and the users that it has."""

from collections.abc import Callable

import msgspec

from harness.conformance import Including, Reply, case
from harness.conformance.broker.acl.guarded import then, with_fields
from harness.conformance.broker.signed import ON, ROOT, WITH_RIGHTS, about, make
from harness.conformance.broker.tools import asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.signing import Account
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document

SUCCESS, NO_PERMISSION = ResponseCode.SUCCESS, ResponseCode.NO_PERMISSION
NAMELESS = Reply(ResponseCode.INVALID_PARAMETER, remark="The username is blank")
NO_NAME = Reply(NO_PERMISSION, remark="username cannot be null.")
NONE = Reply(SUCCESS, None)
NOT_CHANGED = "The super user can only be update by super user"
FAILED = Reply(NO_PERMISSION, remark="check signature failed.")


def shown(user: Account, kind: str = "Normal", status: str = "enable") -> dict[str, str]:
    return {
        "username": user.access_key,
        "password": user.secret_key,
        "userType": kind,
        "userStatus": status,
    }


def show(bk: BrokerSession, user: Account) -> Exchange:
    """What is shown of a user: None, where there is no body."""
    return asked(bk, RequestCode.AUTH_GET_USER, username=user.access_key)


def asks(bk: BrokerSession, hook: Callable[[Command], Command]) -> Exchange:
    """What is answered to a request that is signed so; the first user signs again from then on."""
    bk.hook = hook
    answer = bk.call(RequestCode.GET_BROKER_CONFIG)
    bk.sign_as(ROOT)
    return answer


@case(kills=["requests-need-no-user", "blank-users-are-none", "unknown-users-are-none"], setup=ON)
def test_unsigned_request_is_refused(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, stranger = bk.topic(), Account(bk.name("U"), "secret")
    bk.sign_as(None)
    client, connection = bk.client()
    for refused in (
        bk.send(topic),
        bk.max_offset(topic),
        bk.heartbeat(client, producers=[bk.group()], on=connection),
        bk.call(RequestCode.GET_BROKER_CONFIG),
        bk.call(RequestCode.AUTH_LIST_USER),
        asks(bk, with_fields(Signature="x", AccessKey="")),
    ):
        refused >> NO_NAME
    for user in (stranger, Account(" ", "secret")):
        unknown = Reply(NO_PERMISSION, remark=f"User:{user.access_key} is not found.")
        asks(bk, user.sign) >> unknown
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["users-sign-no-body", "users-sign-fields-as-they-come"], setup=ON)
def test_signed_request_is_served(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, group, body = bk.name("T"), bk.group(), "größer: ".encode() + b"x" * 70_000
    bk.send(topic, body, keys="Schlüssel", ext={"zz": "1", "A": "2"}) >> Reply(SUCCESS)
    bk.send(topic, b"small") >> Reply(SUCCESS)
    bk.create_group(group) >> Reply(SUCCESS)
    bk.pull(topic, group=group).bodies.eventually() >> Reply(SUCCESS, [body, b"small"])


@case(kills=["signatures-of-users-are-not-looked-at"], setup=ON)
def test_wrong_signature_is_refused(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic = bk.topic()
    for hook in (
        Account(ROOT.access_key, "another").sign,
        with_fields(AccessKey=ROOT.access_key),
        then(ROOT, lambda command: msgspec.structs.replace(command, body=b"another")),
    ):
        bk.hook = hook
        bk.send(topic) >> FAILED
    bk.sign_as(ROOT)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["users-are-called-as-their-body-says", "every-user-is-normal", "other-types-stay"], setup=ON)
def test_user_is_made(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    great = make(bk, "Geheimnis-ß" * 7000, userType="Super")
    other = make(bk, "secret-2", userType="Queen")
    plain = make(bk, "secret-3")
    show(bk, great) >> Reply(SUCCESS, shown(great, "Super"))
    off, odd = make(bk, "secret-4", userStatus="disable"), make(bk, "secret-5", userStatus="asleep")
    for user in (other, plain, odd):
        show(bk, user) >> Reply(SUCCESS, shown(user))
    show(bk, off) >> Reply(SUCCESS, shown(off, status="disable"))
    asks(bk, great.sign) >> Reply(SUCCESS)
    asks(bk, plain.sign) >> Reply(SUCCESS)


@case(kills=["users-are-made-again", "users-need-no-password"], setup=ON)
def test_user_is_made_once(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, code = make(bk, "secret-1"), RequestCode.AUTH_CREATE_USER
    again = about(bk, code, user.access_key, password="secret-2")
    again >> Reply(NO_PERMISSION, remark="The user is existed")
    without, empty = Account(bk.name("U"), ""), Account(bk.name("U"), "")
    for said in ({"userType": "Super"}, {"password": ""}, {"password": " "}):
        refused = about(bk, code, without.access_key, **said)
        refused >> Reply(NO_PERMISSION, remark="password can not be blank")
    about(bk, code, empty.access_key) >> Reply(ResponseCode.SYSTEM_ERROR)
    show(bk, user) >> Reply(SUCCESS, shown(user))
    for none in (without, empty):
        show(bk, none) >> NONE


@case(
    kills=["filters-of-users-are-beginnings", "all-users-are-listed", "no-users-are-an-empty-list"], setup=ON
)
def test_users_are_listed(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    part = bk.name("M")
    first, second = (make(bk, f"secret-{one}", named=f"{one}{part}{one}") for one in "ab")
    third = make(bk, "secret-c")
    asked(bk, RequestCode.AUTH_LIST_USER, filter=part) >> Reply(SUCCESS, [shown(first), shown(second)])
    asked(bk, RequestCode.AUTH_LIST_USER, filter=bk.name("N")) >> NONE
    every = Including([shown(first), shown(second), shown(third)])
    asked(bk, RequestCode.AUTH_LIST_USER) >> Reply(SUCCESS, every)


@case(kills=["passwords-stay", "changed-users-are-normal", "blanks-are-passwords"], setup=ON)
def test_user_is_changed(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    old = make(bk, "secret-1", userType="Super")
    new = Account(old.access_key, "é" * 40_000)
    said = {"username": "ändere", "password": new.secret_key}
    about(bk, RequestCode.AUTH_UPDATE_USER, old.access_key, **said) >> Reply(SUCCESS)
    asks(bk, old.sign) >> FAILED
    asks(bk, new.sign) >> Reply(SUCCESS)
    show(bk, new) >> Reply(SUCCESS, shown(new, "Super"))
    for more, kind in (
        ({"password": " ", "userType": "Queen"}, "Super"),
        ({"password": "", "userType": "Normal", "userStatus": "asleep"}, "Normal"),
    ):
        about(bk, RequestCode.AUTH_UPDATE_USER, old.access_key, **more) >> Reply(SUCCESS)
        show(bk, new) >> Reply(SUCCESS, shown(new, kind))


@case(
    kills=["nameless-users-are-made", "nameless-users-are-removed", "blanks-are-names-of-users"],
    setup=WITH_RIGHTS,
)
def test_user_needs_a_name(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    said = document({"username": bk.name("U"), "password": "secret"})
    blank, refused = {"username": " "}, Reply(NO_PERMISSION, remark="username can not be blank")
    for code in (RequestCode.AUTH_CREATE_USER, RequestCode.AUTH_UPDATE_USER):
        bk.call(code, None, said) >> NAMELESS
        bk.call(code, blank, said) >> refused
    for named in (None, blank):
        bk.call(RequestCode.AUTH_GET_USER, named) >> NAMELESS
        bk.call(RequestCode.AUTH_DELETE_USER, named) >> refused


@case(kills=["disabled-users-sign", "changes-enable-users"], setup=ON)
def test_disabled_user_is_refused(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret-1")
    other = make(bk, "secret-2", userStatus="disable")
    changed = Account(other.access_key, "secret-3")
    for said, kind in (
        ({"password": "secret-3"}, "Normal"),
        ({"userType": "Super"}, "Super"),
        ({"userStatus": "asleep"}, "Super"),
    ):
        about(bk, RequestCode.AUTH_UPDATE_USER, other.access_key, **said) >> Reply(SUCCESS)
        show(bk, changed) >> Reply(SUCCESS, shown(changed, kind, "disable"))
        asks(bk, changed.sign) >> Reply(NO_PERMISSION, remark=f"User:{other.access_key} is disabled.")
    about(bk, RequestCode.AUTH_UPDATE_USER, other.access_key, userStatus="enable") >> Reply(SUCCESS)
    show(bk, changed) >> Reply(SUCCESS, shown(changed, "Super"))
    asks(bk, changed.sign) >> Reply(SUCCESS)
    disabled = Reply(NO_PERMISSION, remark=f"User:{user.access_key} is disabled.")
    for status, answer in (("disable", disabled), ("enable", Reply(SUCCESS))):
        about(bk, RequestCode.AUTH_UPDATE_USER, user.access_key, userStatus=status) >> Reply(SUCCESS)
        show(bk, user) >> Reply(SUCCESS, shown(user, status=status))
        asks(bk, user.sign) >> answer


@case(kills=["changes-make-users"], setup=ON)
def test_unknown_user_is_not_changed(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = Account(bk.name("U"), "secret")
    changed = about(bk, RequestCode.AUTH_UPDATE_USER, user.access_key, password=user.secret_key)
    changed >> Reply(NO_PERMISSION, remark="The user is not exist")
    show(bk, user) >> NONE


@case(kills=["users-stay", "unknown-users-are-not-removed"], setup=WITH_RIGHTS)
def test_user_is_removed(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, other = make(bk, "secret-1"), make(bk, "secret-2")
    for _ in range(2):
        about(bk, RequestCode.AUTH_DELETE_USER, user.access_key) >> Reply(SUCCESS)
    show(bk, user) >> NONE
    show(bk, other) >> Reply(SUCCESS, shown(other))
    asks(bk, user.sign) >> Reply(NO_PERMISSION, remark=f"User:{user.access_key} is not found.")


@case(
    kills=[
        "every-user-changes-super-users",
        "every-user-raises-users",
        "super-users-alone-change-users",
        "super-users-alone-remove-users",
    ],
    setup=WITH_RIGHTS,
)
def test_super_users_are_for_super_users(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    great, plain, name = make(bk, "secret-1", userType="Super"), make(bk, "secret-2"), bk.name("U")
    made = {"password": "secret-3", "userType": "Super"}
    bk.sign_as(plain)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="The super user can only be create by super user")
    about(bk, RequestCode.AUTH_CREATE_USER, name, **made) >> refused
    raised = about(bk, RequestCode.AUTH_UPDATE_USER, plain.access_key, userType="Super")
    raised >> Reply(ResponseCode.SYSTEM_ERROR, remark=NOT_CHANGED)
    about(bk, RequestCode.AUTH_UPDATE_USER, great.access_key, userStatus="disable") >> Reply(
        NO_PERMISSION, remark=NOT_CHANGED
    )
    about(bk, RequestCode.AUTH_DELETE_USER, great.access_key) >> Reply(NO_PERMISSION, remark=NOT_CHANGED)
    show(bk, great) >> Reply(SUCCESS, shown(great, "Super"))
    show(bk, plain) >> Reply(SUCCESS, shown(plain))
    other = make(bk, "secret-4")
    about(bk, RequestCode.AUTH_UPDATE_USER, other.access_key, userStatus="disable") >> Reply(SUCCESS)
    show(bk, other) >> Reply(SUCCESS, shown(other, status="disable"))
    about(bk, RequestCode.AUTH_DELETE_USER, other.access_key) >> Reply(SUCCESS)
    show(bk, other) >> NONE
    bk.sign_as(great)
    about(bk, RequestCode.AUTH_CREATE_USER, name, **made) >> Reply(SUCCESS)
    about(bk, RequestCode.AUTH_UPDATE_USER, plain.access_key, userType="Super") >> Reply(SUCCESS)
    show(bk, plain) >> Reply(SUCCESS, shown(plain, "Super"))
    about(bk, RequestCode.AUTH_DELETE_USER, name) >> Reply(SUCCESS)


@case(kills=["removals-need-a-provider-of-rights"], setup=ON)
def test_user_is_removed_where_there_are_no_rights(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user = make(bk, "secret-1")
    show(bk, user) >> Reply(SUCCESS, shown(user))
    removed = about(bk, RequestCode.AUTH_DELETE_USER, user.access_key)
    removed >> Reply(SUCCESS)
    show(bk, user) >> NONE


@case(
    kills=[
        "users-are-not-stored",
        "changes-of-users-are-not-stored",
        "first-user-is-made-anew",
        "removed-users-are-stored",
    ],
    own_server=True,
    setup=WITH_RIGHTS,
)
def test_users_survive_a_restart(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    first, second = make(bk, "Geheimnis-ß", userType="Super"), make(bk, "secret-2")
    gone, renewed = make(bk, "secret-3"), Account(ROOT.access_key, "Noch-größer")
    about(bk, RequestCode.AUTH_UPDATE_USER, second.access_key, userStatus="disable") >> Reply(SUCCESS)
    about(bk, RequestCode.AUTH_UPDATE_USER, ROOT.access_key, password=renewed.secret_key) >> Reply(SUCCESS)
    bk.sign_as(renewed)
    bk.restart()
    show(bk, first) >> Reply(SUCCESS, shown(first, "Super"))
    show(bk, second) >> Reply(SUCCESS, shown(second, status="disable"))
    show(bk, renewed) >> Reply(SUCCESS, shown(renewed, "Super"))
    about(bk, RequestCode.AUTH_DELETE_USER, gone.access_key) >> Reply(SUCCESS)
    bk.restart()
    show(bk, gone) >> NONE
    show(bk, first) >> Reply(SUCCESS, shown(first, "Super"))
