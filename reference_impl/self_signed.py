"""A self-signed certificate, for TLS where nobody configured one: key, certificate and PEM from nothing.

Rules:
1. For tests only, as Apache's test mode is: it proves no identity. The arithmetic is plain and takes as
   long as its numbers want, which for one signature at the start of a server tells nobody anything.
2. Randomness is given, in bytes.

Source: NIST P-256 and ECDSA (FIPS 186-5, SEC 1), X.509 (RFC 5280), DER (X.690).
"""

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

__all__ = ["self_signed"]

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

_Point = tuple[int, int] | None
"""A point of the curve; None is the one at infinity."""

_EC_PUBLIC_KEY = "2a8648ce3d0201"
_PRIME256V1 = "2a8648ce3d030107"
_ECDSA_WITH_SHA256 = "2a8648ce3d040302"
_COMMON_NAME = "550403"
_SUBJECT_ALT_NAME = "551d11"


def self_signed(random: Callable[[int], bytes], now: datetime, days: int = 3650) -> str:
    """PEM text of a new P-256 key and of a certificate for `localhost` and 127.0.0.1, valid from a day ago.

    `random(n)` gives n random bytes; `now` is in UTC.
    """
    key = 1 + int.from_bytes(random(40), "big") % (_ORDER - 1)
    public = _bits(b"\x04" + _both(_times(key, _BASE)))
    name = _sequence(_set(_sequence(_oid(_COMMON_NAME), _der(0x0C, b"localhost"))))
    algorithm = _sequence(_oid(_ECDSA_WITH_SHA256))
    alternatives = _sequence(_der(0x82, b"localhost"), _der(0x87, bytes([127, 0, 0, 1])))
    content = _sequence(
        _der(0xA0, _number(2)),  # version 3
        _number(int.from_bytes(random(8), "big") | 1),
        algorithm,
        name,
        _sequence(_time(now - timedelta(days=1)), _time(now + timedelta(days=days))),
        name,
        _sequence(_sequence(_oid(_EC_PUBLIC_KEY), _oid(_PRIME256V1)), public),
        _der(0xA3, _sequence(_sequence(_oid(_SUBJECT_ALT_NAME), _der(0x04, alternatives)))),
    )
    certificate = _sequence(content, algorithm, _bits(_signature(key, content, random)))
    private = _sequence(
        _number(1), _der(0x04, key.to_bytes(32, "big")), _der(0xA0, _oid(_PRIME256V1)), _der(0xA1, public)
    )
    return _pem("EC PRIVATE KEY", private) + _pem("CERTIFICATE", certificate)


def _signature(key: int, message: bytes, random: Callable[[int], bytes]) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    while True:
        once = 1 + int.from_bytes(random(40), "big") % (_ORDER - 1)
        point = _times(once, _BASE)
        r = point[0] % _ORDER if point else 0
        s = pow(once, -1, _ORDER) * (digest + r * key) % _ORDER
        if r and s:
            return _sequence(_number(r), _number(s))


# -- the curve -----------------------------------------------------------------------------------------------


def _plus(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % _P == 0:
            return None
        slope = 3 * (one[0] * one[0] - 1) * pow(2 * one[1], -1, _P)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P)
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _times(number: int, point: _Point) -> _Point:
    total: _Point = None
    while number:
        if number & 1:
            total = _plus(total, point)
        point = _plus(point, point)
        number >>= 1
    return total


def _both(point: _Point) -> bytes:
    assert point is not None  # a multiple of the base by less than its order
    return point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


# -- DER and PEM ---------------------------------------------------------------------------------------------


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _sequence(*parts: bytes) -> bytes:
    return _der(0x30, b"".join(parts))


def _set(*parts: bytes) -> bytes:
    return _der(0x31, b"".join(parts))


def _number(value: int) -> bytes:
    return _der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _oid(encoded: str) -> bytes:
    return _der(0x06, bytes.fromhex(encoded))


def _bits(content: bytes) -> bytes:
    return _der(0x03, b"\0" + content)


def _time(moment: datetime) -> bytes:
    """UTCTime reaches to 2049, GeneralizedTime says the rest."""
    if moment.year < 2050:
        return _der(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())
    return _der(0x18, moment.strftime("%Y%m%d%H%M%SZ").encode())


def _pem(kind: str, content: bytes) -> str:
    text = base64.b64encode(content).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""))
