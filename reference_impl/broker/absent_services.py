"""Requests about services that this Broker does not have, answered as Apache's without them (5.x).

These are RocksDB (354, 355, 200056, 5001), the controller (1007, 1008), and users with their rights (3001 to
3010).

Source: AdminBrokerProcessor of rocketmq-all-5.3.3 and rocketmq-all-5.5.0.
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import SyncStateSet
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .rights.access import NO_POLICIES, NO_SUBJECT
from .users import BLANK, NO_NAME

_IN_PROGRESS: Final = 2
_TABLES: Final = frozenset({"topics", "subscriptiongroups", "consumeroffsets"})
_NO_TIMERS: Final = "timerRocksDBEnable must be configured true when broker start"
_NO_USERS: Final = "An system error occurred, please try again later."


class AbsentServices(Part):
    """Says that there is none, each in its own way."""

    # -- RocksDB ---------------------------------------------------------------------------------------------

    @answers(RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, v5=True)
    def check_queues(self, command: Command, connection: int, now: int) -> Reply:
        """What comes of it goes to a log."""
        return Reply(ResponseCode.SUCCESS, body=document({"checkStatus": _IN_PROGRESS}))

    @answers(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, v5=True)
    def export_tables(self, command: Command, connection: int, now: int) -> Reply:
        """Tables that are written as JSON in any case need no export."""
        named = fields.text(command.ext, "configType")
        if named is None:
            raise RefusedError("the custom field <configType> is null")
        for name in filter(None, named.split(";")):
            if name.strip().lower() not in _TABLES:
                raise RefusedError(f"Unknown config type: {name}")
        return Reply(ResponseCode.SUCCESS, remark="export done.")

    @answers(RequestCode.POP_ROLLBACK, v5=True)
    def pops_to_files(self, command: Command, connection: int, now: int) -> Reply:
        """They are there."""
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.SWITCH_TIMER_ENGINE, v55=True)
    def switch_timers(self, command: Command, connection: int, now: int) -> Reply:
        """Messages that wait for a time are kept in files in any case."""
        if command.ext is None:
            return Reply(ResponseCode.INVALID_PARAMETER, remark="param error, extFields is null")
        engine = fields.text(command.ext, "E_T")
        if engine == "F":
            return Reply(ResponseCode.SUCCESS, remark="switch timer engine success")
        remark = _NO_TIMERS if engine == "R" else "param error"
        return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)

    # -- the controller --------------------------------------------------------------------------------------

    @answers(RequestCode.GET_BROKER_EPOCH_CACHE, v5=True)
    def epochs(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="this request only for controllerMode ")

    @answers(RequestCode.NOTIFY_BROKER_ROLE_CHANGED, v5=True)
    def role_changed(self, command: Command, connection: int, now: int) -> Reply:
        """Only who has a controller obeys it; the set in sync is read in any case."""
        if command.body not in (b"", b"null"):
            required.body(command, SyncStateSet.decode, self.profile.engine)
        return Reply(ResponseCode.SUCCESS)

    # -- users and their rights ------------------------------------------------------------------------------

    @answers(RequestCode.AUTH_CREATE_USER, v5=True)
    @answers(RequestCode.AUTH_UPDATE_USER, v5=True)
    def user(self, command: Command, connection: int, now: int) -> Reply:
        """A name of blanks is refused later than one that is missing."""
        name = fields.text(command.ext, "username")
        if not name:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)
        return self.no_users() if name.strip() else Reply(ResponseCode.NO_PERMISSION, remark=NO_NAME)

    @answers(RequestCode.AUTH_GET_USER, v5=True)
    def one_user(self, command: Command, connection: int, now: int) -> Reply:
        if not (fields.text(command.ext, "username") or "").strip():
            return Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)
        return self.no_users()

    @answers(RequestCode.AUTH_DELETE_USER, v5=True)
    def delete_user(self, command: Command, connection: int, now: int) -> Reply:
        if not (fields.text(command.ext, "username") or "").strip():
            return Reply(ResponseCode.NO_PERMISSION, remark=NO_NAME)
        return self.no_users()

    @answers(RequestCode.AUTH_LIST_USER, v5=True)
    def users(self, command: Command, connection: int, now: int) -> Reply:
        return self.no_users()

    @answers(RequestCode.AUTH_CREATE_ACL, v5=True)
    @answers(RequestCode.AUTH_UPDATE_ACL, v5=True)
    def rights(self, command: Command, connection: int, now: int) -> Reply:
        """They are looked at first."""
        if not command.body or not required.listed(command, "policies", self.profile.engine):
            raise RefusedError(NO_POLICIES)
        return self.no_users()

    @answers(RequestCode.AUTH_DELETE_ACL, v5=True)
    def delete_rights(self, command: Command, connection: int, now: int) -> Reply:
        return self.no_rights(command)

    @answers(RequestCode.AUTH_GET_ACL, v5=True)
    def show_rights(self, command: Command, connection: int, now: int) -> Reply:
        """Whose they are, 5.5 alone looks at."""
        if self.profile.v55:
            return self.no_rights(command)
        raise RefusedError(self.no_provider("authentication"))

    @answers(RequestCode.AUTH_LIST_ACL, v5=True)
    def list_rights(self, command: Command, connection: int, now: int) -> Reply:
        """Up to 5.3, what is missing has the name of another."""
        raise RefusedError(self.no_provider("authorization" if self.profile.v55 else "authentication"))

    def no_rights(self, command: Command) -> Reply:
        """The refusal of a request about the rights of one user."""
        kind, _, _ = (fields.text(command.ext, "subject") or "").partition(":")
        if kind.lower() != "user":
            return Reply(ResponseCode.NO_PERMISSION, remark=NO_SUBJECT)
        return self.no_users()

    def no_provider(self, kind: str) -> str:
        """Why a Broker without this provider refuses."""
        return f"The {kind}MetadataProvider is not configured."

    def no_users(self) -> Reply:
        """The refusal of what needs a table of users."""
        return Reply(ResponseCode.SYSTEM_ERROR, remark=_NO_USERS)
