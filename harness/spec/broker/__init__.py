"""What may be observed of a Broker: an independent reading of the catalogue that judges answers.

As in `harness.spec`. What is not known for certain is an interval or a set: a
message that was sent and not answered may be there or not, a committed offset that was written while it was
asked for is one of several. What a Broker may lose in a kill (offsets and delays that it had not written down
yet) is not known afterwards.
"""

from harness.spec.broker.tracker import BrokerTracker

__all__ = ["BrokerTracker"]
