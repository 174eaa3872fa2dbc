"""The reference Broker: bytes, answers of NameServers and time in, effects out."""
