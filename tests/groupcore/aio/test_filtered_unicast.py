"""Nodes on real sockets, one of which gets multicasts and no unicasts any more."""

from __future__ import annotations

import time
from functools import partial

from groupcore.aio.udp import OnDatagram
from tests.groupcore.aio.test_group_node import Program, make_programs

FOUND_S = 6.0
"""Detection takes 1.5 s and a view some milliseconds; the rest is the machine's."""


def hear_no_unicasts(program: Program) -> None:
    """Let what comes to the node's own port vanish, as a firewall does."""
    lives = program.node.channel._lives
    sockets, drain = lives.sockets, lives.sockets.drain
    unicast, _ = sockets.sockets

    def drain_group(on_datagram: OnDatagram) -> None:
        try:
            while True:
                unicast.recvfrom(65_536)
        except BlockingIOError:
            pass
        drain(on_datagram)

    sockets.drain = drain_group  # type: ignore[method-assign]


def all_vote(program: Program) -> bool:
    """Whether nobody is a learner any more."""
    view = program.node.channel.view
    return view is not None and len(view.voters) == 3


async def test_the_groups_of_a_node_that_hears_no_unicasts_go_on_at_the_others() -> None:
    programs = make_programs()
    a, b, c = programs
    try:
        for one in programs:
            await one.node.channel.connect()
        group = await a.node.create("news")
        processes = [one.node.open_process() for one in programs]
        for one, process in zip(programs, processes, strict=True):
            assert await one.node.create("news") == group
            await one.node.join(process, group)
        assert b.owners[group] == "a"
        for one in programs:  # as long as c learns, a and b decide what follows, and a is the first
            await one.until(partial(all_vote, one))
        hear_no_unicasts(a)
        begun_s = time.monotonic()
        b.node.send(processes[1], group, [b"for a alone to number"])
        await c.until(lambda: b"for a alone to number" in c.state.get(group, []))
        assert time.monotonic() - begun_s < FOUND_S
        await b.until(lambda: b.owners[group] != "a")
        view = b.node.channel.view
        assert view is not None
        assert {member.name for member in view.members} == {"b", "c"}
    finally:
        for one in programs:
            await one.node.close()
