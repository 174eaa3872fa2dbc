"""What the rules of a Broker's machine do: steps, chosen with regard to what should exist.

See `harness.engine.nameserver.strategies`.
"""
