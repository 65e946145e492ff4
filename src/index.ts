/** `skillwire`: the server as a library. Streams, clock and environment are the caller's. */
import { type SkillwireOptions, settingsFrom } from './config.ts';
import type { Handle } from './protocol/index.ts';
import { createServer, type Server } from './server.ts';
import { type Pipes, type StdioOptions, serveStdio } from './transports/stdio.ts';

export type { Refreshed, Registry } from './catalog/registry.ts';
export type { SkillwireOptions } from './config.ts';
export { createLog, type Level, type Log } from './log.ts';
export type { Listed, Problem, Resolution, Skill, Snapshot } from './model.ts';
export {
  createSession,
  type Exchange,
  type Handle,
  type Session,
} from './protocol/index.ts';
export { VERSION } from './version.ts';

export interface Skillwire {
  /** One message in, its answer into the exchange: for transports of your own. */
  readonly handle: Handle;
  readonly registry: Server['registry'];
  /** Serves one client until its input ends or `stop` fires, then closes. */
  serveStdio(pipes: Pipes, stop?: StdioOptions['stop']): Promise<void>;
  close(): void;
}

export function createSkillwire(options: SkillwireOptions = {}): Skillwire {
  const { handle, registry, close } = createServer(settingsFrom(options));
  return {
    handle,
    registry,
    close,
    serveStdio: (pipes, stop = new AbortController().signal) => serveStdio(handle, pipes, { stop, onLast: close }),
  };
}
