"""The settings: one table, read from flags and GROUPCORE_ environment variables.

Each row says what the setting is, its unit, its default, the formula that it enters and what
raising it costs. A flag wins over the environment, the environment over the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn

from groupcore.origins import is_loopback
from server.errors import SettingsProblem
from server.management.listening import problem_of
from server.setting_kinds import (
    between,
    optional_path,
    optional_url,
    parse_addresses,
    parse_admin,
    parse_contact,
    parse_hosts,
    parse_identifier,
    parse_issuer,
    parse_list,
    parse_multicast,
    parse_public,
    parse_sender,
    parse_server,
    parse_switch,
    parse_tls,
)

PREFIX = "GROUPCORE_"

Value = str | int | float | Path | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: how a setting is called, read and explained."""

    name: str
    kind: Callable[[str], Value]
    unit: str
    default: str
    text: str

    @property
    def flag(self) -> str:
        """As it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """As it is written in the environment."""
        return PREFIX + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "node_id", parse_identifier, "", "", "this node's name, unique in the cluster; required"
    ),
    Setting("cluster", parse_identifier, "", "groupcore", "name that all nodes of a cluster share"),
    Setting(
        "cluster_size",
        between(1, 128),
        "nodes",
        "1",
        "the first view needs more than half of these; larger: a lone node waits longer at first",
    ),
    Setting("bind", str, "", "127.0.0.1", "address of the interface between the nodes"),
    Setting(
        "node_port",
        between(0, 65535),
        "",
        "0",
        "UDP port between the nodes, 0: any; fix it when others name it in --initial-hosts",
    ),
    Setting(
        "multicast",
        parse_multicast,
        "",
        "228.8.8.8:45588",
        "group address and port, or none: then --initial-hosts finds the others",
    ),
    Setting("initial_hosts", parse_hosts, "", "", "ADDRESS:PORT of some nodes, between commas"),
    Setting("ttl", between(0, 255), "hops", "0", "how far multicast goes; 0 stays on this machine"),
    Setting("http", parse_public, "", "127.0.0.1:8000", "public address: page, API, WebSocket"),
    Setting(
        "admin",
        parse_admin,
        "",
        "127.0.0.1:9000",
        "management address, beside a Unix socket for this user; none: that socket alone. "
        "Where other machines reach it, it needs --admin-cert",
    ),
    Setting(
        "admin_cert",
        optional_path,
        "",
        "",
        "file with the certificate of --admin, which is https then",
    ),
    Setting("admin_key", optional_path, "", "", "file with the key of --admin-cert"),
    Setting(
        "admin_clients",
        optional_path,
        "",
        "",
        "file with the certificate of an authority: who has one of its certificates may manage, by "
        "its unit (OU): viewer, operator or owner",
    ),
    Setting(
        "public_url", optional_url, "", "", "what browsers call this node; from --http if empty"
    ),
    Setting(
        "security_contact",
        parse_contact,
        "",
        "",
        "where faults of security are reported, as mailto:, https: or tel:; named in security.txt",
    ),
    Setting("origins", parse_list, "", "", "more origins, between commas, that may open a session"),
    Setting("data", Path, "", ".data/node", "folder of the log; one node a folder"),
    Setting(
        "key_file", optional_path, "", "", "file with the cluster key; may miss on loopback only"
    ),
    Setting(
        "operator_key",
        optional_path,
        "",
        "",
        "file with the operator's public key: nodes need certificates that it has signed, this one "
        "in node.cert of its --data folder; without it those on loopback make their own",
    ),
    Setting(
        "data_key_file",
        optional_path,
        "",
        "",
        "file with a key, made like the cluster's: what this node keeps on disk is sealed under it",
    ),
    Setting(
        "k",
        between(0, 64),
        "nodes",
        "1",
        "copies besides the sequencer's before delivery; larger: slower, survives more crashes. "
        "Capped at members - 1; at most half of --cluster-size",
    ),
    Setting("trace", optional_path, "", "", "folder for the trace of orders and deliveries"),
    Setting(
        "trace_every",
        between(1, 1_000_000),
        "groups",
        "1",
        "deliveries are traced of one in so many groups; above 1 they cannot be audited",
    ),
    Setting(
        "trace_sync",
        parse_switch,
        "",
        "off",
        "on: each part of the trace is on disk before the next; off: each whole file",
    ),
    Setting(
        "trace_segment",
        between(1, 3_600),
        "s",
        "60",
        "a file of the trace is complete after so long; shorter: jobs see it sooner, in more files",
    ),
    Setting(
        "trace_key_file",
        optional_path,
        "",
        "",
        "file with a key, made like the cluster's: names in the trace are hashed under it",
    ),
    Setting(
        "results",
        optional_path,
        "",
        "",
        "folder where the pipeline leaves plan.json, load.json and order.json for the console",
    ),
    Setting(
        "backups",
        optional_path,
        "",
        "",
        "folder for backups that the console has taken, verified and put back at this node",
    ),
    Setting("page", Path, "", "webui/dist", "folder of the built page"),
    Setting("accounts", parse_switch, "", "on", "on: people sign in; off: whoever comes may all"),
    Setting(
        "owner_link",
        parse_switch,
        "",
        "on",
        "on: log the first owner's link at a first start; off: whoever runs the node asks for it",
    ),
    Setting(
        "proxies",
        parse_addresses,
        "",
        "",
        "addresses of proxies, between commas, that say in X-Forwarded-For from where people come",
    ),
    Setting(
        "oidc_issuer",
        parse_issuer,
        "",
        "",
        "identity provider where people may sign in, exactly as it calls itself",
    ),
    Setting("oidc_client", str, "", "", "what the identity provider calls this cluster"),
    Setting(
        "oidc_secret_file", optional_path, "", "", "file with the secret for it, if it has one"
    ),
    Setting(
        "smtp",
        parse_server,
        "",
        "",
        "HOST:PORT of the server for mails to people: addresses are proved and lost passwords "
        "replaced by mail; empty: owners confirm addresses",
    ),
    Setting(
        "smtp_tls",
        parse_tls,
        "",
        "starttls",
        "starttls, tls (from the first byte, as on port 465), or none, on this machine only",
    ),
    Setting("smtp_user", str, "", "", "what the mail server calls this cluster, if it asks"),
    Setting("smtp_password_file", optional_path, "", "", "file with the password for --smtp-user"),
    Setting("smtp_from", parse_sender, "", "", "address that mails come from"),
    Setting("heartbeat_s", between(1, 3600), "s", "15", "ping interval; a page gives up after two"),
    Setting(
        "rate",
        between(1, 1_000_000),
        "messages/s",
        "200",
        "a session's lasting rate; above it, it is closed with 4429",
    ),
    Setting("burst", between(1, 1_000_000), "messages", "1000", "what a session may send at once"),
    Setting(
        "api_rate",
        between(1, 1_000_000),
        "requests/s",
        "100",
        "what one asker may ask the API lasting, ten times as much at once; above it, 429",
    ),
    Setting("sessions_max", between(1, 1_000_000), "sessions", "10000", "30 KB each, then 503"),
    Setting("import_kib", between(1, 65536), "KiB", "4096", "largest Markdown document imported"),
    Setting(
        "workers",
        between(1, 64),
        "processes",
        "2",
        "imports, exports and pictures worked on at once, each by a process of up to 1 GiB; "
        "of several, one person never has all",
    ),
    Setting("picture_kib", between(1, 262_144), "KiB", "10240", "largest picture that is taken"),
    Setting(
        "picture_mpixel",
        between(1, 1000),
        "million pixels",
        "40",
        "largest picture that is taken; each one more costs 24 MB while it is looked at",
    ),
    Setting(
        "pictures_mib",
        between(1, 100_000_000),
        "MiB",
        "10240",
        "room for all pictures together, on each node's disk",
    ),
    Setting(
        "picture_days",
        between(1, 36_500),
        "days",
        "30",
        "how long a picture is kept that no document shows any more",
    ),
    Setting(
        "trash_days",
        between(1, 3650),
        "days",
        "30",
        "what is in the trash so long is deleted for good",
    ),
    Setting(
        "documents_max", between(1, 10_000_000), "documents", "10000", "then creation is refused"
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the server was told; the table `SETTINGS` explains each field and its unit."""

    node_id: str
    cluster: str
    cluster_size: int
    bind: str
    node_port: int
    multicast: str | None
    initial_hosts: tuple[str, ...]
    ttl: int
    http: str
    admin: str
    admin_cert: Path | None
    admin_key: Path | None
    admin_clients: Path | None
    public_url: str
    security_contact: str
    origins: tuple[str, ...]
    data: Path
    key_file: Path | None
    operator_key: Path | None
    data_key_file: Path | None
    k: int
    trace: Path | None
    trace_every: int
    trace_sync: bool
    trace_segment: int
    trace_key_file: Path | None
    results: Path | None
    backups: Path | None
    page: Path
    accounts: bool
    owner_link: bool
    proxies: tuple[str, ...]
    oidc_issuer: str
    oidc_client: str
    oidc_secret_file: Path | None
    smtp: str
    smtp_tls: str
    smtp_user: str
    smtp_password_file: Path | None
    smtp_from: str
    heartbeat_s: int
    rate: int
    burst: int
    api_rate: int
    sessions_max: int
    import_kib: int
    workers: int
    picture_kib: int
    picture_mpixel: int
    pictures_mib: int
    picture_days: int
    trash_days: int
    documents_max: int


def host_port(address: str) -> tuple[str, int]:
    """The two parts of a checked `HOST:PORT`; brackets of IPv6 are taken off."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def read_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings from flags, environment and defaults.

    SettingsProblem names the first setting that is unknown, missing or wrong, and the remedy.
    """
    given = read_flags(arguments)
    known = {row.variable for row in SETTINGS}
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in known:
            refuse(variable, "is not a setting; see --help")
    values: dict[str, Value] = {}
    for row in SETTINGS:
        text, source = row.default, row.flag
        if row.name in given:
            text = given[row.name]
        elif row.variable in environment:
            text, source = environment[row.variable], row.variable
        values[row.name] = parse(row, text, source)
    assert {field.name for field in fields(Settings)} == set(values)
    settings = Settings(**values)  # type: ignore[arg-type]  # the table's parsers give the types
    check_together(settings)
    return settings


def read_flags(arguments: Sequence[str]) -> dict[str, str]:
    """`--flag value` and `--flag=value` pairs by setting name."""
    flags = {row.flag: row.name for row in SETTINGS}
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag not in flags:
            refuse(flag, "is not a setting; see --help")
        if not equals:
            if not rest:
                refuse(flag, "needs a value")
            value = rest.pop(0)
        given[flags[flag]] = value
    return given


def parse(row: Setting, text: str, source: str) -> Value:
    """The value of one setting; SettingsProblem names where the text came from."""
    if row.name == "node_id" and not text:
        refuse("--node-id", "is missing; give every node a name of its own")
    try:
        return row.kind(text)
    except ValueError as error:
        refuse(source, f"{text!r} {error}")


def check_together(settings: Settings) -> None:
    """What no single row can see."""
    if settings.multicast is None and not settings.initial_hosts and settings.cluster_size > 1:
        refuse("--multicast", "none needs --initial-hosts, or no other node is ever found")
    if settings.http == settings.admin and host_port(settings.http)[1] != 0:
        refuse("--admin", "is the same address as --http; choose another port")
    if problem := problem_of(settings):
        refuse(*problem)
    if settings.oidc_issuer and not (settings.accounts and settings.oidc_client):
        refuse("--oidc-issuer", "needs --accounts on and --oidc-client")
    data_key = settings.data_key_file
    if settings.key_file and data_key and data_key.resolve() == settings.key_file.resolve():
        remedy = "another one: a change of the cluster key takes the former out of its file"
        refuse("--data-key-file", f"is the file of --key-file; give it {remedy}")
    if settings.smtp:
        check_mail(settings)
    if settings.burst < settings.rate:
        refuse("--burst", f"must be at least --rate, {settings.rate}")
    if 1 < settings.cluster_size < 2 * settings.k:
        refuse("--k", f"is at most {settings.cluster_size // 2} for {settings.cluster_size} nodes")


def check_mail(settings: Settings) -> None:
    """What belongs together where mails are sent."""
    if not (settings.accounts and settings.smtp_from):
        refuse("--smtp", "needs --accounts on and --smtp-from")
    host = host_port(settings.smtp)[0]
    if settings.smtp_tls == "none" and host != "localhost" and not is_loopback(host):
        refuse("--smtp-tls", "none is for a server on this machine; use starttls or tls")
    if bool(settings.smtp_user) != (settings.smtp_password_file is not None):
        refuse("--smtp-user", "and --smtp-password-file need each other")


def refuse(name: str, remedy: str) -> NoReturn:
    """Raise SettingsProblem naming the setting and the remedy."""
    raise SettingsProblem(f"{name} {remedy}")
