/**
 * `skillwire trust`: the person at the keyboard has looked at this project's file and lets it start programs.
 * Owns: what that person is shown. Leaves alone: the record (hub/trust.ts).
 */
import { homedir } from 'node:os';
import { projectFile, readEntries } from '../hub/files.ts';
import { createRedact, secretsOf } from '../hub/redact.ts';
import { trust, trustFile } from '../hub/trust.ts';
import { isObject } from '../protocol/index.ts';
import { printable } from '../text.ts';
import { UsageError } from './options.ts';

export function trustProject(): void {
  const { env, stdout } = process;
  const file = projectFile(process.cwd());
  const found = readEntries(file);
  if (found.kind !== 'read') throw new UsageError(`${file} ${found.kind === 'broken' ? found.why : 'does not exist'}`);
  trust(trustFile(homedir(), env), file, found.text);
  const lines = [...found.servers].map(([name, entry]) => `  ${name}: ${describe(entry)}`);
  const what =
    lines.length === 0 ? 'It names no servers.' : `With --hub it starts:\n${lines.map(printable).join('\n')}`;
  stdout.write(`Trusted ${printable(file)} as it is now. ${what}\n`);
}

// --- internal ---

/** The entry as it stands in the file, before anything is expanded; what looks like a secret is left out. */
function describe(entry: unknown): string {
  const { command, args, url } = isObject(entry) ? entry : {};
  const texts = (Array.isArray(args) ? args : []).filter((arg) => typeof arg === 'string');
  const line = typeof command === 'string' ? [command, ...texts].join(' ') : typeof url === 'string' ? url : 'nothing';
  const secrets = secretsOf({ args: texts, inserted: [], ...(typeof url === 'string' ? { url } : {}) });
  return createRedact(secrets)(line);
}
