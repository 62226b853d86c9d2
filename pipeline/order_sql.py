"""The rules of the order in SQL: what the second opinion asks DuckDB.

Written from the text of `groupcore.trace`, and sharing nothing with the Spark audit: that one looks
for suspects among nodes first and asks about processes then, this one looks at every process from
the start. Both have to come to the same.

Tables: those of the trace with `segment` behind their columns, and `segment` (segment, recovered,
skipped). `SETUP` makes what the rules rest on; each rule gives rows of (rule, node, dno, process,
needs). `needs` lists rows (kind, node, low, high) whose loss would explain the row: it is excused
where `touch`, the places of lost rows in lives of nodes, has one of them.
"""

from __future__ import annotations

from typing import Final

NEED: Final = "struct(kind varchar, node varchar, low bigint, high bigint)"


_LOGS: Final = f"""
create macro writer(path) as regexp_extract(path, '-(\\d{{8,}})-\\d{{12}}\\.arrows$', 1)::bigint;
create macro end_() as 4611686018427387904::bigint;
create macro id_of(life) as split_part(life, '#', 1);
create macro need(k, n, a, b) as
    {{'kind': k, 'node': n, 'low': a::bigint, 'high': b::bigint}}::{NEED};
create table life as
select id_of(node) as id, writer(segment) as epoch, node, min(t) as born
from (select node, segment, t from "view" union all select node, segment, t from membership
      union all select node, segment, t from delivery union all select node, segment, t from accept
      union all select node, segment, t from frame union all select node, segment, t from "group")
group by all;
create table logs as
select 'delivery' as kind, node, writer(segment) as epoch, off, dno as place, null::bigint as stamp
from delivery union all
select 'accept', node, writer(segment), off, lseq, null from accept union all
select 'frame', node, writer(segment), off, frame, null from frame union all
select 'view', node, writer(segment), off, number, null from "view" union all
select 'membership', node, writer(segment), off, dno, lseq from membership union all
select 'group', node, writer(segment), off, null, null from "group" union all
select 'log_gap', node, writer(segment), off, null, null from log_gap union all
select 'verdict', v.node, writer(v.segment), v.off, d.dno, null from verdict v
left join delivery d on d.node = v.node and d.gid = v.gid and d.what = 0
     and v.seq >= d.seq and v.seq < d.seq + d."count";
"""

_LOST: Final = """
create table told as
select id_of(node) as id, kind, epoch, coalesce(from_off, 0) as f, to_off as t, reason
from log_gap where reason <> 'sampled'
union all
select d.node, d.kind, d.epoch,
       coalesce((select max(s.last_off) + 1 from segment s where s.node = d.node
                 and s.kind = d.kind and s.epoch = d.epoch and s.n < d.n and s.rows > 0), 0),
       (select min(s.first_off) - 1 from segment s where s.node = d.node and s.kind = d.kind
        and s.epoch = d.epoch and s.n > d.n and s.rows > 0), 'damaged'
from segment d where d.skipped;
create table hole as
select kind, id_of(node) as id, epoch, before + 1 as f, off - 1 as t, off - before - 1 as n
from (select *, lag(off) over (partition by kind, id_of(node), epoch order by off) as before
      from logs)
where off <> before + 1 and (kind <> 'verdict' or off > before);
create table ends as
select kind, id_of(node) as id, epoch, min(off) as low, max(off) as top from logs group by all;
create table lost as
select distinct h.kind, h.id, h.epoch, greatest(h.f, g.f) as f, least(h.t, g.t) as t,
       false as crash
from hole h join told g using (kind, id, epoch)
where g.t is not null and greatest(h.f, g.f) <= least(h.t, g.t)
union
select kind, id, epoch, g.f, least(g.t, coalesce(e.low - 1, g.t)), false
from told g left join ends e using (kind, id, epoch)
where g.t is not null and g.f <= least(g.t, coalesce(e.low - 1, g.t))
union
select kind, id, epoch, greatest(g.f, e.top + 1), g.t, false
from told g join ends e using (kind, id, epoch) where greatest(g.f, e.top + 1) <= g.t
union
select kind, id, epoch, greatest(min(g.f), coalesce(any_value(e.top) + 1, 0)), null,
       arg_min(g.reason, g.f) = 'crash'
from told g left join ends e using (kind, id, epoch)
where g.t is null group by kind, id, epoch;
create table noted as
select id_of(node) as id, epoch, 'delivery' as kind, life, dno as place
from log_gap where life is not null and dno is not null
union select id_of(node), epoch, 'accept', life, lseq
from log_gap where life is not null and lseq is not null;
create table behind as
select * from noted union all
select id_of(l.node), l.epoch, l.kind, arg_max(l.node, l.off), arg_max(l.place, l.off)
from logs l
join segment s on s.kind = l.kind and s.node = id_of(l.node) and s.epoch = l.epoch
     and l.off between s.first_off and s.last_off and not s.recovered
where l.kind in ('delivery', 'accept') and not exists (
    select 1 from noted n where n.kind = l.kind and n.id = id_of(l.node) and n.epoch = l.epoch)
group by id_of(l.node), l.epoch, l.kind;
create table extent as
select l.kind, v.id, v.epoch, v.node, v.born, min(l.off) as low, max(l.off) as high
from logs l join life v on v.node = l.node and v.epoch = l.epoch group by all;
create table touch as
with places as (select *, place as at, kind as span from logs union all
                select *, stamp, 'change' from logs where kind = 'membership'),
around as (
    select k.span, v.node, v.born, l.id, l.epoch, l.crash, b.life, b.place as stood,
           max(p.at) filter (where p.off < l.f) as before,
           min(p.at) filter (where p.off > l.t) as after
    from lost l
    join (values ('delivery', 'delivery'), ('accept', 'accept'), ('frame', 'frame'),
                 ('view', 'view'), ('verdict', 'verdict'), ('membership', 'membership'),
                 ('membership', 'change')) k(kind, span) using (kind)
    join (select id, epoch, node, born from life
          union all  -- seen by others only: no row of its own log is there
          select distinct l2.id, l2.epoch, m.node, timestamptz '9999-01-01'
          from (select distinct unnest(members) as node from "view") m
          join (select distinct id, epoch from life) l2 on l2.id = id_of(m.node)
          where m.node not in (select node from life)) v using (id, epoch)
    left join behind b on b.id = l.id and b.epoch = l.epoch and b.kind =
         case k.span when 'change' then 'accept' else 'delivery' end
         and k.span in ('membership', 'verdict', 'change')
    left join places p on p.kind = l.kind and p.span = k.span and p.node = v.node
         and p.epoch = l.epoch
    where not exists (select 1 from extent x where x.kind = l.kind and x.id = l.id
                      and x.epoch = l.epoch and ((x.born > v.born and x.low < l.f)
                                                 or (x.born < v.born and x.high > l.t)))
    group by all),
bounded as (
    select *, span in ('membership', 'verdict') as loose,
           crash and life is not null as tail,
           (select min(born) from life y where y.node = a.life) as life_born
    from around a)
select span as kind, node,
       greatest(case when before is null then 0 when loose then before else before + 1 end,
                case when tail and node = life then stood + (not loose)::int else 0 end) as low,
       case when after is null then end_() when loose then after else after - 1 end as high
from bounded
where not tail or born >= life_born;
"""

_WORLD: Final = """
create table going_on as
select node as sequencer,
       coalesce((select max(frame) from frame f where f.node = e.node), 0) as seen
from (select node, max(number) as last from (select unnest(members) as node, number from "view")
      group by node
      qualify row_number() over (partition by id_of(node) order by last desc, node desc) = 1) e;
create table stop as
select d.node, min(d.dno) as cut from delivery d join going_on g using (sequencer)
where d.lseq // 4096 > g.seen group by d.node;
create table given_rows as
select d.* from delivery d left join stop s using (node) where s.cut is null or d.dno < s.cut;
create table hosted as
select node, gid, process, dno as begun, coalesce(until, end_()) as ended
from (select *, lead(dno) over (partition by node, gid, process order by off) as until
      from membership where op in ('in', 'out'))
where op = 'in';
create table given as
select d.node, h.process, d.dno, d.sequencer, d.lseq, d.lseq // 4096 as frame, h.begun,
       p.promise = 'strict' as strict
from given_rows d
join (select gid, max(promise) as promise from "group" group by gid) p using (gid)
join hosted h on h.node = d.node and h.gid = d.gid and d.dno > h.begun and d.dno <= h.ended
where d.sequencer is not null and p.promise in ('causal', 'strict');
create table number as
select node, gid, epoch, lseq, seq, seq + "count" - 1 as ending, sender, first,
       lseq // 4096 as frame
from accept union all
select node, gid, epoch, lseq, seq, seq, null, null, lseq // 4096
from membership where op in ('join', 'leave', 'gone');
create table memory as
select distinct f.node, f.frame, v.epoch as memory
from frame f join "view" v on v.node = f.node and v.number = f.view;
create table sure as
select node, min(epoch) as memory from (select unnest(members) as node, epoch from "view")
group by node having min(epoch) = max(epoch);
create table stamp as
select *, coalesce(memory, max(memory) over (partition by gid)) as taken, memory is null as unsure
from (select n.*, coalesce(m.memory, s.memory) as memory
      from number n left join memory m using (node, frame) left join sure s using (node));
create table begun as
select gid, epoch, taken, min(seq) as start, bool_or(unsure) as unsure,
       list(distinct node) filter (where unsure) as nodes
from stamp group by all;
create table gone as
select s.node, s.lseq, s.unsure, list(distinct b.nodes) filter (where b.unsure) as others
from stamp s join begun b on b.gid = s.gid and b.taken is not distinct from s.taken
     and b.epoch > s.epoch and s.seq >= b.start
group by all;
create table reached as
select gid, max(seq + "count" - 1) as top from given_rows group by gid;
create table known_number as
select s.* from stamp s left join reached r using (gid)
where s.seq <= r.top or exists (select 1 from log_gap where reason = 'sampled');
create table owner as
select distinct gid, node from (
    select gid, node from known_number union all select gid, node from "group" where op = 'owned'
    union all select gid, sequencer from given_rows where sequencer is not null);
create macro memory_needs(n, f) as [need('frame', n, f, f), need('view', n, 0, end_())];
"""

SETUP: Final = (_LOGS, _LOST, _WORLD)

_NUMBERS: Final = """
with opened as (
    select d.*, s.dno as since, s.op, s.seq as base
    from given_rows d
    asof left join (select * from membership where op in ('state', 'released')
                    qualify row_number() over (partition by node, gid, dno order by off desc) = 1) s
    on d.node = s.node and d.gid = s.gid and d.dno > s.dno
    where id_of(d.node) not in (select id_of(node) from log_gap where reason = 'sampled')),
reached_rows as (
    select *, coalesce(most.e, base) as before, coalesce(most.d, since) as before_dno
    from (select *, max({'e': seq + "count" - 1, 'd': dno}) over (
              partition by node, gid, since order by dno
              rows between unbounded preceding and 1 preceding) as most,
          row_number() over (partition by node, gid, since, seq order by dno) as times
          from opened))
select case when op is distinct from 'state' then 'not_hosted' when seq > before + 1 then 'gap'
            when times > 1 then 'duplicate' else 'late' end as rule, node, dno, null as process,
       case when op is distinct from 'state'
            then [need('membership', node, coalesce(since, 0), dno - 1)]
            when seq > before + 1
            then [need('delivery', node, before_dno + 1, dno - 1),
                  need('membership', node, before_dno, dno - 1)]
            else [need('membership', node, before_dno, dno - 1)] end as needs
from reached_rows r
where op is distinct from 'state' or seq <= before
   or (seq > before + 1 and seq - before - 1 > coalesce((
        select sum(l."count") from reached_rows l
        where l.node = r.node and l.gid = r.gid and l.since = r.since and l.seq <= l.before
          and l.seq > r.before and l.seq < r.seq and l.times = 1), 0))
"""

_CAUSAL: Final = """
with needs_of as (
    select g.node, g.process, g.dno, g.begun, e.entry.sequencer as sequencer,
           e.entry.frame as reach
    from given g
    join (select node, frame, unnest(context) as entry from frame) e
    on e.node = g.sequencer and e.frame = g.frame),
events as (
    select node, process, sequencer, dno, begun, 0 as after, frame, null as reach from given
    union all
    select node, process, sequencer, dno, begun, 1, null, reach from needs_of),
most as (
    select *, max(case when reach is not null then {'r': reach, 'd': dno, 'b': begun} end) over (
        partition by node, process, sequencer order by dno, after
        rows between unbounded preceding and 1 preceding) as best
    from events)
select 'causal' as rule, node, dno, process,
       [need('membership', node, least(begun, best.b), dno - 1)] as needs
from most where after = 0 and frame <= best.r
"""

_STAMPS: Final = """
with across as (
    select 'strict' as rule, *, max({'l': lseq, 'd': dno, 'b': begun}) over (
        partition by node, process, sequencer order by dno
        rows between unbounded preceding and 1 preceding) as best
    from given where strict
    union all
    select 'in_frame', *, max({'l': lseq, 'd': dno, 'b': begun}) over (
        partition by node, process, sequencer, frame order by dno
        rows between unbounded preceding and 1 preceding)
    from given)
select rule, node, dno, process,
       [need('membership', node, least(begun, best.b), dno - 1)] as needs
from across where lseq < best.l
"""

_CONTENTS: Final = """
select case when a.lseq is null then 'phantom' else 'content' end as rule, d.node, d.dno,
       null as process,
       case when a.lseq is null then [need('accept', d.sequencer, d.lseq, d.lseq)] end as needs
from given_rows d
left join accept a on a.node = d.sequencer and a.lseq = d.lseq
where d.what = 0 and d.sequencer is not null and (a.lseq is null
   or (a.gid, a.seq, a."count", a.sender, a.first, a.crc)
      is distinct from (d.gid, d.seq, d."count", d.sender, d.first, d.crc))
union all
select case when exists (select 1 from membership p where p.gid = d.gid and p.seq = d.seq
                         and p.op in ('join', 'leave', 'gone')) then 'content' else 'phantom' end,
       d.node, d.dno, null, [need('change', d.sequencer, d.lseq, d.lseq)]
from given_rows d
where d.what <> 0 and not exists (
    select 1 from membership m where m.gid = d.gid and m.seq = d.seq and m.process = d.sender
    and m.op = case d.what when 1 then 'join' when 2 then 'leave' else 'gone' end)
union all
select 'content', d.node, d.dno, null,
       list_concat([need('accept', a.node, a.lseq, a.lseq)], (
           select list(need('accept', o.node,
                (select coalesce(max(b.lseq) + 1, 0) from accept b where b.gid = d.gid
                 and b.node = o.node and b.seq + b."count" <= d.seq),
                (select coalesce(min(b.lseq) - 1, end_()) from accept b
                 where b.gid = d.gid and b.node = o.node and b.seq > d.seq)))
           from (select distinct node from accept b where b.gid = d.gid) o))
from given_rows d join accept a on a.gid = d.gid and a.seq = d.seq
where d.what = 0 and d.sequencer is null and not exists (
    select 1 from accept b where (b.gid, b.seq, b."count", b.sender, b.first, b.crc)
    is not distinct from (d.gid, d.seq, d."count", d.sender, d.first, d.crc))
"""

_LEAVES: Final = """
select 'after_leave' as rule, l.node, min(d.dno) as dno, h.process,
       [need('membership', l.node, h.begun, min(d.dno) - 1)] as needs
from given_rows l
join hosted h on h.node = l.node and h.gid = l.gid and h.process = l.sender
     and h.begun < l.dno and l.dno < h.ended
join given_rows d on d.node = l.node and d.gid = l.gid and d.dno > l.dno and d.dno <= h.ended
where l.what in (2, 3)
group by l.node, l.gid, h.process, h.begun, h.ended
"""

_SEQUENCERS: Final = """
with owners as (
    select gid, epoch, coalesce(memory, max(memory) over (partition by gid, epoch)) as taken,
           unsure, node, min(frame) as frame
    from stamp group by gid, epoch, memory, unsure, node)
select distinct 'two_sequencers' as rule, b.node, null::bigint as dno, null as process,
       list_concat(case when a.unsure then memory_needs(a.node, a.frame) else [] end,
                   case when b.unsure then memory_needs(b.node, b.frame) else [] end) as needs
from owners a join owners b on a.gid = b.gid and a.epoch = b.epoch
     and a.taken is not distinct from b.taken and a.node < b.node
union all
select 'numbering', node, null, null,
       case when seq > before + 1
            then [need('accept', node, stood + 1, lseq - 1),
                  need('change', node, stood + 1, lseq - 1)]
       end
from (select *, lag(ending) over epoch as before, lag(lseq) over epoch as stood
      from known_number window epoch as (partition by gid, epoch, node order by lseq))
where seq <> before + 1
union all
select 'numbering', node, null, null,
       (select list(need(k.kind, o.node,
            (select coalesce(max(n.lseq) + 1, 0) from known_number n where n.gid = x.gid
             and n.node = o.node and n.ending < x.before + 1),
            (select coalesce(min(n.lseq) - 1, end_()) from known_number n
             where n.gid = x.gid and n.node = o.node and n.seq > x.start - 1)))
        from owner o, (values ('accept'), ('change')) k(kind) where o.gid = x.gid)
from (select gid, epoch, min(seq) as start, arg_min(node, seq) as node,
             lag(max(ending)) over (partition by gid order by epoch) as before
      from known_number group by gid, epoch) x
where start > before + 1
"""

_FLOORS: Final = """
select 'floor' as rule, d.node, d.dno, null as process,
       case when g.unsure or len(g.others) > 0
            then list_concat(case when g.unsure then memory_needs(g.node, g.lseq // 4096)
                                  else [] end,
                 flatten([[need('frame', n, 0, end_()),
                           need('view', n, 0, end_())]
                          for n in flatten(coalesce(g.others, []))]))
       end as needs
from given_rows d join gone g on g.node = d.sequencer and g.lseq = d.lseq
"""

_SENDERS: Final = """
with said as (
    select *, lag(first + ending - seq + 1) over sent as due, lag(node) over sent as node2,
           lag(lseq) over sent as lseq2, lag(ending) over sent as ending2,
           lag(epoch) over sent as epoch2, lag(memory) over sent as memory2
    from (select k.* from known_number k
          where first is not null and not exists
                (select 1 from gone g where g.node = k.node and g.lseq = k.lseq))
    window sent as (partition by gid, sender order by seq, epoch)),
absent as (
    select gid, before + 1 as low, seq - 1 as high
    from (select *, max(ending) over (partition by gid order by seq, ending
                    rows between unbounded preceding and 1 preceding) as before from known_number)
    where seq > before + 1)
select 'fifo' as rule, node, null::bigint as dno, null as process,
       list_concat(
           case when memory is null then memory_needs(node, frame) else [] end,
           case when memory2 is null then memory_needs(node2, lseq2 // 4096) else [] end,
           case when first < due and epoch > epoch2
                then [need('accept', node, 0, lseq - 1), need('change', node, 0, lseq - 1)]
                else [] end,
           coalesce((select list(need(k.kind, o.node,
                (select coalesce(max(n.lseq) + 1, 0) from known_number n where n.gid = s.gid
                 and n.node = o.node and n.ending < a.low),
                (select coalesce(min(n.lseq) - 1, end_()) from known_number n
                 where n.gid = s.gid and n.node = o.node and n.seq > a.high)))
            from absent a, owner o, (values ('accept'), ('change')) k(kind)
            where a.gid = s.gid and o.gid = s.gid and s.first > s.due
              and a.low <= s.seq - 1 and a.high >= s.ending2 + 1), [])) as needs
from said s
where first <> due and (memory is null or memory2 is null or memory = memory2)
"""

_VIEWS: Final = """
select 'view' as rule, node, null::bigint as dno, null as process, null as needs
from (select *, first(members) over (partition by lineage, number order by node) as agreed
      from "view") where members <> agreed
union all
select 'view_order', node, null, null, null
from (select *, lag(number) over (partition by node order by off) as before from "view")
where number <= before
union all
select 'view_synchrony', d.node, d.dno, null, [need('view', e.said.w, e.said.p, e.said.p)]
from given_rows d
join (select entry.sequencer as sequencer, min(entry.frame) as top,
             min({'n': number, 'w': node, 'p': previous}) as said
      from (select members, recovered, number, node, previous, unnest(cut) as entry
            from "view" where "primary")
      where not list_contains(members, entry.sequencer)
      group by 1 having not bool_or(recovered)) e using (sequencer)
where d.lseq // 4096 > e.top
union all
select 'verdict', d.node, d.dno, null, [need('verdict', d.node, d.dno, d.dno)]
from (select distinct gid, seq, principal, operation, code from verdict) r
join given_rows d on d.gid = r.gid and d.what = 0 and r.seq >= d.seq and r.seq < d.seq + d."count"
where not exists (select 1 from verdict v where v.node = d.node and (v.gid, v.seq, v.principal,
      v.operation, v.code) = (r.gid, r.seq, r.principal, r.operation, r.code))
"""

_RECORDS: Final = """
select 'delivery_numbers' as rule, node, dno, null as process,
       [need('delivery', node, before + 1, dno - 1)] as needs
from (select *, lag(dno) over (partition by node order by dno) as before from given_rows
      where id_of(node) not in (select id_of(node) from log_gap where reason = 'sampled'))
where dno <> before + 1
union all
select 'missing_records', h.id, null, null, null
from hole h
where h.n < 0 or h.n > coalesce((
    select sum(l.t - l.f + 1) from lost l
    where (l.kind, l.id, l.epoch) = (h.kind, h.id, h.epoch) and l.f >= h.f and l.t <= h.t), 0)
"""

QUERIES: Final = {
    "numbers of each group at each node": _NUMBERS,
    "causal order": _CAUSAL,
    "strict order, and within a frame": _STAMPS,
    "deliveries against what was stamped": _CONTENTS,
    "nothing behind a LEAVE": _LEAVES,
    "who gives numbers": _SEQUENCERS,
    "numbers that are given again": _FLOORS,
    "messages of each sender": _SENDERS,
    "views and verdicts": _VIEWS,
    "the logs themselves": _RECORDS,
}
"""The rules, by what they look at."""

FOUND: Final = """
with found as ({query})
select rule, node, dno, process, exists (
    select 1 from (select unnest(needs) as one) n join touch t
    on t.kind = n.one.kind and t.node = n.one.node and n.one.low <= t.high and n.one.high >= t.low
    where n.one.low <= n.one.high) as excused
from found
"""
