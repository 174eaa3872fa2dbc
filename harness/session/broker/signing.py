"""Requests with the signature of an account, as Java's ``AclClientRPCHook`` makes it."""

from __future__ import annotations

import base64
import hashlib
import hmac

import msgspec

from harness.wire import Command


class Account(msgspec.Struct, frozen=True):
    """An access key and its secret key. ``token``: a security token, which few accounts have."""

    access_key: str
    secret_key: str
    token: str | None = None

    def sign(self, command: Command) -> Command:
        """The request with the fields of the account and their signature."""
        ext = {**(command.ext or {}), "AccessKey": self.access_key}
        ext.pop("Signature", None)
        if self.token is not None:
            ext["SecurityToken"] = self.token
        values = [value for _, value in sorted(ext.items()) if value is not None]
        content = "".join(values).encode() + command.body
        made = hmac.new(self.secret_key.encode(), content, hashlib.sha1).digest()
        return msgspec.structs.replace(command, ext={**ext, "Signature": base64.b64encode(made).decode()})
