"""Mutants of the remarks of answers."""

from reference_impl.broker.endpoint import Endpoint
from reference_impl.mutants.registry import after


@after(Endpoint.response, "A refusal has no remark.")
def refusals_have_no_remark(response):
    if response.code:
        response.remark = None
    return response
