"""What can go wrong beside a test's own expectations. Every text says what was expected and what to do."""


class RocketMQError(Exception):
    """The cluster cannot do what was asked of it: it does not run, has stopped, or did not answer."""


class OptionError(RocketMQError, ValueError):
    """An option or an argument cannot be used."""
