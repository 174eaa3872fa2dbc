"""Chapter role: what a Broker does when it becomes a master or a slave while it runs.

By the settings (code 25) this is possible in both lines. A change by DLedger or by a controller is not
judged: both need several Brokers of one kind.
"""
