"""``builtin:``: the reference, in this process."""
