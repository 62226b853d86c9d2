"""What is deleted leaves the log by a checkpoint that the deletion asks for."""

from __future__ import annotations

import pytest

from groupcore.sequencing.headers import Accept, Repair
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_deleting import given_up

SECRET = b"what is to be gone"
AFTER_S, PAUSE_S = 0.05, 0.5
OPTIONS = ServiceOptions(durable=True, erase_after_s=AFTER_S, erase_pause_s=PAUSE_S)


def begin(
    names: str = "abc", options: ServiceOptions = OPTIONS
) -> tuple[DurableWorld, GroupId, GroupId, Process]:
    """Two groups that somebody of a is in, with a secret in the first one."""
    world = DurableWorld(names, options=options)
    doomed, stays = world.create("doomed"), world.create("stays")
    process = world.open("a")
    for group in (doomed, stays):
        world.join(process, group)
    world.send(process, doomed, SECRET)
    world.send(process, stays, b"what stays")
    world.run(20)
    return world, doomed, stays, process


def shown(world: DurableWorld, secret: bytes = SECRET) -> dict[str, bool]:
    """Whose logs have it."""
    return {name: secret in b"".join(disk.stored) for name, disk in world.disks.items()}


def delete(world: DurableWorld, group: GroupId) -> None:
    world["b"].service.delete(group, world.now)
    world.run(2)


def log_of(service: Service) -> Log:
    assert service.plane.log is not None
    return service.plane.log


def erased(world: DurableWorld) -> dict[str, bool]:
    """Which nodes say that all that was to go has gone."""
    return {
        host.address.name: host.service.archiving.erasing.done == log_of(host.service).doomed
        for host in world.lives()
    }


def test_a_deleted_group_leaves_every_log_though_nothing_else_happens() -> None:
    world, doomed, stays, process = begin()
    assert shown(world) == dict.fromkeys("abc", True)
    delete(world, doomed)
    assert erased(world) == dict.fromkeys("abc", False)
    assert shown(world) == dict.fromkeys("abc", True)
    world.run(400)
    assert shown(world) == dict.fromkeys("abc", False)
    assert erased(world) == dict.fromkeys("abc", True)
    assert shown(world, b"what stays") == dict.fromkeys("abc", True)
    world.power_cut()
    assert world.restart("abc")
    world.run(60)
    world.join(world.open("b"), stays)
    assert world["b"].state[stays] == [b"what stays"]
    assert process


def test_i1_it_is_not_said_before_all_have_stored_the_checkpoint() -> None:
    world, doomed, stays, process = begin()
    world.disks["c"].is_stuck = True
    world.send(process, stays, b"c has this, and not on its disk")
    world.run(20)
    delete(world, doomed)
    world.run(400)
    assert shown(world)["a"]
    assert erased(world) == dict.fromkeys("abc", False)
    world.disks["c"].is_stuck = False
    world.run(200)
    assert shown(world) == dict.fromkeys("abc", False)
    assert erased(world) == dict.fromkeys("abc", True)


def test_i1_a_deletion_while_the_state_is_packed_has_a_checkpoint_of_its_own() -> None:
    world, doomed, _, _ = begin()
    service = world["a"].service
    number = service.archiving.renew(())
    service.idle.end()
    while service.archiving._packing is None:
        world.run(1)
    delete(world, doomed)
    world.run(60)
    erasing = service.archiving.erasing
    assert erasing.done >= number
    assert erasing.done < log_of(service).doomed, "what was archived before is in that one"
    world.run(1_000)
    assert erasing.done == log_of(service).doomed
    assert shown(world) == dict.fromkeys("abc", False)


def test_i2_many_deletions_cause_few_checkpoints() -> None:
    options = ServiceOptions(durable=True, erase_after_s=AFTER_S, erase_pause_s=1e6)
    world, doomed, _, _ = begin(options=options)
    delete(world, doomed)
    world.run(400)
    assert erased(world) == dict.fromkeys("abc", True)
    for number in range(10):
        group = world.create(f"more {number}")
        world.run(5)
        delete(world, group)
    world.run(1_000)
    assert erased(world) == dict.fromkeys("abc", False), "the pause is not over"


def test_i2_a_large_state_is_written_less_often() -> None:
    options = ServiceOptions(
        durable=True, erase_after_s=AFTER_S, erase_pause_s=AFTER_S, erase_rate_bytes=1
    )
    world, doomed, _, _ = begin(options=options)
    for name in "ab":
        delete(world, doomed if name == "a" else world.create("another"))
        world.run(400)
    assert erased(world) == dict.fromkeys("abc", False), "a byte a second: some hundred seconds"


def test_a_frame_that_comes_behind_the_deletion_is_taken_out_of_the_log_again() -> None:
    world, doomed, _, process = begin()
    world.lose(Accept, Repair, to="c")
    world.send(process, doomed, b"late " + SECRET)
    world.run(5)
    delete(world, doomed)
    world.run(200)
    assert not shown(world, b"late " + SECRET)["c"]
    world.lose_nothing()
    world.run(1_500)
    assert shown(world, b"late " + SECRET) == dict.fromkeys("abc", False)
    assert erased(world) == dict.fromkeys("abc", True)


def test_a_node_that_was_away_erases_when_it_is_back() -> None:
    world, doomed, _, _ = begin()
    world.crash("c")
    world.run(60)
    delete(world, doomed)
    world.run(400)
    assert shown(world) == {"a": False, "b": False, "c": True}
    world.add("c")
    world.run(1_500)
    assert shown(world) == dict.fromkeys("abc", False)


def test_a_power_cut_behind_the_deletion_only_puts_it_off() -> None:
    world, doomed, _, _ = begin()
    delete(world, doomed)
    world.power_cut()
    assert world.restart("abc")
    assert shown(world) == dict.fromkeys("abc", True)
    world.run(400)
    assert shown(world) == dict.fromkeys("abc", False)


@pytest.mark.parametrize("host", ["a", "c"])
def test_i4_what_was_said_in_a_group_before_goes_when_it_is_renewed(host: str) -> None:
    """A list that has had a secret in it is as it is now: what was sent to it goes."""
    world, _, stays, process = begin()
    member = world.open(host)
    world.join(member, stays)
    world.send(process, stays, SECRET + b" listed")
    world.run(60)
    world.hosts[world[host].address].state[stays] = [b"unlisted"]
    world["a"].state[stays] = [b"unlisted"]
    numbers = {}
    for one in world.lives():
        numbers[one.address.name] = one.service.archiving.renew([stays])
        one.service.idle.end()
    world.run(1_000)
    assert shown(world, SECRET + b" listed") == dict.fromkeys("abc", False)
    for one in world.lives():
        assert one.service.archiving.erasing.done >= numbers[one.address.name]


def test_who_sends_to_a_group_that_others_have_deleted_leaves_nothing() -> None:
    world = DurableWorld("abc", options=OPTIONS)
    given_up(world)
    world.lose_nothing()
    world.catch_up()
    world.run(1_500)
    assert erased(world) == dict.fromkeys("abc", True)
    assert shown(world, b"given up") == dict.fromkeys("abc", False)
