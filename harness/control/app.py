"""The operations as an ASGI application: it reads a request, calls the method in a thread, and answers.

Methods wait for the event loop that also answers requests, so each is called in a thread. `MOST` of them may
wait at once; what comes then is refused, so that a look at the cluster is never behind all the waits.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeAlias

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.catalogue import did_you_mean

from . import reading
from .controlled import Controlled
from .guard import Hosts
from .openapi import PATH, description
from .operations import OPERATIONS, Operation
from .problems import MEDIA_TYPE, Problem, ProblemError, problem_of

MOST: Final = 32
"""Requests that wait for their answer at once."""
BODY_WITHIN: Final = 30.0
"""Seconds in which a body is here."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

Endpoint: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


def application(rocketmq: Controlled, hosts: Hosts) -> ASGIApp:
    """What answers for a cluster. It is to run in the event loop of the servers."""
    limit = CapacityLimiter(MOST)
    by_path: dict[str, dict[str, Operation]] = {}
    for one in OPERATIONS:
        by_path.setdefault(one.path, {})[one.method] = one
    routes = [
        Route(path, _endpoint(rocketmq, by_method, limit), methods=list(by_method))
        for path, by_method in by_path.items()
    ]
    itself = msgspec.json.encode(description())
    routes.append(Route(PATH, _always(itself)))
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    inner.router.redirect_slashes = False
    return _Guarded(inner, hosts)


class _Guarded:
    """Asks who asks before anything is read."""

    def __init__(self, inner: ASGIApp, hosts: Hosts) -> None:
        self._inner = inner
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._hosts.check(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
            )
        except ProblemError as error:
            await _problem(error.problem)(scope, receive, send)
        else:
            await self._inner(scope, receive, send)


def _endpoint(rocketmq: Controlled, by_method: Mapping[str, Operation], limit: CapacityLimiter) -> Endpoint:
    async def answer(request: Request) -> Response:
        operation = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            given = await _given(operation, request)
            result = await _called(operation, rocketmq, given, limit)
            return _success(operation, result)
        except Exception as error:  # whatever it is, the cluster goes on
            problem = problem_of(error)
            if problem.status == 500:
                sys.stderr.write("".join(traceback.format_exception(error)))
            return _problem(problem)

    return answer


async def _given(operation: Operation, request: Request) -> dict[str, Any]:
    query: bytes = request.scope["query_string"]
    if operation.method == "GET":
        return reading.of_query(operation, query)
    if query:
        raise ProblemError(
            "malformed", "query: expected none; parameters of POST are a JSON object, the body"
        )
    headers = request.headers
    body = await _body(request)
    return reading.of_body(
        operation, headers.getlist("content-type"), headers.get("content-encoding", ""), body
    )


async def _body(request: Request) -> bytes:
    parts = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for part in request.stream():
                parts += part
                if len(parts) > reading.LARGEST:
                    raise ProblemError(
                        "too-large", f"body: expected {reading.LARGEST} bytes at most, got more"
                    )
    except TimeoutError:
        raise ProblemError("slow", f"body: expected it within {BODY_WITHIN:g} s") from None
    except ClientDisconnect:
        raise ProblemError("malformed", "body: the connection ended before it was here") from None
    return bytes(parts)


async def _called(
    operation: Operation, rocketmq: Controlled, given: dict[str, Any], limit: CapacityLimiter
) -> object:
    if limit.borrowed_tokens >= MOST:
        raise ProblemError("busy", f"{MOST} requests wait for their answer; expected fewer, try again later")
    return await to_thread.run_sync(operation.run, rocketmq, given, limiter=limit, abandon_on_cancel=True)


def _success(operation: Operation, result: object) -> Response:
    if operation.result is None:
        return Response(status_code=204, headers=_HEADERS)
    if isinstance(result, bytes):
        return Response(result, media_type="application/octet-stream", headers=_HEADERS)
    return Response(msgspec.json.encode(result), media_type="application/json", headers=_HEADERS)


def _problem(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(problem),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=_HEADERS | dict(headers or {}),
    )


def _always(body: bytes) -> Endpoint:
    async def answer(_: Request) -> Response:
        return Response(body, media_type="application/json", headers=_HEADERS)

    return answer


async def _refused(request: Request, error: Exception) -> Response:
    """An unknown path, or a method that the path does not take."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        told = f"{request.method} {path:.100}: expected {allowed}; what changes nothing is GET, all else POST"
        return _problem(ProblemError("method", told).problem, error.headers)
    hint = did_you_mean(path, [one.path for one in OPERATIONS])
    told = f"{path:.100}: there is no such operation{hint and f', {hint}'}; {PATH} describes all"
    return _problem(ProblemError("unknown", told).problem)
