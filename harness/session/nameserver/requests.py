"""What a case asks a NameServer: one method for one request, whose exchange has the views of its reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from harness.session.connection import Connection
from harness.session.exchange import Exchange
from harness.session.nameserver.controller import ControllerRequests
from harness.session.nameserver.views import (
    ClusterExchange,
    CountExchange,
    MemberGroupExchange,
    RouteExchange,
    TableExchange,
    TopicsExchange,
    ValueExchange,
)
from harness.session.request_method import RequestMethod
from harness.session.requests import HeaderFields, fields
from harness.session.views import ConfigExchange
from harness.wire import RequestCode
from harness.wire.bodies import Properties, QueueData, TopicRoute

Queues = Mapping[str, tuple[int, ...]]
"""``{broker name: (read queues, write queues, perm[, sysflag])}``, in the order in which they are sent."""


class NameServerRequests(ControllerRequests):
    """The requests of a ``NameServerSession``. Those that only 5.x knows say so."""

    # --- routes and clusters --------------------------------------------------------------------------------

    route = RequestMethod(
        RouteExchange,
        RequestCode.GET_ROUTEINFO_BY_TOPIC,
        topic="topic",
        standard=("acceptStandardJsonOnly", None),
    )
    cluster = RequestMethod(ClusterExchange, RequestCode.GET_BROKER_CLUSTER_INFO)
    member_group = RequestMethod(  # 5.x
        MemberGroupExchange,
        RequestCode.GET_BROKER_MEMBER_GROUP,
        cluster="clusterName",
        broker="brokerName",
    )
    wipe_write_perm = RequestMethod(
        CountExchange,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        broker="brokerName",
    )
    add_write_perm = RequestMethod(
        CountExchange,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        broker="brokerName",
    )

    # --- topics ---------------------------------------------------------------------------------------------

    topics = RequestMethod(TopicsExchange, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    cluster_topics = RequestMethod(TopicsExchange, RequestCode.GET_TOPICS_BY_CLUSTER, cluster="cluster")
    system_topics = RequestMethod(TopicsExchange, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    unit_topics = RequestMethod(TopicsExchange, RequestCode.GET_UNIT_TOPIC_LIST)
    unit_sub_topics = RequestMethod(TopicsExchange, RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST)
    unit_sub_only_topics = RequestMethod(
        TopicsExchange,
        RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    )
    delete_topic = RequestMethod(
        Exchange,
        RequestCode.DELETE_TOPIC_IN_NAMESRV,
        topic="topic",
        cluster=("clusterName", None),
    )

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
        return Exchange(self.request(code, fields(topic=topic), body, on, topic or "", header))

    # --- KV configuration -----------------------------------------------------------------------------------

    put_kv = RequestMethod(
        Exchange,
        RequestCode.PUT_KV_CONFIG,
        namespace="namespace",
        key="key",
        value="value",
    )
    get_kv = RequestMethod(
        ValueExchange,
        RequestCode.GET_KV_CONFIG,
        namespace="namespace",
        key="key",
    )
    delete_kv = RequestMethod(
        Exchange,
        RequestCode.DELETE_KV_CONFIG,
        namespace="namespace",
        key="key",
    )
    list_kv = RequestMethod(
        TableExchange,
        RequestCode.GET_KVLIST_BY_NAMESPACE,
        namespace="namespace",
    )

    # --- settings -------------------------------------------------------------------------------------------

    config = RequestMethod(ConfigExchange, RequestCode.GET_NAMESRV_CONFIG)

    def update_config(
        self,
        given: Mapping[str, str] | str | bytes | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UPDATE_NAMESRV_CONFIG (318): pairs, the text of pairs as it is, or None for no body. In the end the
        settings are set back.
        """
        self.keep_settings()
        body = Properties(dict(given)).encode() if isinstance(given, Mapping) else given or b""
        text = body.encode() if isinstance(body, str) else body
        code = RequestCode.UPDATE_NAMESRV_CONFIG
        return Exchange(self.request(code, None, text, on, repr(text.decode("iso-8859-1")), header))
