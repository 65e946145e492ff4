/**
 * `skillwire try`: what the model of a named host gets from this server: instructions, tools, the list of skills, one skill.
 * Owns: the output. Leaves alone: the answers, which are those that the host itself would get.
 */
import { HOST_NAMES } from '../config.ts';
import { knownHosts } from '../methods/host-profiles.ts';
import { nearest } from '../skills/nearest.ts';
import { oneLine, printable } from '../text.ts';
import { connectAs } from './client.ts';
import { grouped, hanging, type Output, openOutput, paragraph, roughTokens, tableLines } from './output.ts';
import type { Values } from './parse.ts';
import { commandLine } from './self-command.ts';
import { lackOf, toolListOf } from './tool-lists.ts';
import { type View, withShown } from './view.ts';
import type { TRY_OPTIONS } from './view-options.ts';

/** Gives the exit code: 1 when the skill cannot be loaded. */
export async function tryHost(values: Values<typeof TRY_OPTIONS>, [name]: readonly string[]): Promise<number> {
  const seen = await withShown(values, (view) => lookAs(values.as, name, view));
  const output = openOutput(values);
  if (values.json) output.json(seen);
  else output.lines(linesOf(seen, output));
  return seen.loaded?.isError ? 1 : 0;
}

// --- internal ---

type Seen = Awaited<ReturnType<typeof lookAs>>;

/** The names by which the hosts of `setup` and `--import` introduce themselves. */
const CLIENT_NAMES: Readonly<Record<(typeof HOST_NAMES)[number], string>> = {
  'claude-code': 'claude-code',
  'claude-desktop': 'claude-ai',
  codex: 'codex-mcp-client',
  cursor: 'cursor-vscode',
  vscode: 'visual-studio-code',
  gemini: 'gemini-cli-mcp-client',
  opencode: 'opencode',
  zed: 'zed',
  copilot: 'copilot-cli',
  windsurf: 'windsurf',
};

async function lookAs(host: string, asked: string | undefined, { skillwire, snapshot }: View) {
  const introduced = new Map(Object.entries(CLIENT_NAMES)).get(host) ?? host;
  const client = await connectAs(introduced, skillwire.handle);
  const { protocol, instructions } = client;
  const list = await toolListOf(client);
  const name = asked ?? snapshot.names.visible[0]?.id;
  const loaded = name === undefined ? undefined : { name, ...(await client.call('skill', { name })) };
  return { host, client: introduced, protocol, instructions, ...list, loaded };
}

function linesOf(seen: Seen, output: Output) {
  const { host, client, instructions, tools, tokens, characters, description, loaded } = seen;
  const rows = tools.map((tool) => [
    tool.name,
    tool.title ?? tool.description ?? '',
    `${grouped(JSON.stringify(tool).length)} characters`,
  ]);
  return [
    `What the model of ${output.paint('bold', oneLine(host))} gets`,
    ...remarkOn(client).flatMap((line) => hanging(line, output)),
    ...section('Instructions', instructions, output),
    '',
    `Tools: ${tools.length}, ${sizeOf(characters, tokens)}`,
    ...tableLines(rows, { ...output, width: output.width - 2 }, 'bold').map((line) => `  ${line}`),
    ...section('Description of skill', description, output, lackOf(seen)),
    ...(loaded
      ? section(`Result of loading ${oneLine(loaded.name)}`, loaded.text, output)
      : ['', 'There is no skill to load.']),
  ];
}

/** The text whole, as a model reads it. Each of its lines has a mark, before its first part if it is too wide for the terminal. */
function section(
  title: string,
  text: string,
  { paint, isTerminal, width }: Output,
  lack: readonly string[] = [],
): readonly string[] {
  const lines = text.trimEnd().split(/\r?\n/).map(printable);
  const parts = lines.flatMap((line) => {
    const [first = '', ...rest] = isTerminal ? paragraph(line, width - 4) : [line];
    return [`  ${paint('dim', '|')} ${first}`, ...rest.map((part) => `    ${part}`)];
  });
  return ['', [`${title}: ${sizeOf(text.length, roughTokens(text))}`, ...lack].join(', '), ...parts];
}

const sizeOf = (characters: number, tokens: number) =>
  `${grouped(characters)} characters, roughly ${grouped(tokens)} tokens`;

function remarkOn(client: string): readonly string[] {
  const word = client.toLowerCase();
  const known = knownHosts();
  if (known.some((one) => word.startsWith(one))) return [];
  const [near] = nearest(word, [...HOST_NAMES, ...known], (one) => [one]);
  return [
    `It is not in the table of hosts, so it gets what any other client gets.${near ? ` Did you mean ${near}?` : ''}`,
    `Known are ${HOST_NAMES.join(', ')}, and the names that ${commandLine(['doctor'])} lists.`,
  ];
}
