"""Mutants of the remarks of answers."""

from reference_impl.broker.endpoint import Endpoint
from reference_impl.mutants.registry import V5, after, mutant


@after(Endpoint.response, "A refusal has no remark.")
def refusals_have_no_remark(response):
    if response.code:
        response.remark = None
    return response


@mutant(Endpoint.response, "An answer has no remark where it has an empty one.", V5)
def empty_remarks_are_left_out(original, self, request, reply):
    response = original(self, request, reply)
    response.remark = response.remark or None
    return response
