"""What a request is signed with.

Source: AclUtils#combineRequestContent, AclSigner#calSignature, PlainAccessValidator#parse of
rocketmq-all-4.9.8.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from typing import Final

ACCESS_KEY: Final = "AccessKey"
SIGNATURE: Final = "Signature"
_UNSIGNED: Final = frozenset({SIGNATURE, "_UNIQUE_KEY_QUERY"})
"""Fields that a client adds when it has signed."""


def signed_content(ext: Mapping[str, str | None], body: bytes) -> bytes:
    """The values of the fields in the order of their names, and the body."""
    values = (ext[name] for name in sorted(ext) if name not in _UNSIGNED)
    return "".join("null" if value is None else value for value in values).encode() + body


def signature_of(content: bytes, secret: str) -> str:
    """HMAC-SHA1 in base 64."""
    return base64.b64encode(hmac.digest(secret.encode(), content, "sha1")).decode("ascii")
