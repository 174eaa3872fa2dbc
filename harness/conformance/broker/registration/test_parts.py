"""Chapter registration: parts of a registration whose answers cannot be read."""

from harness.conformance import Request, case
from harness.conformance.broker.registration.test_changes import SPLIT
from harness.conformance.broker.registrations import REGISTER
from harness.session import BrokerSession


@case(kills=["bad-tables-hold-the-next-part-up"], clock=True, setup=SPLIT)
def test_parts_follow_an_answer_that_cannot_be_read(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)
    bk.advance(5)  # the other parts of it have come
    for body in (b"{nonsense", b"[]", b"null", b'{"table":7}'):
        bk.nameserver.answers(REGISTER, body=body)
        first = bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)
        for _ in range(2):
            bk.nameserver.next(REGISTER, since=first, within=5) >> Request(REGISTER)
        bk.advance(5)
