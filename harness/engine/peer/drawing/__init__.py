"""What random programs for two targets are drawn from, a module for each kind of step."""
