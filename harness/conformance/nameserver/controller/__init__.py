"""Chapter controller: who of the Brokers of one name is the master (5.x, at a port of its own).

Every Broker of a case has a connection of its own to the controller, for its heartbeats; they count for so
long that only a case about that sees one run out. What the end of a connection changes is awaited with
`eventually`.
"""
