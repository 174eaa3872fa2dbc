"""`python -m bench`: all benchmarks, one after the other. Needs Java and Maven; talks to loopback only."""

from bench import broker, campaign, catalogue, codec, flood, machines, server, store

for benchmark in (codec, store, server, broker, catalogue, flood, machines, campaign):
    benchmark.main()
    print()
