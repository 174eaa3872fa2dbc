"""A RocketMQ for tests of applications: a cluster in the process of the test, and what a test asks of it.

    from harness.testing import RocketMQ

    with RocketMQ(topics=["orders"]) as rocketmq:
        Shop(namesrv=rocketmq.namesrv).order("book")

It serves clients of any language; nothing here is one. `docs/guides/testing.md` is the tutorial.
"""

from harness.remarks import Evidence, Remark

from .clients import Client
from .fault import FaultNotMetError
from .messages import Message, Pending
from .own import OwnNames
from .problems import OptionError, RocketMQError
from .progress import QueueProgress
from .requests import Answer, Request, Requests
from .rocketmq import RocketMQ
from .sending import Sent
from .view import View

__all__ = [
    "Answer",
    "Client",
    "Evidence",
    "FaultNotMetError",
    "Message",
    "OptionError",
    "OwnNames",
    "Pending",
    "QueueProgress",
    "Remark",
    "Request",
    "Requests",
    "RocketMQ",
    "RocketMQError",
    "Sent",
    "View",
]
