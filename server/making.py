"""What a node is made of, from its settings, and what ends the program when that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from groupcore.aio import JoinRefusedError, KeyFile, read_key_file
from groupcore.aio import Node as ObjectsNode
from groupcore.aio.errors import FolderInUseError, ForeignFolderError, FormatError, StorageError
from groupcore.aio.identity import NodeIdentity
from groupcore.aio.log_store import LogStorage
from groupcore.aio.objects import log_event
from groupcore.aio.rest_key import RestKey
from groupcore.errors import GroupcoreError, IdInUseError, KeyFileError, SettingsError
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.errors import SchemaMismatchError
from groupcore.shared.events import SharedEvent
from groupcore.shared.group import Authorize, authorize_nothing
from groupcore.stacks import StackOptions
from server.accounts.passwords import Passwords
from server.accounts.service import AccountService
from server.errors import (
    DamagedStoreError,
    IdInUseProblem,
    KeyProblem,
    ServerError,
    SettingsProblem,
    VersionProblem,
    refusal,
)
from server.settings import Settings

if TYPE_CHECKING:
    from server.trace.writer import TraceWriter


def make_trace(settings: Settings) -> TraceWriter | None:
    """The trace's writer, where one is asked for; KeyProblem.

    Arrow is loaded only then: it takes 0.2 s and 40 MB.
    """
    if settings.trace is None:
        return None
    from server.trace.options import TraceOptions
    from server.trace.writer import TraceWriter

    try:
        path = settings.trace_key_file
        key = None if path is None else read_key_file(path)
    except KeyFileError as error:
        raise KeyProblem(f"--trace-key-file: {error}") from None
    options = TraceOptions(
        every=settings.trace_every,
        key=key,
        syncs=settings.trace_sync,
        segment_s=settings.trace_segment,
    )
    return TraceWriter(settings.trace, settings.node_id, options)


def make_objects(
    settings: Settings,
    key: KeyFile | None,
    trace: TraceWriter | None = None,
    rest: RestKey | None = None,
    identity: NodeIdentity | None = None,
    authorize: Authorize = authorize_nothing,
    told: Callable[[SharedEvent], None] = lambda event: None,
) -> ObjectsNode:
    """The node of the shared objects beneath; KeyProblem, SettingsProblem.

    `told` is called with what objects say beside their changes.
    """
    try:
        return ObjectsNode(
            settings.cluster,
            node_id=settings.node_id,
            options=ServiceOptions(k=settings.k),
            data_dir=LogStorage(
                settings.data, settings.cluster, settings.node_id, sets_aside=False, rest=rest
            ),
            bind=settings.bind,
            port=settings.node_port,
            multicast=settings.multicast,
            initial_hosts=settings.initial_hosts,
            key=key,
            identity=identity,
            ttl=settings.ttl,
            cluster_size=settings.cluster_size,
            stack_options=StackOptions(k=settings.k),
            recorder=None if trace is None else trace.recorder,
            on_event=_telling(trace, told),
            authorize=authorize,
        )
    except KeyFileError as error:
        raise KeyProblem(f"--key-file: {error}") from None
    except SettingsError as error:
        raise SettingsProblem(f"--bind, --multicast or --initial-hosts: {error}") from None


def _telling(
    trace: TraceWriter | None, told: Callable[[SharedEvent], None]
) -> Callable[[SharedEvent], None]:
    """What objects say goes to the log, and to the trace where something is refused."""

    def tell(event: SharedEvent) -> None:
        log_event(event)
        if trace is not None:
            trace.note_event(event)
        told(event)

    return tell


def make_accounts(
    settings: Settings, objects: ObjectsNode, public_url: str, key: KeyFile | None = None
) -> AccountService | None:
    """The accounts, where they are switched on."""
    if not settings.accounts:
        return None
    service = AccountService(objects.node_id, settings.data, public_url, Passwords())
    service.offers = settings.owner_link
    if settings.smtp:  # most nodes send none, and begin sooner without what does
        from server.mail.making import make_mailer

        service.mailer = make_mailer(settings)
    service.silent_s = lambda: objects.groups.channel.silent_s
    if key is not None:
        service.cluster_keys = key.read
        service.own_audit_key = settings.operator_key is not None
    return service


def problem_of(error: GroupcoreError) -> ServerError:
    """What ends the program when the node cannot be in its cluster."""
    match error:
        case KeyFileError():
            return KeyProblem(f"--data-key-file: {error}")
        case IdInUseError():
            return IdInUseProblem(f"--node-id: {error}")
        case JoinRefusedError():
            return refusal(error.code, str(error))
        case FolderInUseError():
            return IdInUseProblem(f"--data: {error}")
        case ForeignFolderError() | SettingsError():
            return SettingsProblem(f"--data: {error}")
        case FormatError():
            return VersionProblem(f"--data: {error}")
        case SchemaMismatchError():
            return VersionProblem(str(error))
        case StorageError():
            return DamagedStoreError(f"--data: {error}")
        case _:
            return ServerError(f"cannot be in the cluster: {error}")
