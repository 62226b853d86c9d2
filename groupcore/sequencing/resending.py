"""Sending again what was not accepted: after a time, at a change of sequencers, when asked for.

Idea. Of each process only the oldest run is sent again after a time: the others are behind it, or
are asked for by the sequencer. Once that has been accepted, twice as many follow each time.

Source. Paper, section 4 (message ids: what comes twice is recognised), 4.3.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sections import Unaccepted
from groupcore.view import Address

RESENT_AT_ONCE = 64
"""Runs of one process and group that are sent again together."""

Runs = dict[int, Unaccepted]
"""What of a process is under way, by chain number, oldest first."""


class Resending:
    """`outstanding`: what is under way, by the numbers of processes. `port`: where a group's is."""

    def __init__(
        self,
        plane: Plane,
        outstanding: dict[int, Runs],
        port: Callable[[GroupId], Address | None],
    ) -> None:
        self._plane = plane
        self._outstanding = outstanding
        self._port = port
        self._at: float | None = None
        self._eager: dict[tuple[GroupId, int], None] = {}
        self.recovering: dict[tuple[GroupId, int], int] = {}
        """Groups and processes of which something was sent again, and how much at the last time."""

    def sent(self, now: float) -> None:
        """Something has been sent: look after it in a while."""
        if self._at is None:
            self._at = now + self._plane.options.resend_s

    def accepted(self, group: GroupId, process: int) -> None:
        """Something of it was accepted: more may follow."""
        if (group, process) in self.recovering:
            self._eager[group, process] = None

    def next_wake(self) -> float | None:
        """When something is to be sent again."""
        return self._at

    def wake(self, now: float) -> None:
        """Send again what has not been accepted for long: of each process its oldest run."""
        if self._at is None or now < self._at:
            return
        self._at = None
        options = self._plane.options
        soonest: float | None = None
        for process, runs in self._outstanding.items():
            head = next(iter(runs.values()))
            due = head.sent_at + head.wait_s
            if now >= due:
                head.wait_s = min(head.wait_s * 2, options.resend_max_s)
                self.recovering[head.group, process] = 1
                self._send([head], process, self._port(head.group), now)
                due = now + head.wait_s
            soonest = due if soonest is None else min(soonest, due)
        self._at = soonest

    def go_on(self, now: float) -> None:
        """What was sent again has been accepted: send the next of those that were lost with it.

        Twice as many each time, so that much that was lost at once comes soon, at the pace that
        the way there bears.
        """
        eager, self._eager = self._eager, {}
        for group, process in eager:
            under_way = self._outstanding.get(process, {})
            runs = [run for run in under_way.values() if run.group == group]
            if not runs:
                self.recovering.pop((group, process), None)
            elif next(iter(under_way)) != runs[0].chain:
                continue  # it is behind others of its process, and may well be waiting there
            elif now >= runs[0].sent_at + self._plane.options.resend_s:
                most = min(2 * self.recovering[group, process], RESENT_AT_ONCE)
                self.recovering[group, process] = most
                self._send(runs[:most], process, self._port(group), now)

    def send_again(self, groups: tuple[GroupId, ...], now: float) -> None:
        """The groups' sequencers are other ones: send what they may not have."""
        moved = set(groups)
        for process, under_way in self._outstanding.items():
            of_group: dict[GroupId, list[Unaccepted]] = {}
            for run in under_way.values():
                if run.group in moved:
                    of_group.setdefault(run.group, []).append(run)
            for group, runs in of_group.items():
                self._send(runs[:RESENT_AT_ONCE], process, self._port(group), now)

    def on_missing(self, process: int, chain: int, node: Address, now: float) -> None:
        """A sequencer lacks the runs up to there that were sent to it."""
        runs = self._outstanding.get(process, {})
        lost = [r for r in runs.values() if r.chain <= chain and self._port(r.group) == node]
        # Each section behind the one that is missing is answered so: once is enough for a while.
        if lost and (not lost[0].again or now >= lost[0].sent_at + self._plane.options.repair_s):
            self._send(lost[:RESENT_AT_ONCE], process, node, now)

    def forget(self, group: GroupId) -> None:
        """The group is no more."""
        for key in [key for key in self.recovering if key[0] == group]:
            del self.recovering[key]

    def _send(self, runs: list[Unaccepted], number: int, owner: Address | None, now: float) -> None:
        """Send runs of a process again, each as it was."""
        plane = self._plane
        for run in runs:
            run.sent_at, run.again = now, True
            if owner is not None:
                section = run.alone(Process(plane.me, number), owner)
                plane.sends.append(section.batch(plane.me))
                plane.counters["resent"] += 1
