/**
 * The plot for the README: one line per measurement, a dot per server, on a logarithmic scale of "times the floor".
 * Left is better in every line: rates are turned round. There is no background, and every colour has a contrast of at
 * least 3:1 on white and on GitHub's dark page (#0d1117), text 4:1, because one picture serves both.
 */
import { TARGETS } from './targets.js';

const TEXT = '#6e7781';
const GRID = '#8b949e';
const SERVERS = [
  { name: 'ours', label: 'skillwire', colour: '#2f9e4f', radius: 6 },
  { name: 'sdk-v1', label: 'SDK v1', colour: '#cf6a1c', radius: 4.5 },
  { name: 'sdk-v2', label: 'SDK v2', colour: '#3d82dc', radius: 4.5 },
  { name: 'fastmcp', label: 'FastMCP', colour: '#b561d6', radius: 4.5 },
];

/** Only what has a floor to be compared with; the rest is in the table. */
const METRICS = [
  ['start.initialize', 'cold start: initialize'],
  ['start.list', 'cold start: tools/list, 25 skills'],
  ['memory.idle', 'idle memory'],
  ['requests.list.64.cpu', 'tools/list, CPU'],
  ['requests.call.64.cpu', 'skill call of 6 KB, CPU'],
  ['scale.1000.list', 'start to list, 1,000 skills'],
  ['scale.10000.list', 'start to list, 10,000 skills'],
  ['scale.10000.memory', 'memory, 10,000 skills'],
  ['http.modern.32.rate', 'HTTP calls per second (2026-07-28)'],
  ['http.legacy.32.rate', 'HTTP calls per second (2025-11-25)'],
  ['hub.start', 'hub: start to list'],
  ['hub.64.cpu', 'hub: call, CPU'],
];

const WIDTH = 820;
const [LEFT, RIGHT, TOP, LINE, BOTTOM] = [260, 30, 44, 26, 44];

export function drawPlot({ rows, node }) {
  const lines = METRICS.flatMap(([metric, label]) => {
    const row = rows.find((candidate) => candidate.metric === metric);
    return row?.ratio ? [{ row, label }] : [];
  });
  if (lines.length === 0) return emptyPlot();
  const most = Math.max(2, ...lines.flatMap(({ row }) => SERVERS.map(({ name }) => cost(row, name) ?? 1)));
  const least = Math.min(0.9, ...lines.map(({ row }) => cost(row, 'ours') * 0.9));
  const scale = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(value / least)) / Math.log((most * 1.1) / least);
  const height = TOP + lines.length * LINE + BOTTOM;
  const bottom = height - BOTTOM;
  const parts = [
    title(node),
    legend(),
    ...ticks(least, most).map((value) => tick(scale(value), value, bottom)),
    ...lines.map((line, at) => drawLine(line, TOP + (at + 0.5) * LINE, scale)),
    text(LEFT, height - 8, 'times what bare Node needs for the same (log scale; | is the target)', 'start'),
  ];
  return svg(height, parts);
}

// --- internal ---

/** How many times the floor, with more always meaning worse. */
function cost(row, name) {
  const [mine, bare] = [row.values[name]?.median, row.values[row.against]?.median];
  if (mine === undefined || bare === undefined) return undefined;
  const ratio = name === 'ours' ? row.ratio.paired : mine / bare;
  return row.better === 'more' ? 1 / ratio : ratio;
}

function drawLine({ row, label }, y, scale) {
  const dots = SERVERS.flatMap(({ name, colour, radius }) => {
    const value = cost(row, name);
    if (value === undefined) return [];
    const tip = `<title>${name}: ${value.toFixed(2)}x</title>`;
    return [`<circle cx="${scale(value).toFixed(1)}" cy="${y}" r="${radius}" fill="${colour}">${tip}</circle>`];
  });
  const { limit } = TARGETS.find(({ metric }) => metric === row.metric) ?? {};
  const goal = limit?.kind === 'ratio' ? scale(limit.max ?? 1 / limit.min).toFixed(1) : undefined;
  return [
    text(LEFT - 14, y + 4, label, 'end'),
    `<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="${GRID}" stroke-opacity="0.25"/>`,
    goal && `<line x1="${goal}" y1="${y - 9}" x2="${goal}" y2="${y + 9}" stroke="${TEXT}" stroke-width="2"/>`,
    // Ours last: it is drawn over the others.
    ...dots.reverse(),
  ]
    .filter(Boolean)
    .join('\n');
}

function ticks(least, most) {
  return [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128].filter((value) => value >= least && value <= most * 1.1);
}

function tick(x, value, bottom) {
  const dash = value === 1 ? '' : ' stroke-dasharray="2 4" stroke-opacity="0.6"';
  const line = `<line x1="${x.toFixed(1)}" y1="${TOP}" x2="${x.toFixed(1)}" y2="${bottom}" stroke="${GRID}"${dash}/>`;
  return `${line}\n${text(x, bottom + 16, value === 1 ? 'bare Node' : `${value}x`, 'middle')}`;
}

function title(node) {
  return text(LEFT - 14, 24, `Node ${node}`, 'end');
}

function legend() {
  return SERVERS.map(({ label, colour, radius }, at) => {
    const x = LEFT + at * 120;
    return `<circle cx="${x + 6}" cy="20" r="${radius}" fill="${colour}"/>\n${text(x + 18, 24, label, 'start')}`;
  }).join('\n');
}

function text(x, y, content, anchor) {
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" fill="${TEXT}">${content}</text>`;
}

function emptyPlot() {
  return svg(60, [text(20, 34, 'nothing that can be drawn was measured', 'start')]);
}

function svg(height, parts) {
  const font = 'font-family="system-ui, -apple-system, Segoe UI, sans-serif" font-size="13"';
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ${font} role="img" aria-label="skillwire and other servers, compared with bare Node">`;
  return `${head}\n${parts.join('\n')}\n</svg>\n`;
}
