"""Run a node, or look at its journal. Exit codes: see docs/operations.md."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable

from server import VERSION
from server.errors import ServerError
from server.logs import COMMANDS, run_command
from server.rest import key_flag_taken
from server.serve import run
from server.settings import read_settings
from server.settings_help import help_text

HELP = {"--help", "-h"}
Command = Callable[[list[str]], None]


def command_of(word: str) -> Command | None:
    """What runs the command of this name, with a help of its own; None when there is none.

    It is loaded only then: a node, which needs none of them, begins sooner.
    """
    match word:
        case "user" | "token" | "audit":
            from server.people_cli import run_people_command

            return run_people_command
        case "access":
            from server.access_cli import run_access_command

            return run_access_command
        case "backup":
            from server.backup.cli import run_backup_command

            return run_backup_command
        case "trace":
            from server.trace.cli import run_trace_command

            return run_trace_command
        case "rebuild":
            from server.rebuild_cli import run_rebuild_command

            return run_rebuild_command
        case "export-log":
            from server.export_cli import run_export_command

            return run_export_command
        case "doc":
            from server.doc_cli import run_doc_command

            return run_doc_command
        case "status" | "node" | "group" | "overlap" | "view" | "migration" | "session" | "order":
            from server.console_cli import run_console_command

            return run_console_command
        case "recover":
            from server.recover_cli import run_recover_command

            return run_recover_command
        case "operation":
            from server.operation_cli import run_operation_command

            return run_operation_command
        case "rekey":
            from server.rekey_cli import run_rekey_command

            return run_rekey_command
        case "node-key" | "node-cert":
            from server.certificates_cli import run_certificates_command

            return run_certificates_command
        case "plan":
            from server.plan_cli import run_plan_command

            return run_plan_command
    return None


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def main(arguments: list[str]) -> int:
    """Run; the exit code. A person sees one line, never a stack trace."""
    command = command_of(arguments[0]) if arguments else None
    if arguments and command is None and HELP & set(arguments):
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
        if command is not None:
            with key_flag_taken(arguments) as rest:
                command(rest)
            return 0
        if arguments and arguments[0] in COMMANDS:
            with key_flag_taken(arguments) as rest:
                run_command(rest[0], rest[1:])
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
