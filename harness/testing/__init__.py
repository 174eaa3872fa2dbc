"""A RocketMQ for tests of applications: a cluster in the process of the test, and what a test asks of it.

    from harness.testing import RocketMQ

    with RocketMQ(topics=["orders"]) as rocketmq:
        Shop(namesrv=rocketmq.namesrv).order("book")

It serves clients of any language; nothing here is one. `docs/guides/testing.md` is the tutorial.
"""

from .problems import OptionError, RocketMQError
from .rocketmq import RocketMQ

__all__ = ["OptionError", "RocketMQ", "RocketMQError"]
