/**
 * `skillwire list`: the skills that an agent is told of.
 * Owns: the table, the long form and the data. Leaves alone: which skills there are (catalog/).
 */
import { settingsFrom } from '../config.ts';
import type { Skill, Snapshot } from '../index.ts';
import { explainNone } from '../skills/absent.ts';
import { oneLine, printable } from '../text.ts';
import { optionFaults, repeated } from './all-options.ts';
import { grouped, type Output, openOutput, paragraph, roughTokens, tableLines } from './output.ts';
import type { Values } from './parse.ts';
import { commandLine } from './self-command.ts';
import { dataOf, originOf } from './skill-data.ts';
import { pathFaultTest, viewOptions, warn, withShown } from './view.ts';
import type { LIST_OPTIONS } from './view-options.ts';

type ListValues = Values<typeof LIST_OPTIONS>;

export async function list(values: ListValues): Promise<void> {
  const output = openOutput(values);
  const { rows, told } = await withShown(values, async (view) => {
    const found = await rowsOf(view.snapshot, values);
    return { rows: found, told: tellFaults(view.snapshot, values, found.length === 0, output.isTerminal) };
  });
  if (values.json) output.json({ skills: rows.map(({ listed, ...data }) => data) });
  else output.lines(values.long ? longLines(rows, output) : shortLines(rows, output));
  warn(values, told);
}

// --- internal ---

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

/** All faults where they may be why nothing is shown; else, for a person, that there are some. */
function tellFaults(snapshot: Snapshot, values: ListValues, isEmpty: boolean, isTerminal: boolean): readonly string[] {
  const { problems, names } = snapshot;
  const faults = problems.filter((one) => !one.mild && !names.problems.includes(one));
  if (isEmpty) {
    const isSaid = pathFaultTest(values);
    const reasons = explainNone(snapshot, settingsFrom(viewOptions(values)));
    return [...reasons, ...faults.filter((one) => !isSaid(one))].map(({ where, what }) => `${where}: ${what}`);
  }
  if (!isTerminal || faults.length + optionFaults(values).length === 0) return [];
  return [`faults were found; ${commandLine(['doctor', ...repeated(values)])} shows them`];
}

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
