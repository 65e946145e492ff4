/** What was measured, as a table for people and as JSON. */
import { median, pairedRatio } from './lib/samples.js';
import { judge, limitText, TARGETS } from './targets.js';

/** What one server's samples come to. `better` is 'less' or 'more'. */
export function summarize(samples, better) {
  const [least, most] = [Math.min(...samples), Math.max(...samples)];
  const [best, worst] = better === 'more' ? [most, least] : [least, most];
  return { best, median: median(samples), worst, samples: samples.map((sample) => Number(sample.toPrecision(6))) };
}

/**
 * A recorded measurement with its summary, ratio and target. Servers without a sample are left out.
 * `against` is what the ratio is taken to: what the target names, else the floor of the phase.
 */
export function makeRow({ metric, label, unit, values, better = 'less', against = 'floor', note }) {
  const target = TARGETS.find((candidate) => candidate.metric === metric);
  const measured = Object.entries(values).filter(([, samples]) => samples.length > 0);
  const row = {
    metric,
    label,
    unit,
    better,
    against: target?.limit.against ?? against,
    by: target?.limit.by ?? 'median',
    values: Object.fromEntries(measured.map(([name, samples]) => [name, summarize(samples, better)])),
    ...(note && { note }),
  };
  const [mine, other] = [row.values.ours, row.values[row.against]];
  // An idle floor may use no time at all: there is no ratio to nothing.
  if (mine && other?.best)
    row.ratio = { paired: pairedRatio(mine.samples, other.samples), best: mine.best / other.best };
  if (target) Object.assign(row, { target: limitText(target), how: target.how, ...judge(target, row) });
  return row;
}

/** Targets of the phases that ran and that no row speaks of: something failed on the way. */
export function missingTargets(rows, phases) {
  const measured = new Set(rows.map(({ metric }) => metric));
  return TARGETS.filter(({ metric }) => phases.some((name) => belongs(metric, name)) && !measured.has(metric));
}

/** `peers` come last, after whatever else a row compares with. */
export function formatTable(rows, peers) {
  const floors = new Set(rows.map(({ against }) => against));
  const others = rows
    .flatMap(({ values }) => Object.keys(values))
    .filter((name) => name !== 'ours' && !floors.has(name));
  const columns = [...new Set([...others.filter((name) => !peers.includes(name)), ...peers])];
  const header = ['', 'ours', 'floor', 'ratio', '(best)', 'target', '', ...columns];
  const lines = rows.map((row) => [
    row.label,
    number(row.values.ours?.[row.by], row.unit),
    number(row.values[row.against]?.[row.by], row.unit),
    row.ratio ? `${row.ratio.paired.toFixed(2)}x` : '',
    row.ratio ? `${row.ratio.best.toFixed(2)}x` : '',
    row.target ?? '',
    row.ok === undefined ? '' : row.ok ? 'ok' : 'MISSED',
    ...columns.map((name) => number(row.values[name]?.[row.by], row.unit)),
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...lines].map((line) => line[at].length)));
  const pad = (line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])));
  return [header, ...lines].map((line) => pad(line).join('  ').trimEnd()).join('\n');
}

// --- internal ---

/** `first.*` is measured by the phase `start`. */
function belongs(metric, phase) {
  const [prefix] = metric.split('.');
  return prefix === phase || (prefix === 'first' && phase === 'start');
}

function number(value, unit) {
  if (value === undefined) return '';
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`.trimEnd();
}
