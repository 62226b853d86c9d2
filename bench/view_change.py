"""View change under load: how long senders are blocked when a member joins or leaves."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from bench.crew import Crew
from bench.crew_member import Log
from bench.measuring import load_average, quantile

MEMBERS = 5
RATE_PER_S = 200.0
AROUND_S = 0.5
"""Messages that were due this long before and after a view count as sent in its change."""


def blocked_ms(log: Log, at: int, usual_ms: float) -> float:
    """How much longer than usual the slowest message took that was due around a view."""
    first, last = at - int(AROUND_S * 1e9), at + int(AROUND_S * 1e9)
    slowest = max(
        (log.back[seqno] - due) / 1e6
        for seqno, due in log.sent.items()
        if first <= due <= last and seqno in log.back
    )
    return max(0.0, slowest - usual_ms)


def usual_ms(log: Log) -> float:
    """The median time from when a message was due to its own delivery, in milliseconds."""
    return quantile([(log.back[seqno] - log.sent[seqno]) / 1e6 for seqno in log.back], 0.5)


def quiet_p99_ms(log: Log) -> float:
    """The 99th percentile of messages that were due far from every view."""
    views = [at for at, _ in log.views]
    away = int(2 * AROUND_S * 1e9)
    times = [
        (log.back[seqno] - due) / 1e6
        for seqno, due in log.sent.items()
        if seqno in log.back and bisect_left(views, due - away) == bisect_right(views, due + away)
    ]
    return quantile(times, 0.99)


def run(quick: bool) -> dict[str, object]:
    """Five members send; a sixth joins and leaves, again and again."""
    rounds = 3 if quick else 20
    changes: list[int] = []
    with Crew(MEMBERS, RATE_PER_S) as crew:
        crew.run_for(2.0)
        for number in range(rounds):
            name = f"guest{number}"
            crew.start(name, rate_per_s=0)
            changes.append(crew.until_together())
            crew.run_for(2 * AROUND_S)
            crew.leave(name)
            changes.append(crew.until_together())
            crew.run_for(2 * AROUND_S)
        crew.run_for(2.0)
        logs = [crew.log(f"n{index}") for index in range(MEMBERS)]
    blocked = [blocked_ms(log, at, usual_ms(log)) for _, log in logs for at in changes]
    return {
        "blocked_p50_ms": round(quantile(blocked, 0.5), 1),
        "blocked_p99_ms": round(quantile(blocked, 0.99), 1),
        "usual_p50_ms": round(quantile([usual_ms(log) for _, log in logs], 0.5), 2),
        "usual_p99_ms": round(max(quiet_p99_ms(log) for _, log in logs), 2),
        "members": MEMBERS,
        "senders": MEMBERS,
        "messages_per_s": RATE_PER_S * MEMBERS,
        "view_changes": len(changes),
        "lost": sum(log.lost(at) for at, log in logs),
        "doubled": sum(log.doubled for _, log in logs),
        "load_average": load_average(),
    }
