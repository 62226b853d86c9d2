"""What load is: of a group, of a node, smoothed over reports."""

from __future__ import annotations

from groupcore.sequencing.balancing import LoadMeter
from groupcore.sequencing.commands import LoadSample, ReportLoad
from groupcore.sequencing.load import LOAD_MAX_US, load_us
from groupcore.sequencing.placement_options import PlacementOptions
from tests.groupcore.sequencing.directories import (
    SMOOTH,
    A,
    B,
    C,
    begin,
    create,
    directory,
    finish,
    report,
    view,
)

OPTIONS = PlacementOptions()


def test_load_counts_messages_where_they_go_and_bytes() -> None:
    sample = LoadSample(1, messages=1000, bytes=1_024_000, fan_out=4, senders={})
    assert load_us(sample, OPTIONS) == 1000 * (1_000 + 4 * 500) // 1000 + 1000 * 400 // 1000
    assert load_us(LoadSample(1, 0, 0, 9, {}), OPTIONS) == 0


def test_what_is_numbered_in_a_group_is_counted_by_message_byte_and_sender() -> None:
    meter = LoadMeter()
    meter.count(1, A, 2, 30)
    meter.count(1, B, 3, 40)
    meter.count(1, A, 5, 1)
    meter.count(2, B, 1, 2)
    counted = {
        group: (one.messages, one.size_bytes, one.senders) for group, one in meter.groups.items()
    }
    assert counted == {1: (10, 71, {A.name: 7, B.name: 3}), 2: (1, 2, {B.name: 1})}


def test_no_report_counts_for_more_than_the_limit() -> None:
    most = (1 << 64) - 1
    assert load_us(LoadSample(1, most, most, most, {}), OPTIONS) == LOAD_MAX_US


def test_load_is_smoothed_and_what_is_left_out_fades() -> None:
    made = directory()
    group = create(made)
    loads = made.state.loads
    report(made, {group: (1000, "a")})
    first = loads.group(group)
    report(made, {group: (1000, "a")}, times=SMOOTH)
    full = loads.group(group)
    assert first < full // 3
    assert full > 2_500
    report(made, {})
    assert full // 2 < loads.group(group) < full
    report(made, {}, times=SMOOTH)
    assert loads.group(group) == OPTIONS.idle_us
    assert not loads.busy


def test_a_queue_delay_counts_for_the_node_until_it_is_gone() -> None:
    made = directory()
    report(made, {}, {C: 700})
    assert made.state.loads.node(C) == 700 * OPTIONS.delay_penalty
    made.on_view(view(2, A, B), [C])
    assert made.state.loads.node(C) == 0


def test_a_node_is_heavy_when_it_was_above_the_bound_for_several_reports_in_turn() -> None:
    made = directory()
    create(made, A)
    loads = made.state.loads
    above, below = ReportLoad(100_000, ()), ReportLoad(0, ())
    for command, expected in [
        (above, False),
        (above, False),
        (below, False),
        (above, False),
        (above, False),
        (above, True),
        (above, True),
        (below, False),
    ]:
        made.apply(command, A)
        assert loads.is_heavy(A) is expected


def test_the_main_sender_must_be_it_again_and_again() -> None:
    made = directory()
    group = create(made)
    busy = made.state.loads.busy
    report(made, {group: (1000, "b")})
    assert (busy[group].sender, busy[group].share) == ("b", 45)
    report(made, {group: (1000, "b")})
    assert busy[group].share >= OPTIONS.locality_percent
    for sender in "cbcbcb":  # two that take turns
        report(made, {group: (1000, sender)})
    assert busy[group].share < 90
    assert busy[group].sender in "bc"


def test_loads_move_with_their_groups() -> None:
    made = directory()
    group = create(made)
    report(made, {group: (1000, "a")}, times=SMOOTH)
    loads, before = made.state.loads, made.state.loads.node(A)
    move = begin(made, (group,), B)
    assert (loads.node(A), loads.node(B)) == (0, before)  # counted where it goes
    finish(made, move)
    assert (loads.node(A), loads.node(B)) == (0, before)
