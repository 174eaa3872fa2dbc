"""Faults of the list of all topics (code 206)."""

from harness.wire import Command
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.remoting.reply import Reply


@mutant("topic-list-has-one-topic-of-a-broker", "Of each broker name one topic is listed.")
def topic_list_has_one_topic_of_a_broker(parts: Parts) -> Parts:
    def topic_names(self: RouteTable) -> list[str]:
        first: dict[str, str] = {}
        for topic, queues in self.topics.items():
            for name in queues:
                first.setdefault(name, topic)
        return sorted(set(first.values()))

    return parts.override("routes", topic_names)


@mutant("topic-list-repeats-topics", "A topic is listed once for each broker name that serves it.")
def topic_list_repeats_topics(parts: Parts) -> Parts:
    def topic_names(self: RouteTable) -> list[str]:
        return [topic for topic, queues in self.topics.items() for _ in queues]

    return parts.override("routes", topic_names)


@mutant("topic-list-is-cached-for-a-second", "The list of all topics is answered from a cache for a second.")
def topic_list_is_cached_for_a_second(parts: Parts) -> Parts:
    def list_topics(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        cached: tuple[int, Reply] | None = self.__dict__.get("topic_cache")
        if cached is not None and now - cached[0] <= 1000:
            return cached[1]
        reply = parts.nameserver.list_topics(self, command, connection, now)
        self.__dict__["topic_cache"] = (now, reply)
        return reply

    return parts.override("nameserver", list_topics)


@mutant("topic-list-is-ascii", "In the list of all topics each character beyond ASCII is a question mark.")
def topic_list_is_ascii(parts: Parts) -> Parts:
    def topic_names(self: RouteTable) -> list[str]:
        return [topic.encode("ascii", "replace").decode() for topic in self.topics]

    return parts.override("routes", topic_names)
