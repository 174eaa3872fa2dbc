"""Requests about topics as a whole: their lists, their deletion, their registration without a broker.

Rules are those of `core.py`. A request that lacks the name of a topic or a cluster names nothing, which is
answered as unknown ones are: with success.

Source: DefaultRequestProcessor of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections.abc import Callable

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import TopicList
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .topic_table import TopicTable


class TopicRequests:
    """The part of a NameServer that is about topics; both lines share it."""

    routes: TopicTable

    @answers(RequestCode.DELETE_TOPIC_IN_NAMESRV)
    def delete_topic(self, command: Command, connection: int, now: int) -> Reply:
        """With a cluster only the broker names that it lists lose the topic; an empty one is none."""
        topic, cluster = fields.text(command.ext, "topic"), fields.text(command.ext, "clusterName")
        if topic is not None:
            if cluster:
                self.routes.delete_topic_in(topic, cluster)
            else:
                self.routes.delete_topic(topic)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    def list_topics(self, command: Command, connection: int, now: int) -> Reply:
        return self.listed(command, self.routes.topic_names)

    @answers(RequestCode.GET_TOPICS_BY_CLUSTER)
    def list_cluster_topics(self, command: Command, connection: int, now: int) -> Reply:
        cluster = fields.text(command.ext, "cluster")
        return self.listed(command, lambda: [] if cluster is None else self.routes.topics_in(cluster))

    @answers(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    def list_system_topics(self, command: Command, connection: int, now: int) -> Reply:
        """Names of clusters and brokers, and the address of one broker, for clients to ask further."""
        names = TopicList(topic_list=self.routes.system_names(), broker_addr=self.routes.some_address())
        return Reply(ResponseCode.SUCCESS, body=names.encode())

    @answers(RequestCode.GET_UNIT_TOPIC_LIST)
    def list_unit_topics(self, command: Command, connection: int, now: int) -> Reply:
        return self.listed(command, self.routes.unit_topics)

    @answers(RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST)
    def list_unit_sub_topics(self, command: Command, connection: int, now: int) -> Reply:
        return self.listed(command, self.routes.unit_sub_topics)

    @answers(RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST)
    def list_unit_sub_only_topics(self, command: Command, connection: int, now: int) -> Reply:
        return self.listed(command, self.routes.unit_sub_only_topics)

    def listed(self, command: Command, names: Callable[[], list[str]]) -> Reply:
        """The reply with a list of topics, if the server is configured to give it."""
        if not self.gives_list(command.code):
            return Reply(ResponseCode.SYSTEM_ERROR, remark="disable")
        return Reply(ResponseCode.SUCCESS, body=TopicList(topic_list=names()).encode())

    def gives_list(self, code: int) -> bool:
        """Whether the list that a request code asks for is given at all."""
        return True
