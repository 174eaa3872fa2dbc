"""Accounts and addresses, changed and shown over the wire (4.9).

1. A change is in force at once, and in the file before it is answered. (Apache's 4.9.8 reads some of it
   from the file within 5 s.)
2. A new account goes to `conf/plain_acl.yml`; an account that is there is changed in its file, where it
   becomes the last one. What the request does not say of it stays; whether it is an administrator is always
   said.
3. Keys are never shown. (4.9.7 showed them to every account: code 54.)
4. Addresses that cannot be read are refused. (Apache's 4.9.8 writes them down, and cannot start again.)

Source: PlainPermissionManager#updateAccessConfig, #deleteAccessConfig, #updateGlobalWhiteAddrsConfig;
AdminBrokerProcessor of rocketmq-all-4.9.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import yaml

from harness.wire import Command, RequestCode
from harness.wire.bodies import DataVersion
from harness.wire.fastjson import document
from reference_impl.broker.part import Part
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import Handler, answers

from .access import DEFAULT_FILE
from .accounts import AclError, check_keys, check_rights, parsed, version_of

UPDATE_FAILED: Final = 209
DELETE_FAILED: Final = 210
ADDRESSES_FAILED: Final = 211
_TEXTS: Final = ("secretKey", "defaultTopicPerm", "defaultGroupPerm")
_LISTS: Final = ("topicPerms", "groupPerms")
_OFF: Final = "access control is off: aclEnable is false"


class AccessAdministration(Part):
    """Changes and shows the files of `Access`."""

    def requests(self) -> Mapping[int, Handler]:
        return {} if self.profile.v5 else super().requests()

    @answers(RequestCode.UPDATE_AND_CREATE_ACL_CONFIG)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        ext: Ext = command.ext or {}
        key, secret = fields.text(ext, "accessKey"), fields.text(ext, "secretKey")
        try:
            self.require_on()
            self.check(key, secret, [one for name in _LISTS for one in self.listed(ext, name) or []])
            self.put(key or "", self.said(ext), now)
        except AclError as error:
            return Reply(UPDATE_FAILED, remark=str(error))
        return Reply(0)

    def check(self, key: str | None, secret: str | None, rights: list[str]) -> None:
        """Raises AclError for an account that is none."""
        check_keys(key, secret)
        check_rights(rights)

    def said(self, ext: Ext) -> dict[str, Any]:
        """What a request says of an account, as files have it."""
        found: dict[str, Any] = {"accessKey": ext.get("accessKey")}
        found |= {name: ext[name] for name in _TEXTS[:1] if ext.get(name)}
        if ext.get("whiteRemoteAddress") is not None:
            found["whiteRemoteAddress"] = ext["whiteRemoteAddress"]
        found["admin"] = bool(fields.boolean(ext, "admin"))
        found |= {name: ext[name] for name in _TEXTS[1:] if ext.get(name)}
        several = {name: self.listed(ext, name) for name in _LISTS}
        return found | {name: listed for name, listed in several.items() if listed is not None}

    def listed(self, ext: Ext, name: str) -> list[str] | None:
        """The parts of a field between commas. As in Java, empty ones at the end do not count."""
        value = fields.text(ext, name)
        if not value:
            return None if value is None else [""]
        several = value.split(",")
        while several and not several[-1]:
            several.pop()
        return several

    def put(self, key: str, said: dict[str, Any], now: int) -> None:
        """Change an account, or add one. Raises AclError."""
        name = self.file_of(key) or DEFAULT_FILE
        content = self.content(name)
        accounts = content.get("accounts") or []
        old: dict[str, Any] = next((one for one in accounts if str(one["accessKey"]) == key), {})
        content["accounts"] = [*(one for one in accounts if one is not old), self.merged(old, said)]
        self.write(name, content, now)

    def merged(self, old: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
        """An account as it was, with what is said of it now."""
        return {**old, **said}

    @answers(RequestCode.DELETE_ACL_CONFIG)
    def delete(self, command: Command, connection: int, now: int) -> Reply:
        key = fields.part_of_key(command.ext, "accessKey")
        try:
            self.require_on()
            name = self.file_of(key)
            if name is None:
                raise AclError(f"The accesskey[{key}] corresponding to accessConfig has been deleted failed.")
            self.remove(key, name, now)
        except AclError as error:
            return Reply(DELETE_FAILED, remark=str(error))
        return Reply(0)

    def remove(self, key: str, name: str, now: int) -> None:
        """Remove an account from a file. Raises AclError."""
        content = self.content(name)
        content["accounts"] = [one for one in content["accounts"] if str(one["accessKey"]) != key]
        self.write(name, content, now)

    @answers(RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG)
    def set_addresses(self, command: Command, connection: int, now: int) -> Reply:
        """`aclFileFullPath` names the file; without it, it is `conf/plain_acl.yml`."""
        ext: Ext = command.ext or {}
        several, path = self.listed(ext, "globalWhiteAddrs"), fields.text(ext, "aclFileFullPath")
        try:
            self.require_on()
            name = self.named(path) if path else DEFAULT_FILE
            if name is None or several is None:
                given = fields.part_of_key(ext, "globalWhiteAddrs")
                raise AclError(f"The globalWhiteAddresses[{given}] has been updated failed.")
            self.put_addresses(several, name, now)
        except AclError as error:
            return Reply(ADDRESSES_FAILED, remark=str(error))
        return Reply(0)

    def put_addresses(self, several: list[str], name: str, now: int) -> None:
        """Change the global addresses of a file. Raises AclError."""
        self.write(name, {**self.content(name), "globalWhiteRemoteAddresses": several}, now)

    @answers(RequestCode.GET_BROKER_CLUSTER_ACL_INFO)
    def versions(self, command: Command, connection: int, now: int) -> Reply:
        """`version` is that of `conf/plain_acl.yml`, `allAclFileVersion` has one for each file."""
        files = self.broker.access.files
        if not self.broker.access.is_on:
            raise RefusedError(_OFF)
        default = files.get(DEFAULT_FILE)
        version = DataVersion(0, self.broker.started, None) if default is None else default.version
        shown = {self.path(name): files[name].version.document() for name in self.shown()}
        ext: dict[str, str | None] = {
            "version": version.encode().decode("ascii"),
            "allAclFileVersion": document(shown).decode(),
            "brokerName": self.config.broker_name,
            "brokerAddr": self.config.address,
            "clusterName": self.config.broker_cluster_name,
        }
        return Reply(0, ext=ext)

    def shown(self) -> list[str]:
        """The files whose versions are shown."""
        return self.broker.access.in_order()

    # -- files -----------------------------------------------------------------------------------------------

    def require_on(self) -> None:
        """Raises AclError without access control."""
        if not self.broker.access.is_on:
            raise AclError(_OFF)

    def file_of(self, key: str) -> str | None:
        """The file that has an account."""
        access = self.broker.access
        for name in access.in_order():
            if any(one.access_key == key for one in access.files[name].accounts):
                return name
        return None

    def path(self, name: str) -> str:
        """The whole path of a file."""
        return f"{self.config.rocketmq_home}/{name}"

    def named(self, path: str) -> str | None:
        """The file with a whole path."""
        return next((name for name in self.broker.access.files if self.path(name) == path), None)

    def content(self, name: str) -> dict[str, Any]:
        """What is in a file. Raises AclError."""
        file = self.broker.access.files.get(name)
        return {} if file is None else parsed(name, file.data)

    def write(self, name: str, content: dict[str, Any], now: int) -> None:
        """Replace a file by a later version of it. Raises AclError."""
        version = self.later(version_of(content, now), now)
        content["dataVersion"] = [{"counter": version.counter, "timestamp": version.timestamp}]
        data = yaml.safe_dump(content, allow_unicode=True, sort_keys=False).encode()
        self.broker.access.write(name, data, now)

    def later(self, version: DataVersion, now: int) -> DataVersion:
        """The version behind one."""
        return msgspec.structs.replace(version, counter=version.counter + 1, timestamp=now)
