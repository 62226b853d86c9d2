"""`python -m server`: run a node, or look at its journal. Exit codes: see docs/operations.md."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from server import VERSION, doc_cli, people_cli
from server.backup import cli as backup_cli
from server.errors import ServerError
from server.logs import COMMANDS, run_command
from server.serve import run
from server.settings import help_text, read_settings

HELP = {"--help", "-h"}
OTHERS = (*people_cli.COMMANDS, *backup_cli.COMMANDS, *doc_cli.COMMANDS)
"""Commands with a help of their own."""


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def main(arguments: list[str]) -> int:
    """Run; the exit code. A person sees one line, never a stack trace."""
    if arguments[:1] and arguments[0] not in OTHERS and HELP & set(arguments):
        print(help_text())
        return 0
    if arguments == ["--version"]:
        print(VERSION)
        return 0
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    try:
        if arguments and arguments[0] in people_cli.COMMANDS:
            people_cli.run_people_command(arguments)
            return 0
        if arguments and arguments[0] in backup_cli.COMMANDS:
            backup_cli.run_backup_command(arguments)
            return 0
        if arguments and arguments[0] in doc_cli.COMMANDS:
            doc_cli.run_doc_command(arguments)
            return 0
        if arguments and arguments[0] in COMMANDS:
            run_command(arguments[0], arguments[1:])
            return 0
        settings = read_settings(arguments, os.environ)
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(run(settings))
    except ServerError as error:
        print(f"groupcore: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        logging.getLogger("server").debug("failure", exc_info=True)
        print(f"groupcore: internal error: {error!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
