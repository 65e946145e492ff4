/**
 * `skillwire check`: what the loader refuses or reads only leniently, and the rules of the Agent Skills specification.
 * Owns: the rules, which files are checked, the report. Leaves alone: how front matter is read (skills/front-matter.ts).
 * Always true: it reports and edits nothing; an error is what the specification forbids or a client may not load.
 */
import { isUtf8 } from 'node:buffer';
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readStable } from '../files/read.ts';
import { isSkipped, realPathOrSame } from '../files/stat.ts';
import { MAX_SKILL_BYTES } from '../limits.ts';
import { messageOf } from '../log.ts';
import { readManifest } from '../methods/skills-extension.ts';
import { isObject, type Params } from '../protocol/index.ts';
import { LocalFiles } from '../skills/contents.ts';
import { cutHead, frontMatterOf, readHead, VALID_NAME } from '../skills/front-matter.ts';
import { SKILL_FILE } from '../skills/roots.ts';
import { compare, counted, echo, printable, visible } from '../text.ts';
import type { CheckValues } from './commands.ts';
import { openOutput } from './output.ts';
import { nearestOf, UsageError } from './parse.ts';
import { workingDirectory } from './process.ts';

export interface Finding {
  /** Counts from 1. */
  readonly line: number;
  readonly level: 'error' | 'warning';
  readonly message: string;
}

/** Gives the exit code: 1 when there are errors. */
export async function check(values: CheckValues, words: readonly string[]): Promise<number> {
  const cwd = workingDirectory();
  // By real paths, so that none is checked twice.
  const files = new Map<string, string>();
  const findings: (Finding & { readonly file: string })[] = [];
  for (const word of words.length > 0 ? words : ['.']) {
    const found = filesAt(resolve(cwd, word), word);
    if (found.length === 0 && words.length > 0)
      findings.push({ file: word, ...error(1, `there is no ${SKILL_FILE} in or below it`) });
    for (const path of found) if (!files.has(realPathOrSame(path))) files.set(realPathOrSame(path), path);
  }
  for (const path of files.values())
    for (const one of await checkFile(path)) findings.push({ file: relative(cwd, path) || path, ...one });
  const countOf = (level: Finding['level']) => findings.filter((one) => one.level === level).length;
  const [errors, warnings] = [countOf('error'), countOf('warning')];
  const output = openOutput(values);
  if (values.json) output.json({ files: files.size, errors, warnings, findings });
  else
    output.lines([
      ...findings.map(({ file, line, level, message }) => printable(`${file}:${line}: ${level}: ${message}`)),
      `${counted(files.size, 'file')} checked: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
    ]);
  return errors > 0 ? 1 : 0;
}

/** What is wrong with the text of a SKILL.md in a directory of that name. Pure. */
export function checkText(bytes: Buffer, directory: string): readonly Finding[] {
  const cut = cutHead(bytes);
  const { block = '', line: first = 1 } = 'block' in cut ? cut : {};
  const head = readHead(bytes);
  if (head.kind === 'unusable') return [faultAt(head.why, first)];
  const findings: Finding[] = [];
  if (!isUtf8(bytes)) findings.push(error(1, 'it is not UTF-8'));
  if (bytes.toString('utf8', 0, 3) === '\ufeff') findings.push(error(1, 'it begins with a byte order mark'));
  if (first > 2) findings.push(error(1, 'front matter does not begin in the first line'));
  if (head.lenient !== undefined) return [...findings, faultAt(head.lenient, first)];
  try {
    const keys = block.split('\n').map((line) => /^["']?([^"':]+)["']?[ \t]*:/.exec(line)?.[1]?.trim());
    const lineOf = (key: string) => first + Math.max(0, keys.indexOf(key));
    return [...findings, ...checkFields(frontMatterOf(bytes), head.name, directory, lineOf)];
  } catch {
    // Other clients might read another value than we do. What is wrong with name and description can be told all the same.
    const { name, description } = head;
    return [...findings, ...checkFields({ name, description }, name, directory, () => first)];
  }
}

// --- internal ---

const error = (line: number, message: string): Finding => ({ line, level: 'error', message });
const warning = (line: number, message: string): Finding => ({ line, level: 'warning', message });

/** The YAML parser's message has the place, counted from the line before the block; else it is the first line of that. */
function faultAt(message: string, first: number): Finding {
  const [place = '', line = 2] = / at line (\d+), column \d+/.exec(message) ?? [];
  const hint = place === '' ? '' : '; a text with a colon or a quote in it needs quotes around it';
  return error(first + Number(line) - 2, message.replace(place, '') + hint);
}

/** The keys of the specification, and what is wrong with a value. The loader has seen to it that the first two are there. */
const RULES = new Map<string, (value: unknown) => string | undefined>([
  ['name', (value) => notText(value)],
  ['description', (value) => notText(value, 1024)],
  ['license', (value) => notText(value)],
  ['compatibility', (value) => (value === '' ? 'is empty' : notText(value, 500))],
  ['allowed-tools', (value) => notText(value) && 'is not one text with spaces between tools'],
  ['metadata', (value) => (isTexts(value) ? undefined : 'is not a map of texts; put numbers in quotes')],
]);

const isTexts = (value: unknown) => isObject(value) && Object.values(value).every((one) => typeof one === 'string');

/** Keys that Claude Code, VS Code and Copilot define besides. */
const HOST_KEYS =
  'when_to_use argument-hint arguments disable-model-invocation user-invocable model effort context agent hooks paths shell';

function notText(value: unknown, most = Number.POSITIVE_INFINITY): string | undefined {
  if (typeof value !== 'string') return 'is not text; put it in quotes';
  const length = [...value].length;
  return length > most ? `has ${length} characters, over ${most}` : undefined;
}

/** `written`: the name as its author wrote it, where that is not text. */
function checkFields(fields: Params, written: string, directory: string, lineOf: (key: string) => number) {
  const known = [...RULES.keys(), ...HOST_KEYS.split(' ')];
  const findings: Finding[] = Object.entries(fields).flatMap(([key, value]) => {
    const fault = RULES.get(key)?.(value);
    if (fault !== undefined) return [error(lineOf(key), `${key} ${fault}`)];
    if (known.includes(key)) return [];
    const hint = nearestOf(key, known) || '; keys of your own belong below metadata';
    return [warning(lineOf(key), `the specification has no key "${echo(key)}"${hint}`)];
  });
  const text = typeof fields.name === 'string' ? fields.name : written;
  const name = `name "${echo(text)}"`;
  if (!VALID_NAME.test(text))
    findings.push(error(lineOf('name'), `${name} is not 1 to 64 lower-case letters, digits and single hyphens`));
  if (text !== directory)
    findings.push(error(lineOf('name'), `${name} differs from its directory "${echo(directory)}"`));
  const description = String(fields.description);
  if (visible(description) !== description)
    findings.push(error(lineOf('description'), 'description has invisible characters, which are left out'));
  return findings.sort((a, b) => a.line - b.line);
}

const isSkillFile = (path: string) => basename(path).toLowerCase() === SKILL_FILE.toLowerCase();

/** `word`: the path as it was given. */
function filesAt(path: string, word: string): readonly string[] {
  // It usually comes from a variable that was not set, and must not come to mean the working directory.
  if (word.trim() === '') throw new UsageError('a path is empty');
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`${word} does not exist`);
  if (stats.isDirectory()) return filesBelow(path);
  if (isSkillFile(path)) return [path];
  throw new UsageError(`${word} is neither a directory nor a ${SKILL_FILE}`);
}

/** Links may lead anywhere: of what is behind them, only the skill that they lead to is checked. */
function filesBelow(directory: string): readonly string[] {
  let entries: readonly Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => compare(a.name, b.name));
  } catch {
    return [directory]; // Trying to read it will tell why.
  }
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (isSkillFile(path)) return [path];
    if (entry.isDirectory()) return isSkipped(entry.name) ? [] : filesBelow(path);
    const linked = join(path, SKILL_FILE);
    return entry.isSymbolicLink() && existsSync(linked) ? [linked] : [];
  });
}

async function checkFile(path: string): Promise<readonly Finding[]> {
  const other = `many clients look for ${SKILL_FILE}, in capitals, and overlook this file`;
  const isOther = isSkillFile(path) && basename(path) !== SKILL_FILE;
  const findings = isOther ? [warning(1, other)] : [];
  try {
    findings.push(...checkText(readStable(path, MAX_SKILL_BYTES, 'follow').bytes, basename(dirname(path))));
  } catch (fault) {
    return [...findings, error(1, messageOf(fault))];
  }
  // After an error, it does not matter what the Skills extension would say.
  if (isOther || findings.some(({ level }) => level === 'error')) return findings;
  const why = await readManifest(new LocalFiles(realPathOrSame(dirname(path)))).then(() => undefined, messageOf);
  return why === undefined ? findings : [...findings, warning(1, `${why}, so the skill is left out of skills/list`)];
}
