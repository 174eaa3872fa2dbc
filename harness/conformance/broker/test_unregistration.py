"""Chapter unregistration: the requests of a Broker that stops."""

from harness.conformance import Closed, Including, Reply, Request, case
from harness.conformance.broker.registrations import AT_START, REGISTER, STOPPING
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode

UNREGISTER = RequestCode.UNREGISTER_BROKER
TWO = {"namesrvAddr": "{nameserver};{nameserver2}"}


@case(
    "bk.unregistration.is-sent-at-the-end",
    "bk.unregistration.names-the-broker",
    "bk.unregistration.goes-to-every-nameserver",
    "bk.unregistration.refusal-delays-no-other",
    "bk.unregistration.ends-what-is-connected",
    kills=[
        "leaves-without-a-word",
        "departure-without-id",
        "unregisters-from-the-first-only",
        "broker-that-has-left-stays",
    ],
    own_server=True,
    setup=TWO,
)
def test_is_sent_at_the_end(bk: BrokerSession) -> None:
    """A Broker that stops unregisters from each of its NameServers, with what it had registered."""
    first, second = bk.nameservers
    registered = first.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including({"brokerId": "0"}))
    assert registered.command is not None and registered.command.ext is not None
    names = ("brokerName", "brokerAddr", "clusterName", "brokerId")
    said = {name: registered.command.ext[name] for name in names}
    first.answers(UNREGISTER, ResponseCode.SYSTEM_ERROR, remark="no")
    client = bk.connect()
    bk.config(on=client) >> Reply(ResponseCode.SUCCESS)
    bk.shutdown()
    first.next(UNREGISTER, within=STOPPING) >> Request(UNREGISTER, ext=Including(said), flag=0)
    second.next(UNREGISTER, within=STOPPING) >> Request(UNREGISTER, ext=Including(said), flag=0)
    client.closes() >> Closed()


@case(kills=["unregisters-until-one-is-silent"], own_server=True, setup=TWO)
def test_silence_does_not_prevent_the_others(bk: BrokerSession) -> None:
    first, second = bk.nameservers
    first.ignores(UNREGISTER)
    bk.shutdown()
    first.next(UNREGISTER, within=STOPPING) >> Request(UNREGISTER)
    second.next(UNREGISTER, within=STOPPING) >> Request(UNREGISTER)
