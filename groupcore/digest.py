"""Digests: for each sender of a view, the highest sequence number up to which all is there.

Pure values. Sequence numbers start at 1 in every view, so the digest of a member that has just
joined is exact by construction: zero for everybody (pbcast design, "Digest returned to client":
the race between the coordinator's digest and its view message cannot happen).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groupcore.view import Address

Digest = dict[Address, int]
"""Sender to highest sequence number without a gap; an absent sender means 0."""


def maximum(digests: Iterable[Mapping[Address, int]]) -> Digest:
    """For each sender the highest number in any digest."""
    result: Digest = {}
    for digest in digests:
        for sender, seqno in digest.items():
            if seqno > result.get(sender, 0):
                result[sender] = seqno
    return result


def minimum(digests: Iterable[Mapping[Address, int]]) -> Digest:
    """For each sender the lowest number in all digests; a sender absent from one counts 0."""
    every = list(digests)
    if not every:
        return {}
    senders = [sender for sender in every[0] if all(sender in digest for digest in every)]
    return {sender: min(digest[sender] for digest in every) for sender in senders}


def covers(have: Mapping[Address, int], need: Mapping[Address, int]) -> bool:
    """Whether `have` contains everything that `need` names."""
    return all(have.get(sender, 0) >= seqno for sender, seqno in need.items())
