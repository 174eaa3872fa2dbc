"""What a case says to a NameServer about topics as a whole: their lists, their deletion, their registration.

One method for one request, as in ``nameserver.py``, which these methods are part of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from harness.session.connection import Connection
from harness.session.exchange import Exchange
from harness.session.requests import HeaderFields, fields
from harness.session.terms import TermSession
from harness.session.views import TopicsExchange
from harness.wire import RequestCode
from harness.wire.bodies import QueueData, TopicRoute

__all__ = ["Queues", "TopicSession"]

Queues = Mapping[str, tuple[int, ...]]
"""``{broker name: (read queues, write queues, perm[, sysflag])}``, in the order in which they are sent."""


class TopicSession(TermSession):
    """The requests about topics of a ``NameServerSession``."""

    def topics(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> TopicsExchange:
        """GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206)."""
        code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        return TopicsExchange(self.question(code, None, b"", on, "list of all topics", header))

    def cluster_topics(
        self, cluster: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> TopicsExchange:
        """GET_TOPICS_BY_CLUSTER (224)."""
        code, sent = RequestCode.GET_TOPICS_BY_CLUSTER, fields(cluster=cluster)
        return TopicsExchange(self.question(code, sent, b"", on, f"topics of cluster {cluster}", header))

    def system_topics(
        self, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> TopicsExchange:
        """GET_SYSTEM_TOPIC_LIST_FROM_NS (304): names of clusters and brokers. ``.address`` is a broker's."""
        code = RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS
        return TopicsExchange(self.question(code, None, b"", on, "list of system topics", header))

    def unit_topics(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> TopicsExchange:
        """GET_UNIT_TOPIC_LIST (311)."""
        code = RequestCode.GET_UNIT_TOPIC_LIST
        return TopicsExchange(self.question(code, None, b"", on, "list of unit topics", header))

    def unit_sub_topics(
        self, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> TopicsExchange:
        """GET_HAS_UNIT_SUB_TOPIC_LIST (312)."""
        code = RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST
        return TopicsExchange(
            self.question(code, None, b"", on, "list of topics with unit subscriptions", header)
        )

    def unit_sub_only_topics(
        self, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> TopicsExchange:
        """GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST (313)."""
        code = RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST
        subject = "list of topics with unit subscriptions that are no unit topics"
        return TopicsExchange(self.question(code, None, b"", on, subject, header))

    def delete_topic(
        self,
        topic: str | None,
        cluster: str | None = None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """DELETE_TOPIC_IN_NAMESRV (216). A field that is None is left out."""
        code, sent = RequestCode.DELETE_TOPIC_IN_NAMESRV, fields(topic=topic, clusterName=cluster)
        return Exchange(self.question(code, sent, b"", on, f"delete topic {topic}", header))

    def register_topic(
        self,
        topic: str | None,
        queues: Queues | None = None,
        *,
        body: bytes | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """REGISTER_TOPIC_IN_NAMESRV (217), which only 5.x knows. ``body`` replaces the whole body."""
        if body is None:
            body = TopicRoute(
                queue_datas=[QueueData(name, *numbers) for name, numbers in (queues or {}).items()]
            ).encode()
        code = RequestCode.REGISTER_TOPIC_IN_NAMESRV
        return Exchange(self.question(code, fields(topic=topic), body, on, f"register topic {topic}", header))
