/**
 * The rules of `skillwire check`, one row each, and what breaking one looks like.
 * Owns: severity and meaning of every rule; the README's table is read off it. Leaves alone: who applies them.
 */
import {
  MAX_DEPTH,
  MAX_DIRECTORIES,
  MAX_HEAD,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  MAX_SKILL_TOTAL,
} from '../../skills/limits.ts';
import type { TextEdit } from '../text-edits.ts';

export type Severity = 'error' | 'warning' | 'info';

interface RuleRow {
  /** An error: the specification forbids it, or clients do not load the skill. Info is advice, also with --strict. */
  readonly severity: Severity;
  readonly about: string;
}

const MIB = 1024 * 1024;

export const LONGEST_SKILL_NAME = 64; // What the Agent Skills specification allows.
export const LONGEST_DESCRIPTION = 1024; // What the specification allows.
export const LONGEST_COMPATIBILITY = 500; // What the specification allows.
export const MOST_LINES = 500; // What the specification advises.
export const MOST_TOKENS = 5000; // What the specification advises.

export const RULES = {
  access: error(`can be read, and written when it is mended: a regular file of at most ${MAX_SKILL_BYTES / MIB} MiB`),
  encoding: error('is UTF-8'),
  'byte-order-mark': error('does not start with a byte order mark (--fix)'),
  'front-matter': error(
    `starts with a line of three dashes, at most ${MAX_HEAD / 1024} KiB of YAML and a line of three dashes (--fix removes blank lines before)`,
  ),
  yaml: error('has front matter in valid YAML (--fix puts quotes around a value with ": " in it)'),
  name: error(`has a \`name\` of 1 to ${LONGEST_SKILL_NAME} characters (--fix-names adds a missing one)`),
  'name-characters': error('has only lower-case letters, digits and single hyphens between them in its name'),
  'name-directory': error('has the name of its directory (--fix-names)'),
  description: error(`has a \`description\` of 1 to ${LONGEST_DESCRIPTION.toLocaleString('en')} characters`),
  compatibility: error(`has a \`compatibility\`, if any, of at most ${LONGEST_COMPATIBILITY} characters`),
  'no-skill': error('is in or below each directory that is named'),
  loads: error('is loaded by `skillwire serve`'),
  'name-ascii': warning('has only a-z, 0-9 and hyphens in its name: others are left out of `skills/list`'),
  'text-values': warning('has text where the specification wants text: `version: "1.0"`, not `version: 1.0` (--fix)'),
  metadata: warning('has `metadata`, if any, that is a map of texts'),
  'allowed-tools': warning('has `allowed-tools`, if any, as one text with spaces between tools (--fix)'),
  'unknown-key': warning(
    'has no keys but those of the specification and of well-known hosts; others belong below `metadata`',
  ),
  comment: warning('has no comment in its description: YAML leaves out what follows " #", unless it is in quotes'),
  invisible: warning('has no invisible characters in name and description'),
  'yaml-portable': warning('has values that all YAML parsers read alike'),
  fence: warning('has no spaces or tabs after the three dashes (--fix)'),
  'line-endings': warning('has LF line endings in its front matter'),
  'file-name': warning('is called `SKILL.md`, in capitals'),
  'dead-link': warning('has only relative links that lead to a file or directory'),
  'not-followed': warning(
    'is not a link that leaves its skill, nor behind a link that leaves the project or leads in a circle',
  ),
  'skill-size': warning(`is in a skill of at most ${MAX_SKILL_FILES} files and ${MAX_SKILL_TOTAL / MIB} MiB`),
  'not-searched': info(
    `is at most ${MAX_DEPTH} levels down, below at most ${MAX_DIRECTORIES.toLocaleString('en')} directories`,
  ),
  'body-length': info(
    `has at most ${MOST_LINES} lines and a body of about ${MOST_TOKENS.toLocaleString('en')} tokens (a token is about four bytes)`,
  ),
} as const satisfies Record<string, RuleRow>;

export type Rule = keyof typeof RULES;

export type FixOption = 'fix' | 'fix-names';

export interface Finding {
  readonly rule: Rule;
  /** Characters before it in the text. */
  readonly at: number;
  readonly message: string;
  /** What mends it, and the option that asks for it. */
  readonly fix?: { readonly by: FixOption; readonly edits: readonly TextEdit[] } | undefined;
}

// --- internal ---

function error(about: string) {
  return { severity: 'error', about } as const;
}

function warning(about: string) {
  return { severity: 'warning', about } as const;
}

function info(about: string) {
  return { severity: 'info', about } as const;
}
