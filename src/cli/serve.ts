/**
 * `skillwire serve`: one client on stdin and stdout, until it goes or a signal comes.
 * Owns: streams, signals and the exit. Leaves alone: what is served (server.ts).
 */
import { styleText } from 'node:util';
import type { SkillwireOptions } from '../config.ts';
import { createSkillwire } from '../index.ts';
import { createLog, type Level } from '../log.ts';
import type { Talk } from './options.ts';

export async function serve(options: SkillwireOptions, { level, colour }: Talk): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  // Nobody may be reading stderr: it may be closed or full, and neither is a reason to stop.
  stderr.on('error', () => {});
  const write = (line: string) => {
    if (stderr.writableLength < MOST_UNREAD_LOG) stderr.write(line);
  };
  const painted = colour && stderr.isTTY && !env.NO_COLOR;
  const log = createLog(write, level, painted ? (own) => styleText(COLOURS[own], own) : undefined);

  const stop = new AbortController();
  let cause = 'the client closed its end';
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Asked twice, or with answers that nobody takes: leave now.
      if (stop.signal.aborted) process.exit(0);
      cause = signal;
      stop.abort();
      setTimeout(() => process.exit(0), LAST_ANSWERS_MS).unref();
    });
  }
  if (stdin.isTTY) {
    log.info('waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl+D or Ctrl+C ends it');
    log.info('to connect a client, give it this command, for example: claude mcp add skillwire -- npx -y skillwire');
  }

  const skillwire = createSkillwire({ ...options, env, log });
  await skillwire.serveStdio({ input: stdin, output: stdout }, stop.signal);
  log.info(`stopped: ${cause}`);
  // A pipe that stays open, or a watch, must not keep a server alive that serves nobody.
  process.exit(0);
}

// --- internal ---

const COLOURS = { error: 'red', warn: 'yellow', info: 'blue', debug: 'gray' } as const satisfies Record<Level, string>;

// A reader that has fallen this far behind gets no more lines until it catches up.
const MOST_UNREAD_LOG = 256 * 1024;
// Answers in flight take milliseconds. Whoever sends SIGTERM usually sends SIGKILL after five to ten seconds.
const LAST_ANSWERS_MS = 3000;
