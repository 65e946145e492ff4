/**
 * What known clients require of tool names and descriptions, in one table.
 * Owns: client names and their limits. Leaves alone: fitting a description into a budget (tools/description.ts), spelling
 * (spelling.ts).
 */
import type { Settings } from '../config.ts';
import { GENERAL_BUDGET, SAFE_NAME, SHORT_NAME, SMALL_BUDGET } from '../limits.ts';
import type { Client } from '../protocol/index.ts';
import type { NameLimit } from './spelling.ts';

/** There is one for each row of the table, so that it can be the key of what is made for it. */
export interface Profile {
  readonly nameLimit: NameLimit;
  /** Characters of the description that lists the skills. */
  readonly budget: number;
}

export type ProfileOf = (client: Client | undefined) => Profile;

/** Gives the profile of a client. The options overrule the table. */
export function createProfiles(options: Pick<Settings, 'names' | 'describe' | 'descriptionBudget'>): ProfileOf {
  const standard = options.describe === 'auto' ? GENERAL_BUDGET : SMALL_BUDGET;
  const profileFor = ({ nameLimit, budget = standard }: Host): Profile => ({
    nameLimit: { auto: nameLimit, plain: undefined, safe: nameLimit ?? SAFE_NAME }[options.names],
    budget: options.descriptionBudget ?? budget,
  });
  const unknown = profileFor({});
  // By their words without separators: clients change these, and case, between releases. Of two rows the longer one counts.
  const profiles = new Map(HOSTS.map(([words, host]) => [words.replaceAll(' ', ''), profileFor(host)]));
  return (client) => {
    const words = client?.name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const starts = words.map((_, at) => words.slice(0, at + 1).join(''));
    return profiles.get(starts.findLast((start) => profiles.has(start)) ?? '') ?? unknown;
  };
}

// --- internal ---

type Host = Partial<Profile>;

// The model API refuses a whole tool list because of one dot or colon, or the client renames such tools. The comment
// beside a client names its other limits.
const SAFE: Host = { nameLimit: SAFE_NAME };
const SHORT: Host = { nameLimit: SHORT_NAME };

/** By the words that the client's name begins with: many append a channel, a product or the name of a bridge. */
const HOSTS: readonly (readonly [start: string, host: Host])[] = [
  ['claude code', { ...SAFE, budget: SMALL_BUDGET }], // cuts at 4096; older ones at 2048
  ['claude', SAFE], // Claude Desktop and claude.ai
  ['codex', SAFE],
  ['cursor', SHORT], // drops a tool when its server's and its own name have 60 together
  ['visual studio code', SHORT], // with its prefix a name has at most 64
  ['vscode', SHORT],
  ['code oss', SAFE],
  ['copilot', SHORT], // prefixes a name, and puts a hyphen for what it does not take
  ['github copilot developer', SAFE],
  ['jetbrains', SAFE],
  ['xcode copilot xcode', SAFE],
  ['gemini', SHORT], // cuts the middle out of prefixed names over 63
  ['qwen', SHORT],
  ['opencode', SAFE],
  ['kilo', SAFE],
  ['zed', SAFE],
  ['windsurf', SAFE],
  ['cline', SHORT], // cuts prefixed names over 64
  ['roo code', SHORT], // cuts prefixed names over 64
  ['q dev cli', { ...SHORT, budget: SMALL_BUDGET }], // Kiro CLI, Amazon Q: cuts at 10,004 bytes
  ['goose', SAFE],
  ['continue', SAFE],
  ['librechat api client', SAFE],
  ['amp mcp client', SAFE],
  ['crush', SAFE],
  ['kode', SAFE],
  ['junie client', SAFE],
  ['antigravity client', SHORT], // refuses prefixed names over 64
  ['grok shell', SAFE],
  ['dev warp', SAFE],
  ['ai sdk mcp client', SAFE], // gives names to the model API as they are
  ['langchain mcp adapters', SHORT], // the same, with a prefix where its user wants one
  ['mcporter', SAFE], // takes what is before a dot for a server
];
