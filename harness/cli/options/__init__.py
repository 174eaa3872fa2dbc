"""What each command takes: a module for each, with `add(parser)`, imported when that command is used.

They stand apart from the commands, so that `--help` and mistakes import nothing that only a run needs.
"""
