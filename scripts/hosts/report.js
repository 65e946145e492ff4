/** The two tables, as Markdown that can also be read on a terminal. */

export function hostTable(rows) {
  return table(
    ['host', 'version', 'client name', 'protocol', 'tools at the model', 'results at the model', 'verdict'],
    rows.map((row) => [
      row.host,
      row.version ?? '-',
      row.client ?? '-',
      row.protocol ?? '-',
      toolsShown(row),
      resultsShown(row),
      row.verdict,
    ]),
  );
}

/** What is of use for the host table in the source: what a host does besides handing on tools. */
export function habitTable(rows) {
  return table(
    ['host', 'instructions', 'skills it loads by itself', 'ends a server by', 'leaves behind'],
    rows
      .filter(({ client }) => client)
      .map((row) => [
        row.host,
        row.asked ? row.instructions : '-',
        row.native.join(' ') || '-',
        row.end.filter((event) => !event.startsWith('exit'))[0] ?? '-',
        row.left.length > 0 ? `${row.left.length} process` : '-',
      ]),
  );
}

export function complaintList(rows) {
  return rows
    .filter(({ complaints }) => complaints?.length > 0)
    .flatMap(({ host, complaints }) => complaints.map((line) => `- ${host}: ${line.slice(0, 200)}`))
    .join('\n');
}

export function serverTable({ servers, ending }) {
  const ready = servers.filter(({ state }) => state === 'ready');
  const tools = ready.reduce((sum, row) => sum + row.tools, 0);
  return [
    table(
      ['server', 'version', 'state', 'tools', 'call', 'remark'],
      servers.map((row) => [
        row.server,
        row.version ?? '-',
        row.state,
        String(row.tools ?? '-'),
        row.call ?? '-',
        row.remark,
      ]),
    ),
    `${ready.length} of ${servers.length} ready after ${ending.readySeconds} s, ${tools} tools. ` +
      `SIGTERM: exit ${ending.code} after ${ending.seconds} s. Left behind: ${ending.left.length || 'nothing'}.`,
  ].join('\n\n');
}

// --- internal ---

const MOST_TOOLS = 13;

/** `mcp__sw__: skill 649, skills_list 166`: the host's prefix once, then each tool with its description's length. */
function toolsShown({ client, shown = [], deferred, asked }) {
  if (!client || !asked) return '-';
  if (shown.length === 0) return deferred ? 'none: behind a search' : 'none';
  const first = shown.toSorted((a, b) => rank(a) - rank(b)).slice(0, MOST_TOOLS);
  const prefix = first[0].name.replace(/skill.*$/, '');
  const tools = first.map(
    ({ name, length, of, cut }) => `${strip(name, prefix)} ${cut ? `${length} of ${of}` : length}`,
  );
  const more = shown.length > first.length ? `, ${shown.length - first.length} more` : '';
  return `${deferred ? 'after a search: ' : ''}${prefix ? `${prefix} ` : ''}${tools.join(', ')}${more}`;
}

/** `skill` first, then what else is ours, then what came through the hub, its mere number last. */
const ORDER = [/^skill$/, /^skills/, /^(?!.*extra_)/, /./];
const rank = ({ listedAs }) => ORDER.findIndex((pattern) => pattern.test(listedAs));

const strip = (name, prefix) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);

function resultsShown({ results = {} }) {
  const kinds = Object.entries(results).map(([step, kind]) => `${step}: ${kind}`);
  return kinds.join(', ') || '-';
}

function table(head, rows) {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) =>
      String(cell ?? '')
        .replace(/\s+/g, ' ')
        .replaceAll('|', '\\|'),
    ),
  );
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [
    line(cells[0]),
    `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`,
    ...cells.slice(1).map(line),
  ].join('\n');
}
