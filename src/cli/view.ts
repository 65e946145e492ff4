/**
 * The server as commands for people look at it: in this process, with the options of `serve`, without refreshing.
 * Owns: its start and end, waiting for upstream servers, and the line of progress meanwhile.
 * Always true: the progress is erased, and every upstream server has ended, before the command writes its output.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PROGRESS_MS, SERVERS_MS } from '../limits.ts';
import { createLog, type Log } from '../log.ts';
import type { Problem, Snapshot, UpstreamStatus } from '../model.ts';
import { createSkillwire } from '../skillwire.ts';
import { printable, shorten } from '../text.ts';
import { allOptions, type ViewValues } from './commands.ts';
import { createStderrLog } from './process.ts';

export interface View {
  readonly snapshot: Snapshot;
  readonly servers: readonly UpstreamStatus[];
}

/** What `look` gives. `patience`: how long upstream servers are waited for, in milliseconds. */
export async function withView<T>(
  values: ViewValues,
  look: (view: View) => T | Promise<T>,
  patience = SERVERS_MS,
): Promise<T> {
  const progress = createProgress(values.quiet);
  const log = values['log-level'] === 'debug' ? createStderrLog(values) : progress.log;
  const skillwire = createSkillwire({ ...allOptions(values), autoRefresh: false, log });
  const connecting = () => skillwire.status().filter(({ state }) => state === 'connecting');
  try {
    let snapshot = await skillwire.registry.ready();
    if (values.hub) {
      const end = Date.now() + patience;
      while (connecting().length > 0 && Date.now() < end) {
        const names = connecting().map(({ name }) => name);
        progress.log.info(`waiting for ${names.join(', ')}`);
        await delay(LOOK_MS);
      }
      snapshot = await skillwire.registry.refresh('servers');
    }
    return await look({ snapshot, servers: skillwire.status() });
  } finally {
    await skillwire.close();
    progress.end();
  }
}

/** What a person should mend. A server without a usable entry is among the problems already. */
export function faultsIn({ snapshot, servers }: View): readonly Problem[] {
  const inTrouble = servers.filter(({ state, transport }) => state !== 'ready' && transport !== 'none');
  return [
    ...snapshot.problems.filter(({ mild }) => !mild),
    ...inTrouble.map(({ name, state, reason }) => ({ where: `server ${name}`, what: reason ?? state })),
  ];
}

// --- internal ---

// Between two looks at the states of servers.
const LOOK_MS = 50;

// To the start of the line, and erase to its end.
const ERASE = '\r\u001b[K';

/** A log that shows its last line, on a terminal and after half a second. */
function createProgress(isQuiet: boolean): { readonly log: Log; end(): void } {
  const { stderr } = process;
  let last = '';
  let isShown = false;
  const show = () => {
    isShown = true;
    stderr.write(`${ERASE}${shorten(last, (stderr.columns || 80) - 1)}`);
  };
  const timer = stderr.isTTY && !isQuiet ? setTimeout(show, PROGRESS_MS) : undefined;
  const info = (text: string) => {
    last = printable(text);
    if (isShown) show();
  };
  return {
    log: { ...createLog(() => {}, 'error'), info },
    end() {
      clearTimeout(timer);
      if (isShown) stderr.write(ERASE);
    },
  };
}
