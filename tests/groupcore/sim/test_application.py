"""The application model: the state it starts from, what it queues, what it journals."""

from __future__ import annotations

from random import Random

from groupcore.events import Synced, ViewInstalled
from groupcore.sim.application import Application
from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.disk import HEALTHY, Disk, Entry, Journal
from groupcore.sim.trace import Mid, Took, Trace
from groupcore.view import Address, View

A, B = Address("a", 1), Address("b", 1)


def entry(number: int) -> Entry:
    return Mid("b", 1, number), number


def view(epoch: int = 1) -> View:
    return View(number=1, epoch=epoch, floor=0, lineage=7, members=(B, A))


class Rig:
    """An application with a disk, in place of its node."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.clock = Clock(Random(1))
        self.trace = Trace()
        self.synced: list[Synced] = []
        self.asked = 0
        disk = Disk(self.clock, Random(2), HEALTHY)
        self.application = Application(A, journal or Journal(), disk, self.trace, self)

    def notify_synced(self, event: Synced) -> None:
        """Keep the report."""
        self.synced.append(event)

    def ask_for_state(self) -> None:
        """Count the question."""
        self.asked += 1

    def wait(self) -> None:
        """Let every fsync end."""
        self.clock.run_until(self.clock.now_ns + SECOND)


def test_a_first_view_without_holders_begins_with_the_own_journal() -> None:
    rig = Rig(Journal(1, 2, [entry(1), entry(2)]))
    rig.application.install(ViewInstalled(view(2), fresh=True, position=2), 5)
    assert rig.application.ready
    assert rig.application.journal == Journal(2, 2, [entry(1), entry(2)])
    (took,) = rig.trace.records
    assert isinstance(took, Took)
    assert took.must_match


def test_a_holder_itself_does_not_ask_anybody() -> None:
    rig = Rig(Journal(1, 1, [entry(1)]))
    rig.application.install(ViewInstalled(view(2), fresh=True, position=1, holders=(B, A)), 5)
    assert rig.asked == 0
    assert rig.application.ready


def test_a_journal_of_that_very_place_is_kept() -> None:
    rig = Rig(Journal(1, 1, [entry(1)]))
    rig.application.install(ViewInstalled(view(1), fresh=True, position=1, holders=(B,)), 5)
    assert (rig.asked, rig.application.ready) == (0, True)


def test_a_journal_of_another_epoch_is_replaced_and_deliveries_wait_for_the_state() -> None:
    rig = Rig(Journal(1, 1, [entry(9)]))
    application = rig.application
    application.install(ViewInstalled(view(2), fresh=True, position=1, holders=(B,)), 5)
    assert (rig.asked, application.ready) == (1, False)
    application.deliver(2, 2, entry(2))
    rig.wait()
    assert rig.synced == []
    assert application.state(2, 1) is None
    application.take("b", (entry(1),), 6)
    assert application.journal == Journal(2, 2, [entry(1), entry(2)])
    assert application.state(2, 1) == (entry(1),)
    rig.wait()
    assert rig.synced[-1] == Synced(2, 2)


def test_what_is_delivered_during_an_fsync_is_in_the_next() -> None:
    rig = Rig()
    rig.application.install(ViewInstalled(view(1), fresh=True), 5)
    rig.application.deliver(1, 1, entry(1))
    rig.application.deliver(1, 2, entry(2))
    rig.wait()
    assert rig.synced == [Synced(1, 0), Synced(1, 2)]


def test_equal_states_have_equal_fingerprints() -> None:
    one, other = Rig(Journal(1, 1, [entry(1)])), Rig(Journal(2, 1, [entry(1)]))
    assert one.application.fingerprint() == other.application.fingerprint()
    assert one.application.fingerprint() != Rig().application.fingerprint()
