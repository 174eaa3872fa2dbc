"""Chapter configuration: settings that are shown and changed while the server runs (codes 318, 319).

A case changes a setting back, for the cases that come after: they share a server that was started for them.
It judges an update by its effect: what 319 shows afterwards, and what the server then does.
"""
