/**
 * The picture for the README: one line per measurement, a dot per server, on a logarithmic scale of "times bare Node".
 * Left is better. There is no background, and every colour has a contrast of at least 3:1 on white and on GitHub's dark
 * page, because one picture serves both.
 */
const [TEXT, GRID] = ['#6e7781', '#8b949e'];
const SERVERS = [
  { key: 'v2', label: 'SDK v2', colour: '#3d82dc', radius: 4.5 },
  { key: 'v1', label: 'SDK v1', colour: '#cf6a1c', radius: 4.5 },
  // Last: it is drawn over the others.
  { key: 'ours', label: 'skillwire', colour: '#2f9e4f', radius: 6 },
];
const [WIDTH, LEFT, RIGHT, TOP, LINE, BOTTOM] = [760, 250, 30, 36, 24, 40];

/** `rows`: `{ label, costs: { ours, v1, v2 } }`, each cost in times of bare Node. */
export function drawPlot(rows) {
  const all = rows.flatMap(({ costs }) => Object.values(costs));
  const [least, most] = [Math.min(0.9, ...all), Math.max(2, ...all) * 1.1];
  const x = (value) => (LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(value / least)) / Math.log(most / least)).toFixed(1);
  const bottom = TOP + rows.length * LINE;
  const parts = [
    ...SERVERS.toReversed().map((server, at) => {
      const left = LEFT + at * 110;
      return `${dot(left + 6, 16, server)}${text(left + 18, 20, server.label, 'start')}`;
    }),
    ...[0.5, 1, 2, 4, 8, 16, 32, 64, 128]
      .filter((value) => value >= least && value <= most)
      .map((value) => tick(x(value), value, bottom)),
    ...rows.map(({ label, costs }, at) => {
      const y = TOP + (at + 0.5) * LINE;
      const dots = SERVERS.map((server) => dot(x(costs[server.key]), y, server));
      return `${text(LEFT - 14, y + 4, label, 'end')}${dots.join('')}`;
    }),
    text(LEFT, bottom + 34, 'times what bare Node needs for the same (log scale)', 'start'),
  ];
  const font = 'font-family="system-ui, sans-serif" font-size="13"';
  const size = `viewBox="0 0 ${WIDTH} ${bottom + BOTTOM}" width="${WIDTH}"`;
  const label = 'aria-label="skillwire and servers on the SDKs, compared with bare Node"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font} role="img" ${label}>\n${parts.join('\n')}\n</svg>\n`;
}

// --- internal ---

const dot = (x, y, { colour, radius }) => `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colour}"/>`;

function tick(x, value, bottom) {
  const dash = value === 1 ? '' : ' stroke-dasharray="2 4" stroke-opacity="0.6"';
  const line = `<line x1="${x}" y1="${TOP}" x2="${x}" y2="${bottom}" stroke="${GRID}"${dash}/>`;
  return `${line}${text(x, bottom + 16, value === 1 ? 'bare Node' : `${value}x`, 'middle')}`;
}

function text(x, y, content, anchor) {
  const plain = content.replaceAll('`', '');
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${TEXT}">${plain}</text>`;
}
