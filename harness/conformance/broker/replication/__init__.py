"""Chapter replication: a master pushes its log to slaves, and a slave stores what it is pushed.

The cases are the other Broker themselves (`bk.slave()`, `bk.master()`). Replication by DLedger or under a
controller is not judged.
"""
