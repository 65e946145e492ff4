/**
 * What the process of a server printed for people, to say why it failed.
 * Owns: which lines are kept, and which one of them says what is wrong. Leaves alone: secrets in it (upstream/).
 * Always true: whole lines are kept, so that secrets in them can be found, and no more than the limit; the time is linear.
 */
import { lazy } from '../../lazy.ts';
import { MAX_PRINTED, MAX_PRINTED_LINES } from './limits.ts';

/** The last lines of one stream. */
export function createPrinted() {
  const lines: string[] = [];
  let size = 0;
  return {
    add(line: string): void {
      lines.push(line);
      size += line.length;
      while (size > MAX_PRINTED || lines.length > MAX_PRINTED_LINES) size -= lines.shift()?.length ?? 0;
    },
    /** The line that says what is wrong, if there is any line. */
    tellingLine(): string | undefined {
      const all = lines.map(plain).filter((line) => line !== '');
      const said = all.filter((line) => !noise().some((pattern) => pattern.test(line)));
      for (const { pattern, which } of telling()) {
        const found = which === 'first' ? said.find((line) => pattern.test(line)) : last(said, pattern);
        if (found !== undefined) return found;
      }
      return said.at(-1) ?? all.at(-1);
    },
  };
}

// --- internal ---

/** Without colours and other escape sequences of terminals. */
const plain = (line: string) => line.replace(/\u001b\[[\d;?]*[ -/]*[@-~]/g, '').trim();

const last = (lines: readonly string[], pattern: RegExp) => lines.findLast((line) => pattern.test(line));

/** The best first. npm explains its first line in the ones that follow; other programs print the cause last. */
const telling = lazy((): readonly { readonly pattern: RegExp; readonly which: 'first' | 'last' }[] => [
  { pattern: /^(?:Uncaught )?[\w.$]*(?:Error|Exception)\b[^:]{0,80}: \S/, which: 'last' },
  { pattern: /^npm (?:error|ERR\W) /, which: 'first' },
  { pattern: /\b(?:error|fatal|panic(?:ked)?)\b/i, which: 'last' },
  {
    pattern:
      /\b(?:fail(?:ed|ure)|exception|cannot|could not|unable|not found|no such|denied|refused|missing|required|invalid)\b/i,
    which: 'last',
  },
]);

/** What runtimes and package managers print around the line that matters. */
const noise = lazy((): readonly RegExp[] => [
  // Node: its version, the place and text of the line, the stack, the fields of the error.
  /^Node\.js v\d/,
  /^(?:file:|node:|\/|[A-Za-z]:\\).*:\d+$/,
  /^throw \w+;?$/,
  /^at .*(?::\d+\)?|\(<anonymous>\)|\(native\))(?: \{)?$/,
  /^(?:code|errno|syscall|path|requireStack|address|port|url|spawnargs): /,
  /^\.\.\. \d+ lines matching/,
  /^[\s\p{P}\p{S}]*$/u,
  // npm: everything but its message.
  /^npm (?:notice|warn|WARN)\b/,
  /^npm (?:error|ERR\W)(?: \d+| (?:code|syscall|path|errno|dest|signal|command|cwd|A complete log)\b.*)?$/,
  // Python, Go, Rust, C++.
  /^Traceback \(most recent call last\):$/,
  /^File ".*", line \d+/,
  /^(?:goroutine \d+ |exit status \d|\d+: 0x)/,
  /^note: run with `RUST_BACKTRACE/,
  // What to read instead of this.
  /^(?:for more information|run '.*--help'|try '.*--help')/i,
]);
