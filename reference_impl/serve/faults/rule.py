"""A fault, who meets it, and how often."""

from collections.abc import Callable

from reference_impl.remoting.endpoint import RemotingEndpoint

from .actions import Action
from .request import Request
from .selector import Selector


class Rule:
    """What happens to the next `times` requests that are selected; None: to all of them.

    All servers of a cluster have the same rule, and count together. It is used in their event loop alone.
    `on_request` gets every request while the rule lasts, and whether the fault happens to it.
    """

    def __init__(
        self,
        action: Action,
        selector: Selector,
        times: int | None,
        on_request: Callable[[Request, bool], None],
    ) -> None:
        self._action = action
        self._selector = selector
        self._left = times
        self._on_request = on_request

    @property
    def is_over(self) -> bool:
        """Whether it has happened as often as it is to."""
        return self._left == 0

    def take(self, request: Request) -> Action | None:
        """What happens to a request, which then counts; None: nothing."""
        if self.is_over:
            return None
        action = self.action_for(request) if self._selector.selects(request) else None
        if action is not None and self._left is not None:
            self._left -= 1
        self._on_request(request, action is not None)
        return action

    def action_for(self, request: Request) -> Action | None:
        """What happens to a request that is selected."""
        return self._action if self._action.wants(request) else None

    def begin(self, endpoint: RemotingEndpoint) -> None:
        """It begins at a server."""
        self._action.begin(endpoint)

    def end(self, endpoint: RemotingEndpoint) -> None:
        """It ends at a server."""
        self._action.end(endpoint)
