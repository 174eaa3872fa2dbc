"""What administrators and clients ask of a Broker, and what it announces."""

from harness.wire import Command, RequestCode
from reference_impl.broker.outbox import Asking

TOPIC = {
    "topic": "T", "defaultTopic": "TBW102", "readQueueNums": 2, "writeQueueNums": 3, "perm": 6,
    "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": "true",
}  # fmt: skip


def topic(one, **changes):
    ext = {name: value for name, value in (TOPIC | changes).items() if value is not None}
    return one.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, ext)


def announced(one):
    """How many registrations are under way; the NameServer answers them."""
    asking = one.taken(Asking)
    for registration in asking:
        registration.done(Command(code=0, flag=1), one.now)
    return len(asking)
