"""Chapter framing: frames, headers, flags, and what a connection survives.

A malformed frame is always sent behind a request that was answered: a close would take an outstanding answer
with it, and a 5.3 server looks at nothing before the twelfth byte of a new connection.
"""
