"""The transport's limits and times, in one place.

Values only. What bounds a table or a queue of the transport stands here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.peers import SocketAddress
from groupcore.seal import HEADER, TAG_BYTES

DATAGRAM_BYTES_MAX = 65_536
"""Largest datagram that is looked at."""
CONTROL_BYTES_MAX = 512
"""Largest challenge or proof that is looked at."""
CARD_DATAGRAM_BYTES_MAX = 768
"""The same with a card in it (`identity.card`)."""
CODES_RESERVE_BYTES = 129
"""Room for the codes of eight receivers (`identity.pair`); more of them cost room where it is."""
ARRAY_BYTES = 5
"""Largest msgpack array header."""
DESTINATION_BYTES = 80
"""Room for the destination in a unicast datagram: a node id of 64 ASCII characters."""
PACKET_BYTES_MAX = 65_000
"""Largest packet that any datagram holds (UDP carries 65,507 bytes)."""


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """Limits and times of a transport.

    `datagram_bytes_max`: largest datagram sent; 60,000 suits loopback, 1,400 a network (a larger
    one travels in pieces, and one lost piece loses it). `multicast` False sends a copy to every
    known peer and to `initial_hosts` instead. With multicast, a peer that is heard, but for
    `missed_s` none of its multicasts, is told so, and sends copies until `copied_s` after it was
    told last; who was silent for `quiet_s` is told nothing. A peer of which nothing came from its
    known source for `source_quiet_s` may show that it has another one. Unknown boots cost work: of
    one source at most `unknown_burst` datagrams at once and `unknown_per_s` in the long run are
    opened. In unicast mode a peer that was silent for `idle_s` gets a multicast at most every
    `idle_probe_s`; peers tell each other whom they know every `introduce_every_s`, to be forgotten
    after `introduced_s`. Datagrams are numbered upwards from `first_counter`; every boot has keys
    of its own.

    With identities: a boot shows its card with a multicast every `hello_every_s`. Signatures of
    what is not known are looked at `verify_burst` times at once and `verify_per_s` times in the
    long run for one source, four times that for all. A new group key is waited for `rekey_wait_s`,
    comes at most every `rekey_every_s`, and the former is good for `former_key_s`. Who is silent
    for `coded_s` gets no codes. `codes_bytes`: what each packet leaves free for them.
    """

    datagram_bytes_max: int = 60_000
    multicast: bool = True
    initial_hosts: tuple[SocketAddress, ...] = ()
    challenge_interval_s: float = 0.05
    challenge_lifetime_s: float = 10.0
    unknown_per_s: float = 100.0
    unknown_burst: float = 200.0
    sources_max: int = 1_024
    peers_max: int = 256
    pending_max: int = 256
    idle_s: float = 30.0
    idle_probe_s: float = 1.0
    introduce_every_s: float = 1.0
    introduced_s: float = 5.0
    missed_s: float = 0.8
    copied_s: float = 3.0
    quiet_s: float = 3.0
    source_quiet_s: float = 0.6
    first_counter: int = 0
    hello_every_s: float = 0.2
    verify_per_s: float = 25.0
    verify_burst: float = 50.0
    rekey_wait_s: float = 0.5
    rekey_every_s: float = 1.0
    former_key_s: float = 5.0
    coded_s: float = 10.0
    codes_bytes: int = 0

    @property
    def packet_bytes_max(self) -> int:
        """Largest packet that fits into `datagram_bytes_max`, headers and destination included."""
        overhead = HEADER.size + TAG_BYTES + ARRAY_BYTES + DESTINATION_BYTES
        return self.datagram_bytes_max - overhead - self.codes_bytes
