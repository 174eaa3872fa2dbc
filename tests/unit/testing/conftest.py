"""The fixtures of the wheel, which need not be installed here."""

from harness.pytest_rocketmq import rocketmq, rocketmq_options, rocketmq_server

__all__ = ["rocketmq", "rocketmq_options", "rocketmq_server"]
