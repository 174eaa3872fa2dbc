"""The RocketMQ for tests, for every other language: `harness.testing` over HTTP.

1. A method of `RocketMQ` is an operation of the same name. Its parameters, errors and description are those
   of the method: handlers only translate values.
2. `rmq-harness docs` makes `specs/rendered/control/openapi.json` of the same table that the routes are made
   of.
3. No operation reads a path of the machine, names a file or runs a command.

Starlette and uvicorn are the extra `control`; `app` and `serving` alone import them.
"""
