"""Mutants of filters that requests bring."""

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName
from reference_impl.broker.filters import Filters
from reference_impl.broker.pop import Pops
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.sql import Selector
from reference_impl.broker.store import Store, Wanted
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply

_OF_BROKERS = (PropertyName.KEYS, PropertyName.TAGS, PropertyName.UNIQ_KEY)


@mutant(Store.get, "A filter by properties stops at the second message that passes.")
def filters_want_the_first_alone(
    original, self, topic, queue_id, offset, most, wanted=None, most_bytes=1 << 18
):
    one = wanted is not None and wanted.properties is not None
    return original(self, topic, queue_id, offset, 1 if one else most, wanted, most_bytes)


@mutant(Pulls.next_offset, "A pull that finds nothing that passes its filter is to begin at the same offset.")
def unwanted_messages_are_not_passed_over(original, self, asked, got):
    return original(self, asked, got) if got.frames else asked.offset


@after(Filters.brought, "A filter of a pull that cannot be compiled lets everything pass.")
def unreadable_filters_want_everything(found):
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED
    return Wanted() if is_refused else found


@mutant(Pulls.filter, "Where filters are on, tags are taken for filters by properties.")
def tags_do_not_count_beside_filters(original, self, subscription):
    return Wanted(tags=()) if self.config.enable_property_filter else original(self, subscription)


@after(Filters.compile, "Filters do not see the properties that are the Broker's own.")
def messages_have_the_properties_of_users_alone(selector):
    return selector and _Blind(selector.condition)


class _Blind(Selector, frozen=True):
    def wants(self, properties):
        return super().wants({name: value for name, value in properties.items() if name not in _OF_BROKERS})


@after(Filters.brought, "A pull that brings a filter is carried out where filters are off.")
def filters_are_never_refused(found):
    return Wanted() if isinstance(found, Reply) and found.code == ResponseCode.SYSTEM_ERROR else found


@mutant(Filters.check, "A filter by SQL cannot be checked.")
def filters_cannot_be_checked(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    wanted = self.to_check(command)
    is_sql = wanted is not None and wanted.expression_type == "SQL92"
    return Reply(ResponseCode.SYSTEM_ERROR) if is_sql else reply


@after(Filters.check, "A filter is not compiled when it is checked.")
def unreadable_filters_pass_the_check(reply):
    if reply.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED:
        reply.code = ResponseCode.SUCCESS


@mutant(Filters.looks_at_first_topic, "What comes again is always filtered as in its first topic.")
def what_comes_again_is_filtered_as_before(original, self, topic):
    return topic.startswith("%RETRY%")


@mutant(Filters.looks_at_first_topic, "filterSupportRetry has no effect.")
def filter_support_retry_is_ignored(original, self, topic):
    return False


@mutant(Filters.of_first_topic, "What comes again passes only where its first topic has a filter.")
def first_topics_without_a_filter_want_nothing(original, self, group):
    found = original(self, group).properties
    return Wanted(
        properties=lambda properties: (
            self.of(properties.get(PropertyName.RETRY_TOPIC, ""), group) is not None and found(properties)
        )
    )


@mutant(Pops.wanted, "A pop gets messages that its filter does not let pass.", V5)
def pops_want_everything(original, self, subscription):
    found = original(self, subscription)
    return None if isinstance(found, Wanted) and found.properties is not None else found


@after(Pops.asked, "A pop that names SQL92 and has no filter is refused.", V5)
def pops_without_a_filter_are_refused(found):
    found.expression = found.expression or ("=" if found.expression_type == "SQL92" else None)


@mutant(Pops.wanted, "A pop with a filter is refused where filters are off.", V5)
def pops_need_filters_on(original, self, subscription):
    found = original(self, subscription)
    filters = isinstance(found, Wanted) and found.properties is not None
    return self.no_filter() if filters and not self.config.enable_property_filter else found


@mutant(Pops.wanted, "A filter of a pop that cannot be compiled lets everything pass.", V5)
def unreadable_filters_of_pops_want_everything(original, self, subscription):
    found = original(self, subscription)
    return None if isinstance(found, Reply) else found
