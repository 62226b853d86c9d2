"""One life of a channel's node: its address, its boot id, its transport and its stack."""

from __future__ import annotations

from dataclasses import replace
from random import SystemRandom

from groupcore.aio.errors import LineageError
from groupcore.aio.settings import ChannelSettings
from groupcore.endpoint import BODY_RESERVE_BYTES, Endpoint
from groupcore.errors import WireError
from groupcore.layers.fragmentation import FRAGMENTS_MAX, MESSAGE_BYTES_MAX
from groupcore.peers import SocketAddress
from groupcore.seal import BOOT_BYTES
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.stacks import DataPlane, StackOptions, StackPlan, build_stack
from groupcore.transport import Transport, TransportOptions
from groupcore.transport_options import CODES_RESERVE_BYTES
from groupcore.view import Address

WINDOW_BYTES_LEAST = 64 << 10
SECTION_RESERVE_BYTES = 512
FRAMES_LEAST = 8
"""So many frames a window holds, however small the receive buffer makes it."""
"""What a section leaves free in its packet for its header."""
BODY_OVERHEAD_BYTES = 10
"""What a body adds to the one message in it: two msgpack headers."""


def transport_options(
    settings: ChannelSettings, hosts: tuple[SocketAddress, ...]
) -> TransportOptions:
    """The transport's part of the settings; `hosts` are the initial hosts by IPv4 address."""
    return TransportOptions(
        datagram_bytes_max=settings.datagram_bytes_max,
        multicast=settings.group is not None,
        initial_hosts=hosts,
        codes_bytes=0 if settings.identity is None else CODES_RESERVE_BYTES,
    )


def fitted(
    plan: StackPlan, settings: ChannelSettings, receive_buffer_bytes: int, durable: bool
) -> StackPlan:
    """The plan, its options fitted to the datagrams and to the receive buffer that there is.

    The kernel charges a datagram more than its length, and several senders share one buffer: a
    quarter of it is a sender's window (hot path, rule 15). `durable`: the lineage survives a
    restart.
    """
    room = transport_options(settings, ()).packet_bytes_max - BODY_RESERVE_BYTES
    window = max(WINDOW_BYTES_LEAST, receive_buffer_bytes // 4)
    options = plan.options
    fitting = replace(
        options,
        body_bytes_max=min(options.body_bytes_max, room),
        nakack=replace(options.nakack, window_bytes=min(options.nakack.window_bytes, window)),
        membership=replace(
            options.membership,
            cluster_size=settings.cluster_size,
            application_state=settings.application_state,
            durable=durable,
        ),
    )
    return replace(plan, options=fitting)


def message_bytes_max(options: StackOptions) -> int:
    """Largest message that FRAG can carry in as many pieces as it may make."""
    return min(MESSAGE_BYTES_MAX, options.body_bytes_max * FRAGMENTS_MAX) - BODY_OVERHEAD_BYTES


def make_endpoint(
    settings: ChannelSettings,
    transport: TransportOptions,
    plan: StackPlan,
    incarnation: int,
    record: bytes | None,
    service: Service | None = None,
) -> Endpoint:
    """An endpoint with a boot id that no other life has.

    `record` is the membership record of the last life; LineageError when it is not one.
    `service` is the life's data plane, when it is to have one.
    """
    address = Address(settings.node_id, incarnation)
    random = SystemRandom()
    plane = None
    if service is not None:
        plane = DataPlane(
            service.stop_acknowledging,
            service.has_streams,
            service.stored_streams,
            service.is_logged,
            service.stored_view,
            service.disk_mark,
            service.known_streams,
        )
    try:
        stack = build_stack(plan, address, random, record, plane)
    except WireError as error:
        raise LineageError(
            f"the stored membership record is not one of this version ({error}); move the "
            "lineage file away and this node joins as an empty one"
        ) from None
    boot = random.randbytes(BOOT_BYTES)
    carrier = Transport(address, settings.keys, boot, transport, random, settings.credentials)
    return Endpoint(address, stack, carrier, service)


def fitted_service(
    options: ServiceOptions, settings: ChannelSettings, receive_buffer_bytes: int
) -> ServiceOptions:
    """The data plane's options, fitted to the datagrams and to the receive buffer that there is."""
    room = transport_options(settings, ()).packet_bytes_max - SECTION_RESERVE_BYTES
    window = max(WINDOW_BYTES_LEAST, receive_buffer_bytes // 8)
    return replace(
        options,
        section_bytes=min(options.section_bytes, room, window // FRAMES_LEAST),
        volatile_bytes_max=min(options.volatile_bytes_max, room),
        state_chunk_bytes=min(options.state_chunk_bytes, room),
        window_bytes=min(options.window_bytes, window),
        outstanding_bytes=min(options.outstanding_bytes, window),
    )
