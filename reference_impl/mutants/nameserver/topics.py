"""Faults of the list of all topics (code 206)."""

from reference_impl.mutants.registry import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import RouteTable
from reference_impl.remoting.reply import Reply


@mutant(RouteTable.topic_names, "Of each broker name one topic is listed.")
def topic_list_has_one_topic_of_a_broker(original, self):
    first: dict[str, str] = {}
    for topic, queues in self.topics.items():
        for name in queues:
            first.setdefault(name, topic)
    return sorted(set(first.values()))


@mutant(RouteTable.topic_names, "A topic is listed once for each broker name that serves it.")
def topic_list_repeats_topics(original, self):
    return [topic for topic, queues in self.topics.items() for _ in queues]


@mutant(NameServer.list_topics, "The list of all topics is answered from a cache for a second.")
def topic_list_is_cached_for_a_second(original, self, command, connection, now):
    cached: tuple[int, Reply] | None = self.__dict__.get("topic_cache")
    if cached is not None and now - cached[0] <= 1000:
        return cached[1]
    reply = original(self, command, connection, now)
    self.__dict__["topic_cache"] = (now, reply)
    return reply


@mutant(RouteTable.topic_names, "In the list of all topics each character beyond ASCII is a question mark.")
def topic_list_is_ascii(original, self):
    return [topic.encode("ascii", "replace").decode() for topic in self.topics]
