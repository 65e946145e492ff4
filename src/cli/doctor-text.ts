/**
 * The report of `skillwire doctor` in words.
 * Owns: the layout, and what to do about each kind of fault. Leaves alone: the report (doctor-report.ts).
 * Always true: a fault is one line, which a terminal shows broken between words; text from outside is escaped.
 */
import { isAbsolute } from 'node:path';
import type { Problem, UpstreamStatus } from '../index.ts';
import { oneLine, printable } from '../text.ts';
import { linesFor } from '../tools/summary.ts';
import type { Report } from './doctor-report.ts';
import { counted, grouped, hanging, type Output, paragraph } from './output.ts';
import { commandLine } from './self-command.ts';
import { originOf } from './skill-data.ts';
import { lackOf } from './tool-lists.ts';

/** `hub`: whether upstream servers were asked for. */
export function textOf(report: Report, hub: boolean, output: Output): readonly string[] {
  const { paint } = output;
  const sections = [
    skillLines(report, output),
    pluginLines(report),
    nameLines(report),
    hostLines(report, output),
    ...problemSections(report, output),
    serverLines(report, hub),
  ].filter(({ length }) => length > 0);
  const { toMend } = report;
  const end = toMend === 0 ? paint('green', 'healthy') : paint('red', `${counted(toMend, 'thing')} to mend`);
  const lines = sections.flatMap(([title = '', ...rest]) => [paint('bold', title), ...rest.map(indent), '']);
  return [...lines, end].flatMap((line) => hanging(line, output));
}

// --- internal ---

const indent = (line: string) => `  ${line}`;

function skillLines({ skills, roots, milliseconds }: Report, { width }: Output): readonly string[] {
  const filled = roots.filter(({ names }) => names.length > 0);
  const empty = roots.filter(({ names }) => names.length === 0).map(({ directory }) => directory);
  const directories = roots.length === 1 ? 'directory' : 'directories';
  return [
    `Skills: ${grouped(skills)}; looked at ${grouped(roots.length)} ${directories} in ${milliseconds} ms`,
    ...filled.flatMap((root) => [
      printable(`${root.names.length} in ${root.directory} (${originOf({ ...root, plugin: undefined })})`),
      ...paragraph(linesFor(root.names, oneLine).join(', '), width - 4).map(indent),
    ]),
    ...(empty.length > 0 ? [printable(`none in ${empty.join(', ')}`)] : []),
  ];
}

function pluginLines({ plugins }: Report): readonly string[] {
  if (plugins.length === 0) return [];
  const states = {
    enabled: 'enabled',
    disabled: 'disabled in the settings',
    elsewhere: 'of another project',
    broken: 'broken',
  };
  const lines = plugins.map(({ name, marketplace, scope, state, skills }) =>
    printable(`${name}@${marketplace}: ${scope} scope, ${states[state]}, ${counted(skills, 'skill')}`),
  );
  return [`Plugins: ${plugins.length}`, ...lines];
}

function nameLines({ names }: Report): readonly string[] {
  return names.length === 0 ? [] : [`Names that several skills have: ${names.length}`, ...linesFor(names, faultLine)];
}

function hostLines({ toolLists }: Report, { width }: Output): readonly string[] {
  const hostsBySize = new Map<string, readonly string[]>();
  for (const { hosts, characters, tokens, ...list } of toolLists) {
    const size = [`${grouped(characters)} characters, roughly ${grouped(tokens)} tokens`, ...lackOf(list)].join(', ');
    hostsBySize.set(size, [...(hostsBySize.get(size) ?? []), ...hosts]);
  }
  const lines = [...hostsBySize].flatMap(([size, hosts]) => {
    const [first = '', ...rest] = paragraph(`${size}: ${hosts.join(', ')}`, width - 4);
    return [first, ...rest.map(indent)];
  });
  return ['Tool list, in every conversation of a host:', ...lines];
}

const faultLine = ({ where, what }: Problem) => `${printable(where)}: ${printable(what)}`;

/** Kinds of faults, by their words (without a path, which may have any word in it), with what to do. The first counts. */
const KINDS: readonly (readonly [title: string, words: RegExp, advice: string])[] = [
  [
    'Front matter',
    /^(?:there is no )?front matter|^(?:name|description) is /,
    `The file must begin with "---", a name and a description, and "---"; ${commandLine(['check'])} tells where it does not.`,
  ],
  ['Options', /^(?:--|no skills: no directory )/, 'Correct the command line.'],
  ['Skills', /^no skills:/, 'Put a skill into one of these directories, or name another with --skill-dir.'],
  ['Filters', /^filter /, `${commandLine(['list'])} shows the names that a pattern can match.`],
  ['Plugins', /\bplugins? /, 'Install the plugin again, or remove it, with /plugin in Claude Code.'],
  ['Servers', /server|mcpServers|JSON object|valid TOML/, 'Correct the entry in the configuration file.'],
  ['Skills extension', /skills\/list/, 'These load by name; hosts with the Skills extension are not told of them.'],
  ['Linked files', /\bit is a link\b/, 'Replace the link by the file that it leads to.'],
  ['Links', /\blink\b/, 'Replace the link by a directory, or use --follow-symlinks.'],
  ['Files and directories', /./, 'Correct the path, the name or the rights.'],
];

function problemSections({ problems }: Report, { paint }: Output): readonly (readonly string[])[] {
  const faults = problems.filter(({ mild }) => !mild);
  const remarks = problems.filter(({ mild }) => mild);
  const kindOf = (problem: Problem) => {
    const said = isAbsolute(problem.where) ? problem.what : faultLine(problem);
    return KINDS.find(([, words]) => words.test(said))?.[0];
  };
  const groups = KINDS.flatMap(([title, , advice]) => {
    const ofKind = faults.filter((problem) => kindOf(problem) === title);
    if (ofKind.length === 0) return [];
    return [`${paint('yellow', title)}: ${advice}`, ...linesFor(ofKind, faultLine).map(indent)];
  });
  return [
    [`Problems: ${faults.length}`, ...groups],
    ...(remarks.length > 0 ? [[`Remarks: ${remarks.length}; nothing to mend`, ...linesFor(remarks, faultLine)]] : []),
  ];
}

function serverLines({ upstreams }: Report, hub: boolean): readonly string[] {
  return [
    hub ? `Servers: ${upstreams.length}` : 'Servers: not checked (--hub checks them)',
    ...upstreams.map(serverLine),
  ];
}

function serverLine({ name, state, transport, tools, reason, protocol, from }: UpstreamStatus): string {
  const about =
    state === 'ready' ? `${counted(tools, 'tool')}, ${transport}, protocol ${protocol}` : (reason ?? 'no answer yet');
  return printable(`${name}: ${state}: ${about} (${from})`);
}
