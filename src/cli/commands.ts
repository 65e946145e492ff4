/**
 * The commands of the whole program, one row each.
 * Owns: the names, arguments and help of those besides `serve`. Leaves alone: what they do; the file of a command is loaded
 * when the command is given.
 */
import { type Command, command } from './command.ts';
import { GENERAL_OPTIONS } from './options.ts';
import { SERVE } from './serve.ts';
import {
  CHECK_OPTIONS,
  LIST_OPTIONS,
  SEARCH_OPTIONS,
  SETUP_OPTIONS,
  SHOW_OPTIONS,
  TRY_OPTIONS,
  VIEW_OPTIONS,
} from './view-options.ts';

export const COMMANDS: readonly Command[] = [
  SERVE,
  command({
    name: 'list',
    help: 'List the skills that an agent is told of, with the options of the server that it talks to.',
    options: LIST_OPTIONS,
    examples: ['skillwire list', 'skillwire list --long --include claude', 'skillwire list --all --json'],
    run: async (values) => (await import('./list.ts')).list(values),
  }),
  command({
    name: 'show',
    words: 'NAME',
    help: 'Print a skill exactly as an agent gets it, or its files.',
    options: SHOW_OPTIONS,
    examples: ['skillwire show pdf', 'skillwire show claude:pdf --files'],
    run: async (values, words) => (await import('./show.ts')).show(values, words),
  }),
  command({
    name: 'search',
    words: 'QUERY...',
    help: 'Find the skills that contain all these words, in their names, descriptions or texts.',
    options: SEARCH_OPTIONS,
    examples: ['skillwire search fill form', 'skillwire search pdf --limit 3 --json'],
    run: async (values, words) => (await import('./search.ts')).search(values, words),
  }),
  command({
    name: 'check',
    words: '[PATH...]',
    help: 'Check SKILL.md files, and those below directories (default: this one), by the rules of Agent Skills; exit 1 when one breaks a rule.',
    options: CHECK_OPTIONS,
    examples: ['skillwire check', 'skillwire check --fix skills', 'skillwire check --strict --format github'],
    run: async (values, words) => (await import('./check.ts')).check(values, words),
  }),
  command({
    name: 'doctor',
    help: 'Show what was looked at and found, what is wrong and what to do, and, with --hub, the states of upstream servers.',
    options: VIEW_OPTIONS,
    examples: ['skillwire doctor', 'skillwire doctor --hub --json'],
    run: async (values) => (await import('./doctor.ts')).doctor(values),
  }),
  command({
    name: 'try',
    words: '[NAME]',
    help: 'Show what the model of a host gets from this server, and load a skill as that host would.',
    options: TRY_OPTIONS,
    examples: ['skillwire try', 'skillwire try pdf --as cursor'],
    run: async (values, words) => (await import('./try.ts')).tryHost(values, words),
  }),
  command({
    name: 'setup',
    words: '[CLIENT] [-- OPTION...]',
    help: "Show this server's entry for a client's configuration, or put it there with --write. Without CLIENT: the clients and their files.",
    options: SETUP_OPTIONS,
    examples: [
      'skillwire setup',
      'skillwire setup codex',
      'skillwire setup cursor --project --write',
      'skillwire setup claude-code --write -- --skill-dir ~/my-skills',
    ],
    run: async (values, words) => (await import('./setup.ts')).setup(values, words),
  }),
  command({
    name: 'trust',
    words: '[FILE...]',
    help: "Allow this project's .kode.json, or other files of it, as they are now, to start their servers.",
    options: GENERAL_OPTIONS,
    examples: ['skillwire trust', 'skillwire trust .vscode/mcp.json'],
    run: async (_values, words) => (await import('./trust.ts')).trustProject(words),
  }),
];
