"""The rules of the order once more, in SQL for DuckDB: a second opinion on what the audit finds.

Written from `groupcore.trace`, not from the Spark jobs: it looks at every process from the start,
where those look for suspects among nodes first. It knows the rules about deliveries: numbers of
each group, causal, strict and frame order, contents. Tests compare both; the benchmark times it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

TABLES: Final = ("accept", "delivery", "frame", "group", "membership")
"""What it reads: a Parquet file, or a pattern for several, of each."""

_HOSTED: Final = """
create temp view hosted as
select node, gid, process, dno as begun, coalesce(until, 1::bigint << 62) as ended
from (select *, lead(dno) over (partition by node, gid, process order by off) as until
      from "membership" where op in ('in', 'out'))
where op = 'in'
"""

_GIVEN: Final = """
create temp table given as
select d.node, h.process, d.dno, d.sequencer, d.lseq, d.lseq // 4096 as frame,
       p.promise = 'strict' as strict
from "delivery" d
join (select gid, max(promise) as promise from "group" group by gid) p using (gid)
join hosted h on h.node = d.node and h.gid = d.gid and d.dno > h.begun and d.dno <= h.ended
where d.sequencer is not null and p.promise in ('causal', 'strict')
"""

_NUMBERS: Final = """
with opened as (
    select d.*, s.dno as since, s.op, s.seq as base
    from "delivery" d
    asof left join (select * from "membership" where op in ('state', 'released')
                    qualify row_number() over (partition by node, gid, dno order by off desc) = 1) s
    on d.node = s.node and d.gid = s.gid and d.dno > s.dno),
reached as (
    select *, coalesce(max(seq + "count" - 1) over (
        partition by node, gid, since order by dno
        rows between unbounded preceding and 1 preceding), base) as before,
        row_number() over (partition by node, gid, since, seq order by dno) as times
    from opened)
select case when op is distinct from 'state' then 'not_hosted'
            when seq > before + 1 then 'gap'
            when times > 1 then 'duplicate' else 'late' end as rule, node, dno, null as process
from reached r
where op is distinct from 'state' or seq <= before
   or (seq > before + 1 and seq - before - 1 > coalesce((
        select sum(l."count") from reached l
        where l.node = r.node and l.gid = r.gid and l.since = r.since and l.seq <= l.before
          and l.seq > r.before and l.seq < r.seq and l.times = 1), 0))
"""

_CAUSAL: Final = """
with needs as (
    select g.node, g.process, g.dno, e.entry.sequencer as sequencer, e.entry.frame as reach
    from given g
    join (select node, frame, unnest(context) as entry from "frame") e
    on e.node = g.sequencer and e.frame = g.frame),
events as (
    select node, process, sequencer, dno, 0 as behind, frame, null as reach from given
    union all
    select node, process, sequencer, dno, 1, null, reach from needs)
select 'causal' as rule, node, dno, process from (
    select *, max(reach) over (partition by node, process, sequencer order by dno, behind
                               rows between unbounded preceding and 1 preceding) as most
    from events)
where behind = 0 and frame <= most
"""

_STRICT: Final = """
select 'strict' as rule, node, dno, process from (
    select *, max(lseq) over (partition by node, process, sequencer order by dno
                              rows between unbounded preceding and 1 preceding) as most
    from given where strict)
where lseq < most
"""

_IN_FRAME: Final = """
select 'in_frame' as rule, node, dno, process from (
    select *, max(lseq) over (partition by node, process, sequencer, frame order by dno
                              rows between unbounded preceding and 1 preceding) as most
    from given)
where lseq < most
"""

_CONTENTS: Final = """
select case when a.lseq is null then 'phantom' else 'content' end as rule, d.node, d.dno,
       null as process
from "delivery" d
left join "accept" a on a.node = d.sequencer and a.lseq = d.lseq
where d.what = 0 and d.sequencer is not null and (a.lseq is null
   or (a.gid, a.seq, a."count", a.sender, a.first, a.crc)
      is distinct from (d.gid, d.seq, d."count", d.sender, d.first, d.crc))
"""

_RULES: Final = (_NUMBERS, _CAUSAL, _STRICT, _IN_FRAME, _CONTENTS)

RULES: Final = (
    "gap",
    "duplicate",
    "late",
    "not_hosted",
    "causal",
    "strict",
    "in_frame",
    "content",
    "phantom",
)
"""What it judges, by the names that the audit gives them."""

Finding = tuple[str, str, int, str | None]
"""Rule, node, delivery number, process."""


def judge(files: Mapping[str, str | Path], threads: int = 2, memory: str = "4GB") -> set[Finding]:
    """All that breaks a rule in these tables; `files` as of `TABLES`."""
    import duckdb

    with duckdb.connect(config={"threads": threads, "memory_limit": memory}) as db:
        db.execute("set enable_progress_bar = false")  # it would be among the figures
        for name in TABLES:
            path = str(files[name]).replace("'", "''")
            db.execute(f"create temp view \"{name}\" as select * from read_parquet('{path}')")
        db.execute(_HOSTED)
        db.execute(_GIVEN)
        return {tuple(row) for rule in _RULES for row in db.execute(rule).fetchall()}
