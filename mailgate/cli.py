"""The commands. Each imports what it needs when it runs, so that `--help` and wrong arguments answer at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mailgate import __version__

if TYPE_CHECKING:
    import logging

    from mailgate.policy import Scope
    from mailgate.settings import Settings

DOTENV = Path(".env")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and answers its exit status: 0, 1 when it was refused or failed, 130 when it was broken off."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # `mailgate config | head`: nobody reads on, and the interpreter must not stumble over that while it ends.
        sys.stdout = None
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mailgate", description="An MCP server in front of one owner's mailbox.")
    parser.add_argument("--version", action="version", version=f"mailgate {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = _command(commands, "serve", _serve, "serve Streamable HTTP at /mcp")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    serve.add_argument("--port", type=_port, default=8000, help="port to listen on (default 8000; 0 takes a free one)")
    _takes_env_file(serve, "read instead of .env in the current folder")

    stdio = _command(commands, "stdio", _stdio, "serve over stdio for the client that starts this command")
    stdio.add_argument("--scopes", type=_scopes, help="narrow what the caller may do, e.g. mail.read")
    _takes_env_file(stdio, "settings to read; without it no .env is read")

    demo = _command(commands, "demo", _demo, "serve an embedded mailbox with sample mail; nothing leaves the machine")
    demo.add_argument("--port", type=_port, default=None, help="port to listen on (default 8000; 0 takes a free one)")
    how = demo.add_mutually_exclusive_group()
    how.add_argument("--stdio", action="store_true", help="serve over stdio instead of HTTP")
    how.add_argument("--check", action="store_true", help="try the demo with the official client, then end")

    doctor = _command(commands, "doctor", _doctor, "look at the whole set-up and say what to do; changes nothing")
    doctor.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    _takes_env_file(doctor, "read instead of .env in the current folder")

    token = _command(commands, "token", _token, "print a new bearer token and its MAIL_TOKENS entry")
    token.add_argument("--scopes", type=_scopes, help="what the token allows (default: all scopes)")

    _command(commands, "keygen", _keygen, "print a fresh MAIL_STORE_KEY")
    config = _command(commands, "config", _config, "print the effective settings, secrets masked, with their sources")
    _takes_env_file(config, "read instead of .env in the current folder")
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    does: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    command.set_defaults(run=run)
    return command


def _takes_env_file(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("--env-file", type=_existing_file, metavar="PATH", help=text)


def _existing_file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError("there is no such file")
    return path


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def _scopes(text: str) -> frozenset[Scope]:
    from mailgate.settings_values import scopes

    try:
        return scopes(text, ",")
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


# --- the commands ----------------------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    settings = _settings(options.env_file or DOTENV, http=True)
    if settings is None:
        return 1
    from mailgate.app import build_app
    from mailgate.cli_web import draining_server, http_config, listen

    log = _start_logging(settings)
    app = build_app(settings)
    config = http_config(app, host=options.host, port=options.port, drain_seconds=settings.send_deadline_seconds)
    listening, port = listen(config)
    server = draining_server(config, app)
    log.info("serving http://%s/mcp", _authority(options.host, port))
    server.run(sockets=[listening])
    return 0


def _stdio(options: argparse.Namespace) -> int:
    # The client chooses the working folder, which may be somebody else's project: its .env must not decide where
    # the password is sent.
    settings = _settings(options.env_file)
    if settings is None:
        return 1
    if settings.missing and options.env_file is None and DOTENV.is_file():
        _note("stdio does not read .env by itself; give it --env-file .env")
    import asyncio

    _start_logging(settings)
    asyncio.run(_serve_caller(settings, options.scopes))
    return 0


async def _serve_caller(settings: Settings, scopes: frozenset[Scope] | None) -> None:
    from mailgate.app import build_service
    from mailgate.policy import ALL_SCOPES
    from mailgate.server.stdio import serve_stdio

    service = build_service(settings)
    service.warm_up()
    try:
        await serve_stdio(service.dispatcher, scopes or ALL_SCOPES)
    finally:
        await service.aclose()


def _demo(options: argparse.Namespace) -> int:
    from mailgate import cli_demo

    if options.check:
        return cli_demo.check(options.port or 0)
    if options.stdio:
        return cli_demo.serve_stdio()
    return cli_demo.serve_http(8000 if options.port is None else options.port)


def _doctor(options: argparse.Namespace) -> int:
    from mailgate.cli_doctor import doctor

    return doctor(options.env_file or DOTENV, as_json=options.json)


def _token(options: argparse.Namespace) -> int:
    from mailgate.cli_credentials import new_token, token_entry
    from mailgate.policy import ALL_SCOPES

    token = new_token()
    print("# The token, shown only now: it goes into the client.")
    print(token)
    print("# Its hash, for the server's settings; a comma separates several.")
    print(f"MAIL_TOKENS={token_entry(token, options.scopes or ALL_SCOPES)}")
    return 0


def _keygen(options: argparse.Namespace) -> int:
    from mailgate.cli_credentials import new_store_key

    print(new_store_key())
    return 0


def _config(options: argparse.Namespace) -> int:
    settings = _settings(options.env_file or DOTENV)
    if settings is None:
        return 1
    from mailgate.settings import check_http

    for warning in settings.warnings:
        _note(f"warning: {warning}")
    width = max(map(len, settings.shown))
    for name, value in settings.shown.items():
        print(f"{name:<{width}}  {value}  [{settings.sources[name]}]")
    if settings.missing:
        _note("no mailbox yet, missing: " + ", ".join(settings.missing))
    for problem in check_http(settings):
        _note(f"only stdio would start: {problem}")
    return 0


# --- what they share -------------------------------------------------------------------------------------------


def _settings(dotenv: Path | None, *, http: bool = False) -> Settings | None:
    """The settings; None after all problems have been listed on stderr."""
    from mailgate.settings import SettingsError, read_settings

    try:
        return read_settings(dotenv=dotenv, http=http)
    except SettingsError as error:
        _note(f"cannot start, {len(error.problems)} problem(s) in the settings:")
        for problem in error.problems:
            print(f"  - {problem}", file=sys.stderr)
        return None


def _start_logging(settings: Settings) -> logging.Logger:
    """Logs on stderr from here on, in the form that was asked for; the start-up warnings come first."""
    import logging

    from mailgate.server.telemetry import configure_logging

    configure_logging(settings.log_level, settings.log_format)
    log = logging.getLogger("mailgate.start")
    for warning in settings.warnings:
        log.warning("%s", warning)
    return log


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _note(text: str) -> None:
    print(f"mailgate: {text}", file=sys.stderr, flush=True)
