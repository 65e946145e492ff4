/**
 * Every target, one row each. `metric` is what a phase records; the row says which limit it must keep and how it is
 * judged. A ratio is ours against another server of the same run (the floor unless `against` names another one); a
 * value is ours alone, its median unless `by` says `worst`.
 *
 * A ratio is the median of the ratios of all rounds (`pairedRatio`). The best round of each server would be the other
 * choice: on a machine whose speed changes from minute to minute it sets two lucky moments against each other, and from
 * the same samples it is two to four times as uncertain. The table shows it too.
 */
export const TARGETS = [
  row(
    'start.initialize',
    ratio({ max: 1.1 }),
    'spawn to the answer to initialize, after three starts from the same home',
  ),
  row('start.list', ratio({ max: 1.3 }), 'spawn to the complete tools/list of 25 skills, asked for after initialize'),
  row('start.list.cpu', ratio({ max: 1.35 }), 'CPU of all threads until that list has arrived'),
  row('first.initialize', ratio({ max: 1.7 }), 'spawn to the answer to initialize, from an empty home'),
  row('first.list', ratio({ max: 1.7 }), 'spawn to the complete tools/list of 25 skills, from an empty home'),
  row('memory.idle', ratio({ max: 1.08 }), 'resident set two seconds after the list'),
  row(
    'requests.list.64.cpu',
    ratio({ max: 1 }),
    'CPU per tools/list of 25 skills, 64 in flight; the floor writes as many bytes',
  ),
  row(
    'requests.call.64.cpu',
    ratio({ max: 1.3 }),
    'CPU per skill call of 6 KB, 64 in flight; the floor writes as many bytes',
  ),
  row('scale.1000.list', ratio({ max: 1.15, against: 'floor-nested' }), 'spawn to the complete list, --describe full'),
  row('scale.10000.list', ratio({ max: 1.15, against: 'floor-nested' }), 'spawn to the complete list, --describe full'),
  row('scale.10000.memory', ratio({ max: 1.05, against: 'floor-nested' }), 'resident set two seconds after that list'),
  row(
    'scale.call',
    ratio({ max: 1.2, against: 'ours-25' }),
    'p50 of serial skill calls at 10,000 skills and at 25, in turns',
  ),
  row(
    'refresh.idle',
    value({ max: 30 }),
    'CPU of an idle server with 1,000 skills, watched and with the default timer',
  ),
  row('refresh.seen', value({ max: 1000 }), 'a skill is written among 1,000 until tools/list names it'),
  row(
    'refresh.notified',
    value({ min: 1 }),
    'share of those writes that were followed by tools/list_changed within 3 s',
  ),
  row(
    'refresh.worst',
    ratio({ max: 2 }),
    'slowest call while 1,000 of 10,000 changed skills are read again; the floor is called at the same moments',
  ),
  row(
    'refresh.wrong',
    value({ max: 0, by: 'worst' }),
    'calls answered with neither the old nor the new text, or with the old after the new',
  ),
  row(
    'http.modern.32.rate',
    ratio({ min: 0.55, against: 'floor-http' }),
    'skill calls of 6 KB per second, 32 connections, 2026-07-28',
  ),
  row('http.legacy.32.rate', ratio({ min: 0.55, against: 'floor-http' }), 'the same in a session of 2025-11-25'),
  row(
    'hub.64.cpu',
    ratio({ max: 3.5, against: 'floor-hub' }),
    'CPU of the hub process per call passed on, 64 in flight',
  ),
  row('hub.start', ratio({ max: 1.3, against: 'floor-hub' }), "spawn to a tools/list that holds the upstream's tools"),
  row('exit.eof', value({ max: 50 }), 'the end of stdin until the process is gone'),
];

/** What a target says about a recorded row: its numbers, and `ok`. */
export function judge(target, row) {
  const number = target.limit.kind === 'ratio' ? row.ratio?.paired : row.values.ours?.[row.by];
  const { max = Number.POSITIVE_INFINITY, min = Number.NEGATIVE_INFINITY } = target.limit;
  return { ok: number <= max && number >= min };
}

export function limitText({ limit }) {
  const sign = limit.max === undefined ? '≥' : '≤';
  return `${sign} ${limit.max ?? limit.min}${limit.kind === 'ratio' ? 'x' : ''}`;
}

// --- internal ---

function row(metric, limit, how) {
  return { metric, limit, how };
}

function ratio({ max, min, against = 'floor' }) {
  return { kind: 'ratio', max, min, against };
}

function value({ max, min, by = 'median' }) {
  return { kind: 'value', max, min, by };
}
