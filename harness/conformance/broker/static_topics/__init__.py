"""Chapter static-topics: topics whose queues are mapped to queues of Brokers (5.x)."""
