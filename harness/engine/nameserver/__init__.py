"""NameServers: what programs for them are made of, and what taking part in them needs."""
