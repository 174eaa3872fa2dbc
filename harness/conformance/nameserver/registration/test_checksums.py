"""Chapter registration: the checksum of a body."""

import zlib
from itertools import count

from harness.conformance import ABSENT, Reply, case
from harness.conformance.nameserver.registration.bodies import compressed, is_unknown
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode, body_crc32

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR


@case(kills=["crc-has-32-bits"])
def test_matching_crc_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = _body_with_high_crc(broker)
    broker.register(body=body, crc=zlib.crc32(body) & 0x7FFFFFFF) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["crc-is-not-checked"])
def test_wrong_crc_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = broker.body().encode()
    broker.register(body=body, crc=body_crc32(body) ^ 1) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


@case(kills=["crc-refusal-has-another-remark"])
def test_wrong_crc_remark(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = broker.body().encode()
    refused = broker.register(body=body, crc=body_crc32(body) ^ 1)
    refused >> Reply(SYSTEM_ERROR, body=ABSENT, remark="crc32 not match")


@case(kills=["crc-covers-inflated-body", "crc-is-not-checked"])
def test_crc_covers_the_bytes_as_sent(ns: NameServerSession) -> None:
    broker = ns.broker()
    layout = broker.body().layout(v5=False)
    compressed(broker, layout, crc=body_crc32(layout)) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    compressed(broker, layout, crc=body_crc32(zlib.compress(layout))) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["zero-crc-is-checked"])
def test_zero_crc_is_not_checked(ns: NameServerSession) -> None:
    broker, other = ns.broker(), ns.broker()
    broker.register(crc=0) >> Reply(SUCCESS)
    other.register(crc=None) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.cluster().addresses(other.name) >> Reply(SUCCESS, {0: other.address})


@case(kills=["crc-of-no-body-is-not-checked", "crc-is-not-checked"])
def test_crc_without_body_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=b"", crc=7) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


def _body_with_high_crc(broker: Broker) -> bytes:
    """A body of the broker whose CRC-32 has bit 31 set; the data version is chosen for that."""
    bodies = (broker.body(version=broker.newer(n)).encode() for n in count())
    return next(body for body in bodies if zlib.crc32(body) >> 31)
