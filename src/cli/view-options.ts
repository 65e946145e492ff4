/** The options of the commands for people, as tables. Leaves alone: those of `serve` (all-options.ts), which most of them take too. */
import { DEFAULT_LIMIT, MOST_RESULTS } from '../tools/limits.ts';
import { ALL_OPTIONS, DEFAULT_URL, HUB_OPTIONS } from './all-options.ts';
import { FIND_OPTIONS, flag, GENERAL_OPTIONS, type OptionTable, value } from './options.ts';
import type { Values } from './parse.ts';

const JSON_OPTION = { json: flag('Output for programs, in a documented form that has a version.') };

export const VIEW_OPTIONS = { ...JSON_OPTION, ...ALL_OPTIONS } as const;

export const LIST_OPTIONS = {
  long: flag('With paths, sizes and roughly the tokens that loading takes.'),
  all: flag('With the copies that another skill of the same name hides.'),
  ...VIEW_OPTIONS,
} as const;
export const SHOW_OPTIONS = {
  files: flag('The files of the skill, with sizes and digests.'),
  ...VIEW_OPTIONS,
} as const;
export const SEARCH_OPTIONS = {
  limit: value('N', 'How many skills are shown.', { least: 1, most: MOST_RESULTS, default: String(DEFAULT_LIMIT) }),
  ...VIEW_OPTIONS,
} as const;
export const TRY_OPTIONS = {
  as: value('CLIENT', 'The name of a client, as for setup or as it introduces itself.', { default: 'claude-code' }),
  ...VIEW_OPTIONS,
} as const;
export const CHECK_OPTIONS = {
  strict: flag('Exit 1 for warnings too.'),
  fix: flag(
    'Mend what needs no judgement: quotes, spaces after dashes, a byte order mark, separators of allowed-tools.',
  ),
  'fix-names': flag('Give skills the names of their directories.'),
  format: value('text|github|json', 'Lines for people and editors, annotations of GitHub, or JSON.', {
    default: 'text',
  }),
  ...JSON_OPTION,
  'follow-symlinks': FIND_OPTIONS['follow-symlinks'],
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;
export const SETUP_OPTIONS = {
  write: flag("Put the entry into the client's file, after a backup."),
  remove: flag("Take the entry out of the client's file, after a backup."),
  project: flag("The client's file in this project, not the user's."),
  http: flag(`Connect to a running server at ${DEFAULT_URL}; with SKILLWIRE_TOKEN set, by that variable.`),
  url: value('ADDRESS', 'The same at another address.'),
  hub: HUB_OPTIONS.hub,
  ...JSON_OPTION,
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export type ViewValues = Values<typeof VIEW_OPTIONS>;
export type CheckValues = Values<typeof CHECK_OPTIONS>;
export type SetupValues = Values<typeof SETUP_OPTIONS>;
