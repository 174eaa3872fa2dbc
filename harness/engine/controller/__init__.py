"""Programs for the controller of a NameServer: what makes them, what they are to reach, and their kind.

Controllers are a role of their own here, though their servers are NameServers: they are asked at another
port, under settings of their own, about other things.
"""
