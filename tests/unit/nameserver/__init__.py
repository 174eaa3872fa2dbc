"""The reference NameServer, driven by bytes in virtual time. What a case proves is not tested here again."""
