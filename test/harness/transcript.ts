/**
 * Conversations kept as text, one file each, and what it takes to hold one over any transport.
 *
 *   # a promise              begins a step; its name in the test report
 *   > {"jsonrpc":…}          is sent, exactly as it stands
 *   < {"jsonrpc":…}          must come; the answers to what was just sent may come in any order
 *   ! add NAME | drop NAME   a skill appears or vanishes
 *   ! stop                   the server is told to end
 *
 * In an expected message `"<any>"` is any value, `<any>` inside a text is any part of it, and a member
 * `"<any>": "<any>"` allows further members. Everything else must be equal, and whatever comes without being
 * expected is a failure: also what comes after the last line, until the connection is closed.
 *
 * The first word of a file's name says who can hold it: `legacy`, `modern`, `both` (one connection, two eras), `pipe`.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTree, skillText, type Tree } from './tree.ts';

/** One client's connection to a server over a tree. */
export interface Connection {
  /** Hands over one message as text, well-formed or not. */
  send(text: string): void;
  /** The next message from the server, parsed; rejects when none comes. */
  receive(): Promise<unknown>;
  /** Tells the server to end, as a signal would. */
  stop(): void;
  /** Ends the connection and gives the messages that were never received. */
  close(): Promise<readonly unknown[]>;
}

export type Connect = (t: TestContext, tree: Tree) => Promise<Connection>;

export interface Transport {
  readonly name: string;
  /** The first words of the files it can hold. */
  readonly kinds: readonly string[];
  readonly connect: Connect;
}

/** One test per file and transport, one subtest per step. */
export function testTranscripts(transports: readonly Transport[]): void {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));
  for (const { name, kinds, connect } of transports) {
    for (const file of files.filter((one) => kinds.includes(one.split('-', 1)[0] ?? ''))) {
      test(`${name}: ${file}`, (t) => play(t, parseTranscript(readFileSync(join(FOLDER, file), 'utf8')), connect));
    }
  }
}

/** Throws unless `actual` is what the pattern describes. */
function assertMatches(actual: unknown, pattern: unknown): void {
  assert.deepEqual(actual, fill(pattern, actual));
}

// --- internal ---

// Seen from .test-build/test/harness: the files themselves are not copied there.
const FOLDER = fileURLToPath(new URL('../../../test/transcripts', import.meta.url));

type Line =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'expect'; readonly pattern: unknown }
  | { readonly kind: 'do'; readonly words: readonly string[] };

interface Step {
  readonly promise: string;
  readonly lines: Line[];
}

function parseTranscript(text: string): readonly Step[] {
  const steps: Step[] = [];
  for (const line of text.split('\n')) {
    const [mark, rest] = [line.slice(0, 2), line.slice(2)];
    if (mark === '# ') steps.push({ promise: rest, lines: [] });
    else if (mark === '> ') steps.at(-1)?.lines.push({ kind: 'send', text: rest });
    else if (mark === '< ') steps.at(-1)?.lines.push({ kind: 'expect', pattern: JSON.parse(rest) });
    else if (mark === '! ') steps.at(-1)?.lines.push({ kind: 'do', words: rest.split(' ') });
    else assert.equal(line, '', 'a line of a transcript begins with "# ", "> ", "< " or "! "');
  }
  return steps;
}

async function play(t: TestContext, steps: readonly Step[], connect: Connect): Promise<void> {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
    '.claude/skills/xlsx/SKILL.md': skillText('xlsx', 'Work with tables'),
  });
  const connection = await connect(t, tree);
  let whole = true;
  for (const { promise, lines } of steps) {
    // The steps build on each other: after a failed one the rest would only repeat the news.
    if (!whole) break;
    whole = false;
    await t.test(promise, async () => {
      await playStep(lines, connection, tree);
      whole = true;
    });
  }
  const rest = await connection.close();
  if (whole) assert.deepEqual(rest, [], 'messages came that nobody expected');
}

async function playStep(lines: readonly Line[], connection: Connection, tree: Tree): Promise<void> {
  let open: unknown[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.kind === 'send') connection.send(withTree(line.text, tree));
    else if (line.kind === 'do') act(line.words, connection, tree);
    else {
      open.push(JSON.parse(withTree(JSON.stringify(line.pattern), tree)));
      if (lines[at + 1]?.kind === 'expect') continue;
      for (; open.length > 0; ) open = without(open, await connection.receive());
    }
  }
}

function act([verb, name = '']: readonly string[], connection: Connection, tree: Tree): void {
  switch (verb) {
    case 'add':
      tree.write(`.claude/skills/${name}/SKILL.md`, skillText(name));
      break;
    case 'drop':
      tree.remove(`.claude/skills/${name}`);
      break;
    case 'stop':
      connection.stop();
      break;
    default:
      assert.fail(`a transcript cannot do "${verb}"`);
  }
}

/** The expectations less the one that the message fulfils. */
function without(open: readonly unknown[], message: unknown): unknown[] {
  const at = open.findIndex((pattern) => matches(message, pattern));
  if (at === -1) assertMatches(message, open.find((pattern) => idOf(pattern) === idOf(message)) ?? open[0]);
  return open.toSpliced(at, 1);
}

function matches(actual: unknown, pattern: unknown): boolean {
  try {
    assertMatches(actual, pattern);
    return true;
  } catch {
    return false; // It may be meant for another expectation.
  }
}

/** The pattern with its blanks filled from the message wherever they allow it. */
function fill(pattern: unknown, actual: unknown): unknown {
  if (pattern === ANY) return actual;
  if (typeof pattern === 'string') {
    return typeof actual === 'string' && expressionOf(pattern).test(actual) ? actual : pattern;
  }
  if (Array.isArray(pattern)) {
    return pattern.map((one, at) => fill(one, Array.isArray(actual) ? actual[at] : undefined));
  }
  if (typeof pattern !== 'object' || pattern === null) return pattern;
  const members = typeof actual === 'object' && actual !== null ? new Map(Object.entries(actual)) : new Map();
  const named = Object.entries(pattern).filter(([key]) => key !== ANY);
  const filled = named.map(([key, one]) => [key, fill(one, members.get(key))]);
  return Object.fromEntries(ANY in pattern ? [...members, ...filled] : filled);
}

const ANY = '<any>';

function expressionOf(pattern: string): RegExp {
  const parts = pattern.split(ANY).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined;
}

function withTree(text: string, tree: Tree): string {
  return text.replaceAll('<tree>', JSON.stringify(tree.path).slice(1, -1));
}
