/**
 * `skillwire doctor`: what was found where, what was skipped and why, names that several skills have, upstream states.
 * Owns: the report, as data and in words. Leaves alone: what to do about a fault, which each Problem carries.
 */
import { settingsFrom } from '../config.ts';
import { DIAGNOSIS_MS } from '../limits.ts';
import type { Problem, Snapshot } from '../model.ts';
import { nameKey } from '../skills/names.ts';
import { findRoots } from '../skills/roots.ts';
import { counted, printable } from '../text.ts';
import { linesFor } from '../tools/tool.ts';
import { allOptions, type ViewValues } from './commands.ts';
import { type Output, openOutput, originOf } from './output.ts';
import { faultsIn, type View, withView } from './view.ts';

/** Gives the exit code: 1 when there is something to mend. */
export async function doctor(values: ViewValues): Promise<number> {
  const report = await withView(values, (view) => examine(values, view), DIAGNOSIS_MS);
  const output = openOutput(values);
  if (values.json) output.json(report);
  else output.lines(linesOf(report, values.hub, output));
  return report.toMend === 0 ? 0 : 1;
}

// --- internal ---

type Report = ReturnType<typeof examine>;

function examine(values: ViewValues, view: View) {
  const { names, problems } = view.snapshot;
  return {
    toMend: faultsIn(view).length,
    skills: names.listed.length,
    roots: rootsOf(values, view.snapshot),
    names: sharedNames(view.snapshot),
    problems,
    upstreams: view.servers,
  };
}

/** The names by which some of the skills that have them do not load. Those of plugins and servers have a prefix anyway. */
function sharedNames({ names }: Snapshot): readonly Problem[] {
  const losers = new Map<string, string[]>();
  for (const { id, skill } of names.listed) {
    const hasPrefix = skill.plugin !== undefined || skill.location === 'mcp';
    if (id === skill.name || hasPrefix) continue;
    const key = nameKey(skill.name);
    losers.set(key, [...(losers.get(key) ?? []), id]);
  }
  return Array.from(losers, ([key, ids]) => {
    const found = names.resolve(key);
    const shown = linesFor(ids, (id) => id).join(', ');
    const meant = found.kind === 'found' ? `means ${found.listed.skill.file}, which shadows` : 'is ambiguous:';
    return { where: `name "${key}"`, what: `${meant} ${shown}`, hint: 'Use a full name, or exclude all but one.' };
  });
}

/** Where skills were looked for, with the names of those that were found there. */
function rootsOf(values: ViewValues, { names }: Snapshot) {
  const found = new Map<string, { directory: string; from: string; skills: string[] }>();
  const at = (directory: string, from: string) => {
    const place = found.get(`${directory}\n${from}`) ?? { directory, from, skills: [] };
    found.set(`${directory}\n${from}`, place);
    return place;
  };
  for (const root of findRoots(settingsFrom(allOptions(values)))) at(root.directory, originOf(root));
  for (const { id, skill } of names.listed) at(skill.root, originOf(skill)).skills.push(id);
  return [...found.values()];
}

function linesOf(report: Report, isHub: boolean, { paint }: Output): readonly string[] {
  const { toMend, names } = report;
  const nameLines = [`Names that several skills have: ${names.length}`, ...names.map(problemLine)];
  const sections = [skillLines(report), nameLines, problemLines(report), serverLines(report, isHub)];
  return [
    ...sections.flatMap(([title = '', ...rest]) => [paint('bold', title), ...rest.map((line) => `  ${line}`), '']),
    toMend === 0 ? paint('green', 'healthy') : paint('red', `${counted(toMend, 'thing')} to mend`),
  ];
}

function skillLines({ skills, roots }: Report): readonly string[] {
  const filled = roots.filter((root) => root.skills.length > 0);
  const empty = roots.filter((root) => root.skills.length === 0).map(({ directory }) => directory);
  return [
    `Skills: ${skills}`,
    ...filled.flatMap(({ directory, from, skills: ids }) => [
      printable(`${ids.length} in ${directory} (${from})`),
      `  ${linesFor(ids, (id) => id).join(', ')}`,
    ]),
    ...(empty.length > 0 ? [printable(`none in ${empty.join(', ')}`)] : []),
  ];
}

/** Faults that want the same thing done stand together, below what to do. */
function problemLines({ problems }: Report): readonly string[] {
  const faults = problems.filter(({ mild }) => !mild);
  const groups = new Map<string, Problem[]>();
  for (const problem of [...faults, ...problems.filter(({ mild }) => mild)]) {
    const { mild, hint = 'Correct the file, the path or its rights.' } = problem;
    const heading = mild ? 'Nothing is lost by these:' : hint;
    groups.set(heading, [...(groups.get(heading) ?? []), problem]);
  }
  return [
    `Problems: ${faults.length}`,
    ...[...groups].flatMap(([heading, some]) => [printable(heading), ...some.map((one) => `  ${problemLine(one)}`)]),
  ];
}

function serverLines({ upstreams }: Report, isHub: boolean): readonly string[] {
  if (!isHub) return ['Servers: not checked (--hub checks them)'];
  const about = upstreams.flatMap(({ name, from, state, transport, tools, reason = 'no answer yet', protocol }) => {
    const more = state === 'ready' ? `${counted(tools, 'tool')}, ${transport}, protocol ${protocol}` : reason;
    // A reason may quote several lines of the server's stderr.
    const [first = '', ...rest] = `${name}: ${state}: ${more} (${from})`.split('\n').map(printable);
    return [first, ...rest.map((line) => `  ${line}`)];
  });
  return [`Servers: ${upstreams.length}`, ...about];
}

const problemLine = ({ where, what }: Problem) => printable(`${where}: ${what}`);
