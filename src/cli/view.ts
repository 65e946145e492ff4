/**
 * The server as commands for people look at it: in this process, with the options of `serve`, without refreshing.
 * Owns: its start and end, and the line of progress while it works. Leaves alone: what is looked at, and the output.
 * Always true: the progress is erased, and every upstream server has ended, before the command writes its output.
 */
import type { SkillwireOptions } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import type { Snapshot } from '../model.ts';
import { createSkillwire, type Skillwire } from '../skillwire.ts';
import { printable } from '../text.ts';
import { type Clock, systemClock } from '../wait.ts';
import { allOptions } from './all-options.ts';
import { clip, type Screen } from './output.ts';
import { createStderrLog, workingDirectory } from './process.ts';
import type { ViewValues } from './view-options.ts';

export interface View {
  readonly skillwire: Skillwire;
  /** With what the upstream servers had within a second. */
  readonly snapshot: Snapshot;
  /** How long the scan took. */
  readonly milliseconds: number;
}

/** What `look` gives. `options`: those that the command itself decides. */
export async function withView<T>(
  values: ViewValues,
  look: (view: View) => Promise<T>,
  options: SkillwireOptions = {},
): Promise<T> {
  const progress = createProgress(process.stderr);
  const skillwire = createSkillwire({
    ...viewOptions(values),
    ...options,
    log: values['log-level'] === 'debug' ? createStderrLog(values) : progress.log,
  });
  let milliseconds = 0;
  skillwire.registry.onRefresh((refreshed) => {
    if (!refreshed.before) ({ milliseconds } = refreshed);
  });
  try {
    const snapshot = await skillwire.registry.complete();
    return await look({ skillwire, snapshot, milliseconds });
  } finally {
    await skillwire.close();
    progress.end();
  }
}

export function viewOptions(values: ViewValues): SkillwireOptions {
  return { ...allOptions(values), cwd: workingDirectory(), env: process.env, autoRefresh: false };
}

/** A log that shows its last line, on a terminal and after half a second. */
export function createProgress(screen: Screen, clock: Clock = systemClock): { readonly log: Log; end(): void } {
  let last = '';
  let isShown = false;
  const show = () => {
    isShown = true;
    screen.write(`${ERASE}${clip(last, (screen.columns || 80) - 1)}`);
  };
  const cancel = screen.isTTY ? clock.timer(PROGRESS_AFTER_MS, show) : () => {};
  const info = (text: string) => {
    last = printable(text);
    if (isShown) show();
  };
  return {
    log: { ...SILENT, info },
    end() {
      cancel();
      if (isShown) screen.write(ERASE);
      isShown = false;
    },
  };
}

// --- internal ---

/** A faster command needs no progress. */
const PROGRESS_AFTER_MS = 500;

const SILENT = createLog(() => {}, 'error');

// To the start of the line, and erase to its end.
const ERASE = '\r\u001b[K';
