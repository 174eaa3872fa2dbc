"""What may be observed of a Broker: an independent reading of the catalogue that judges answers.

Rules of this package: those of `harness.model`. What is not known for certain is an interval or a set: a
message that was sent and not answered may be there or not, a committed offset that was written while it was
asked for is one of several. What a Broker may lose in a kill (offsets and delays that it had not written down
yet) is not known afterwards.
"""

from harness.model.broker.knowledge import BrokerKnowledge

__all__ = ["BrokerKnowledge"]
