/**
 * `skillwire list`: the skills that an agent is told of.
 * Owns: the table, the long form and the data. Leaves alone: which skills there are (catalog/).
 */
import { settingsFrom } from '../config.ts';
import type { Skill, Snapshot } from '../index.ts';
import { explainNone } from '../skills/absent.ts';
import { oneLine, printable } from '../text.ts';
import { grouped, type Output, openOutput, paragraph, roughTokens, tableLines } from './output.ts';
import type { Values } from './parse.ts';
import { commandLine } from './self-command.ts';
import { dataOf, originOf } from './skill-data.ts';
import { viewOptions, withView } from './view.ts';
import type { LIST_OPTIONS } from './view-options.ts';

type ListValues = Values<typeof LIST_OPTIONS>;

export async function list(values: ListValues): Promise<void> {
  const { rows, faults } = await withView(values, async ({ snapshot }) => ({
    rows: await rowsOf(snapshot, values),
    faults: [
      ...explainNone(snapshot, settingsFrom(viewOptions(values))),
      ...snapshot.problems.filter((one) => !one.mild && !snapshot.names.problems.includes(one)),
    ],
  }));
  const output = openOutput(values);
  if (values.json) output.json({ skills: rows.map(({ listed, ...data }) => data) });
  else output.lines(values.long ? longLines(rows, output) : shortLines(rows, output));
  const told = rows.length === 0 ? faults.map(({ where, what }) => `${where}: ${what}`) : [];
  if (faults.length > 0 && rows.length > 0 && output.isTerminal)
    told.push(`faults found: ${faults.length}; ${commandLine(['doctor'])} shows them`);
  if (!values.quiet) for (const text of told) process.stderr.write(`skillwire: ${printable(text)}\n`);
}

// --- internal ---

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

/** `size`: of the SKILL.md, which is what an agent loads; undefined where it has not been read. */
async function rowsOf({ names }: Snapshot, { all, long }: ListValues) {
  const visible = new Set(names.visible);
  const rows = [];
  for (const listed of all ? names.listed : names.visible) {
    const bytes = long ? await bytesOf(listed.skill) : undefined;
    const size = bytes && { bytes: bytes.length, tokens: roughTokens(bytes) };
    rows.push({ listed, ...dataOf(listed), shadowed: !visible.has(listed), size });
  }
  return rows;
}

/** A skill of an upstream server is not fetched only to be measured. */
async function bytesOf(skill: Skill): Promise<Buffer | undefined> {
  if (skill.bytes || skill.location === 'mcp') return skill.bytes;
  try {
    return await skill.read();
  } catch {
    return undefined; // Deleted since the scan.
  }
}

function shortLines(rows: readonly Row[], output: Output): readonly string[] {
  if (rows.length === 0) return [];
  const cells = rows.map(({ name, provider, location, shadowed, description }) => [
    name,
    provider,
    shadowed ? `${location}, shadowed` : location,
    description,
  ]);
  return tableLines([HEAD, ...cells], output, 'bold');
}

const HEAD = ['NAME', 'PROVIDER', 'LOCATION', 'DESCRIPTION'];

function longLines(rows: readonly Row[], { width, paint }: Output): readonly string[] {
  return rows.flatMap(({ listed, name, description, file, shadowed, size }, at) => {
    const sizes = size ? `${grouped(size.bytes)} bytes, roughly ${grouped(size.tokens)} tokens` : 'size unknown';
    return [
      ...(at === 0 ? [] : ['']),
      `${paint('bold', oneLine(name))}  ${oneLine(originOf(listed.skill))}${shadowed ? ', shadowed' : ''}`,
      ...paragraph(oneLine(description), width - 2).map((line) => `  ${line}`),
      `  ${printable(file)}`,
      `  ${paint('dim', sizes)}`,
    ];
  });
}
