"""The machine of pairs: a Broker that is a master, and one that is its slave.

As in `harness.engine.broker`. What passes between the two is a step of the program.
"""
