"""A Broker whose users need rights, and what is given to them."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.conformance import Matching, Reply
from harness.conformance.broker.signed import ON, ROOT, WITH_RIGHTS
from harness.conformance.broker.tools import asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.signing import Account
from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document

SUCCESS, NO_PERMISSION = ResponseCode.SUCCESS, ResponseCode.NO_PERMISSION
GUARDED = {**WITH_RIGHTS, "authorizationEnabled": "true"}
"""Requests need signatures and rights."""
BELIEVING = {**GUARDED, "authenticationEnabled": "false"}
"""Requests need rights, and no signature."""
UNPROVIDED = {**ON, "authorizationEnabled": "true"}
"""Requests need rights, which are kept nowhere."""
SERVED = Reply(
    (
        SUCCESS,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.QUERY_NOT_FOUND,
        ResponseCode.SUBSCRIPTION_NOT_EXIST,
        ResponseCode.CONSUMER_NOT_ONLINE,
        ResponseCode.POLLING_TIMEOUT,
    )
)
"""Any answer but a refusal."""
UNMATCHED, DENIED = "no matched policies.", "the decision is deny."
ACTIONS = ("Pub", "Sub", "Create", "Update", "Delete", "Get", "List")


class Asked(NamedTuple):
    """A request, and what it needs: each of the resources, with one of the actions."""

    code: int
    ext: Mapping[str, str]
    resources: tuple[str, ...]
    actions: tuple[str, ...]
    body: bytes = b""


def entry(resource: str, *actions: str, decision: str = "Allow", **said: Any) -> dict[str, Any]:
    """An entry of a policy."""
    return {"actions": list(actions), "decision": decision, "resource": resource, **said}


def body(*entries: Mapping[str, Any], **policy: str) -> bytes:
    """What gives entries to whom the field names."""
    return document({"policies": [{**policy, "entries": list(entries)}]})


def named(user: Account) -> str:
    return f"User:{user.access_key}"


def give(
    bk: BrokerSession, user: Account, *entries: Mapping[str, Any], code: int = RequestCode.AUTH_CREATE_ACL
) -> Exchange:
    """Gives entries of the common kind."""
    return bk.call(code, {"subject": named(user)}, body(*entries), about=named(user))


def take(bk: BrokerSession, user: Account, **said: str) -> Exchange:
    """Takes rights away."""
    return bk.call(RequestCode.AUTH_DELETE_ACL, {"subject": named(user), **said}, about=named(user))


def has_only(bk: BrokerSession, user: Account, *entries: Mapping[str, Any]) -> None:
    """A user has these rights, and no others."""
    take(bk, user) >> Reply((SUCCESS, NO_PERMISSION))
    if entries:
        give(bk, user, *entries) >> Reply(SUCCESS)


def rights(bk: BrokerSession, user: Account) -> Exchange:
    """What is shown of the rights of a user: None, where there is no body."""
    return asked(bk, RequestCode.AUTH_GET_ACL, subject=named(user))


def shown(user: Account, *entries: Mapping[str, Any], kind: str = "Custom") -> dict[str, Any]:
    return {"policies": [{"entries": list(entries), "policyType": kind}], "subject": named(user)}


def refused(user: Account, resource: str, why: str = UNMATCHED) -> Reply:
    """The refusal of a request that needs something on a resource."""
    words = re.escape(f"{named(user)} has no permission to access {resource} from ")
    return Reply(NO_PERMISSION, remark=Matching(rf"^{words}\S+, {re.escape(why)}$"))


def sends(bk: BrokerSession, user: Account, topic: str) -> Exchange:
    """A message that a user sends; the first user signs again from then on."""
    bk.sign_as(user)
    sent = bk.send(topic)
    bk.sign_as(ROOT)
    return sent


def asks(bk: BrokerSession, user: Account, what: Asked) -> Exchange:
    """A request of a user; the first user signs again from then on."""
    bk.sign_as(user)
    answer = bk.call(what.code, what.ext, what.body, about=", ".join(what.ext.values()))
    bk.sign_as(ROOT)
    return answer


def needs(bk: BrokerSession, user: Account, what: Asked) -> None:
    """The user is served with one of the actions on all of the resources, and with nothing less."""
    others = [action for action in ACTIONS if action not in what.actions]
    has_only(bk, user, entry("*", *others))
    asks(bk, user, what) >> refused(user, what.resources[0])
    for action in what.actions:
        has_only(bk, user, *(entry(one, action) for one in what.resources))
        asks(bk, user, what) >> SERVED
    for missing in what.resources[1:]:
        has_only(bk, user, *(entry(one, *what.actions) for one in what.resources if one != missing))
        asks(bk, user, what) >> refused(user, missing)
