"""Users, and the signatures that requests need where a Broker of 5.x has users.

1. Users are kept where `authenticationMetadataProvider` is set. With `authenticationEnabled`, each request
   needs the signature of one of them. What a user may do is looked at elsewhere (`rights`).
2. The user of `initAuthenticationUser` is there from the first start on.
3. Who is no Super user makes, changes and removes none.
4. Passwords are kept, and shown, as they are; so does Apache's Broker. Its file is a RocksDB, this one JSON.

Source: AuthenticationMetadataManagerImpl, DefaultAuthenticationHandler, LocalAuthenticationMetadataProvider,
AdminBrokerProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import Handler, answers

from . import required
from .acl.signature import ACCESS_KEY, SIGNATURE, signature_of, signed_content
from .part import Part

if TYPE_CHECKING:
    from .core import Broker

FILE: Final = "config/users.json"
SUPER: Final = "Super"
NORMAL: Final = "Normal"
ENABLED: Final = "enable"
DISABLED: Final = "disable"
BLANK: Final = "The username is blank"
NO_NAME: Final = "username can not be blank"
NOT_CHANGED: Final = "The super user can only be update by super user"


class User(msgspec.Struct, rename="camel"):
    """One user."""

    username: str
    password: str
    user_type: str = NORMAL
    user_status: str = ENABLED


class Users(Part):
    """Keeps, changes and shows users, and judges who has signed a request. Raises ConfigError."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.is_kept = self.profile.v5 and bool(self.config.authentication_metadata_provider)
        self.is_on = self.is_kept and self.config.authentication_enabled
        self.table: dict[str, User] = {}
        if self.is_kept:
            self.table = self.stored(broker.stored.get(FILE, b"[]"))
            self.begin(self.config.init_authentication_user)

    def requests(self) -> Mapping[int, Handler]:
        return super().requests() if self.is_kept else {}

    # -- who has signed --------------------------------------------------------------------------------------

    def refusal(self, command: Command) -> Reply | None:
        """Why a request is not carried out; None: it is."""
        fault = self.fault(command)
        return None if fault is None else Reply(ResponseCode.NO_PERMISSION, remark=fault, from_handler=False)

    def fault(self, command: Command) -> str | None:
        """What is wrong with the signature of a request."""
        ext = command.ext or {}
        name = ext.get(ACCESS_KEY) or ""
        if not name:
            return "username cannot be null."
        user = self.table.get(name)
        if user is None:
            return f"User:{name} is not found."
        if user.user_status == DISABLED:
            return f"User:{name} is disabled."
        expected = signature_of(self.content(command), user.password)
        is_signed = hmac.compare_digest(expected.encode(), (ext.get(SIGNATURE) or "").encode())
        return None if is_signed else "check signature failed."

    def content(self, command: Command) -> bytes:
        """What is signed of a request."""
        return signed_content(command.ext or {}, command.body)

    # -- users -----------------------------------------------------------------------------------------------

    @answers(RequestCode.AUTH_CREATE_USER, v5=True)
    def create(self, command: Command, connection: int, now: int) -> Reply:
        name = fields.text(command.ext, "username")
        if not name:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)
        said = self.said(command)
        if said.get("userType") == SUPER and self.is_below(command):
            raise RefusedError("The super user can only be create by super user")
        if not name.strip():
            return self.refused(NO_NAME)
        if is_blank(said.get("password")):
            return self.refused("password can not be blank")
        if self.is_known(name):
            return self.refused("The user is existed")
        self.put(User(name, ""), said)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.AUTH_UPDATE_USER, v5=True)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        """What is not said stays."""
        name = fields.text(command.ext, "username")
        if not name:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)
        user = self.table.get(name)
        said = self.said(command)
        if said.get("userType") == SUPER and self.is_below(command):
            raise RefusedError(NOT_CHANGED)
        if not name.strip():
            return self.refused(NO_NAME)
        if user is None:
            return self.refused("The user is not exist")
        if user.user_type == SUPER and self.is_below(command):
            return self.refused(NOT_CHANGED)
        self.put(user, said)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.AUTH_DELETE_USER, v5=True)
    def delete(self, command: Command, connection: int, now: int) -> Reply:
        """One that is not there is gone already."""
        name = fields.text(command.ext, "username") or ""
        if not name.strip():
            return self.refused(NO_NAME)
        user = self.table.get(name)
        if user is not None and user.user_type == SUPER and self.is_below(command):
            return self.refused(NOT_CHANGED)
        self.remove(name)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.AUTH_GET_USER, v5=True)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        """Of an unknown one there is no body."""
        name = fields.text(command.ext, "username") or ""
        if not name.strip():
            return Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)
        user = self.table.get(name)
        return Reply(ResponseCode.SUCCESS, body=b"" if user is None else document(shown(user)))

    @answers(RequestCode.AUTH_LIST_USER, v5=True)
    def show_all(self, command: Command, connection: int, now: int) -> Reply:
        """If there are none, there is no body."""
        found = self.matching(fields.text(command.ext, "filter") or "")
        return Reply(ResponseCode.SUCCESS, body=document([shown(one) for one in found]) if found else b"")

    def matching(self, part: str) -> list[User]:
        """The users whose names have this part, in the order of their names."""
        return [self.table[name] for name in sorted(self.table) if part in name]

    def is_below(self, command: Command) -> bool:
        """Whether a request names someone who is no Super user."""
        name = (command.ext or {}).get(ACCESS_KEY)
        user = self.table.get(name) if name else None
        return bool(name) and (user is None or user.user_type != SUPER)

    def refused(self, remark: str) -> Reply:
        """The refusal of a request about a user."""
        return Reply(ResponseCode.NO_PERMISSION, remark=remark)

    def said(self, command: Command) -> dict[str, Any]:
        """What a request says of a user. Raises RefusedError."""
        if not command.body:
            raise RefusedError("the user is null")
        return required.members(command, self.profile.engine)

    # -- the table -------------------------------------------------------------------------------------------

    def is_known(self, name: str) -> bool:
        """Whether there is a user of this name."""
        return name in self.table

    def put(self, user: User, said: Mapping[str, Any]) -> None:
        """A user is there, with what is said of it."""
        kind, status = said.get("userType"), said.get("userStatus")
        self.table[user.username] = msgspec.structs.replace(
            user,
            password=user.password if is_blank(said.get("password")) else said["password"],
            user_type=kind if kind in (SUPER, NORMAL) else user.user_type,
            user_status=status if status in (ENABLED, DISABLED) else user.user_status,
        )
        self.save()

    def remove(self, name: str) -> None:
        """A user goes, and what has been given to it."""
        if self.table.pop(name, None) is not None:
            self.save()
            self.broker.rights.forget(name)

    def save(self) -> None:
        """Write the table down."""
        self.broker.persist(FILE, msgspec.json.encode(list(self.table.values())))

    def stored(self, data: bytes) -> dict[str, User]:
        """The table of a file. Raises ConfigError."""
        try:
            return {one.username: one for one in msgspec.json.decode(data, type=list[User])}
        except msgspec.MsgspecError as error:
            raise ConfigError(f"{FILE} cannot be read: {error}") from error

    def begin(self, text: str) -> None:
        """The first user, unless it is there. Raises ConfigError."""
        if not text:
            return
        try:
            first = msgspec.json.decode(text, type=User)
        except msgspec.MsgspecError as error:
            raise ConfigError(f"initAuthenticationUser: {error}; expected a JSON object") from error
        if first.username not in self.table:
            self.put(first, {"userType": SUPER})


def is_blank(text: str | None) -> bool:
    """Whether a text says nothing."""
    return not (text or "").strip()


def shown(user: User) -> dict[str, str]:
    """A user as it is answered: its members in the order of their names."""
    return dict(sorted(msgspec.to_builtins(user).items()))
