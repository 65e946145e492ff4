/**
 * What known clients require of tool names and descriptions, and which agent each is, in one table.
 * Owns: client names and their limits. Leaves alone: fitting a description into a budget (tools/description.ts), the
 * skills that an agent finds by itself (own-skills.ts).
 */
import type { ToolView } from '../model.ts';
import type { Client } from '../protocol/index.ts';
import type { Agent } from './own-skills.ts';
import { LONGEST_SAFE_NAME, type NameLimit, SHORT_NAMES } from './spelling.ts';

export interface HostOptions {
  readonly names: 'auto' | 'plain' | 'safe';
  readonly describe: ToolView['describe'];
  readonly descriptionBudget: number | undefined;
  /** Whether a client is not shown the skills that it finds by itself. */
  readonly skipOwn: boolean;
}

export interface HostProfile {
  /** Equal for equal profiles, and only for those. */
  readonly key: string;
  readonly nameLimit: NameLimit;
  readonly describe: ToolView['describe'];
  /** Of the description that lists the skills, in characters, or in bytes of UTF-8. */
  readonly budget: number;
  readonly inBytes: boolean | undefined;
  /** Whose own skills the client is not shown; undefined: all are shown. */
  readonly agent: Agent | undefined;
}

/** Of a compact description. Older releases of Claude Code silently cut at 2048; the rest is room for what it adds. */
export const DEFAULT_BUDGET = 2000;
/** Of a client of which nothing is known: some 60 skills in full. Every conversation carries the description. */
export const GENERAL_BUDGET = 20_000;

/** Gives the profile of a client. */
export function createProfiles(options: HostOptions): (client: Client | undefined) => HostProfile {
  const byHost = new Map<Host, HostProfile>();
  const byName = new Map<string, HostProfile>();
  return ({ name } = NO_CLIENT) => {
    const known = byName.get(name);
    if (known) return known;
    const host = hostOf(name);
    const profile = byHost.get(host) ?? profileFor(host, options);
    byHost.set(host, profile);
    // Clients choose their names, so only as many are kept as one machine may have.
    if (byName.size >= MOST_NAMES) byName.clear();
    byName.set(name, profile);
    return profile;
  };
}

/** The clients in the table, by name; of a family, what their names begin with. */
export function knownHosts(): readonly string[] {
  return [...TABLE.keys(), ...FAMILIES.map(([start]) => start)];
}

// --- internal ---

type Host = Partial<Omit<HostProfile, 'key' | 'describe'>>;

const NO_CLIENT: Client = { name: '', version: '' };
// Far more than the clients of one machine.
const MOST_NAMES = 100;

function profileFor(host: Host, options: HostOptions): HostProfile {
  const { nameLimit, budget = options.describe === 'auto' ? GENERAL_BUDGET : DEFAULT_BUDGET, inBytes, agent } = host;
  const limits = { auto: nameLimit, plain: undefined, safe: nameLimit ?? LONGEST_SAFE_NAME };
  const profile = {
    nameLimit: limits[options.names],
    describe: options.describe,
    budget: options.descriptionBudget ?? budget,
    inBytes,
    agent: options.skipOwn ? agent : undefined,
  };
  return { ...profile, key: JSON.stringify(profile) };
}

function hostOf(name: string): Host {
  const key = keyOf(name);
  return TABLE.get(key) ?? FAMILIES.find(([start]) => key.startsWith(start))?.[1] ?? PLAIN;
}

/** Takes dots and colons as they are. */
const PLAIN: Host = {};

const SAFE: Host = { nameLimit: LONGEST_SAFE_NAME };

const SHORT: Host = { nameLimit: SHORT_NAMES };

// Of the clients with SAFE or SHORT, the model API refuses a whole tool list because of one dot or colon, or the client
// renames such tools. The comment beside a client names its other limits.
const TABLE: ReadonlyMap<string, Host> = new Map<string, Host>([
  ['claude-code', { ...SAFE, budget: DEFAULT_BUDGET, agent: 'claude' }], // cuts at 4096; older ones at 2048
  ['claude-ai', SAFE], // Claude Desktop and claude.ai
  ['codex-mcp-client', { ...SAFE, agent: 'codex' }],
  ['cursor-vscode', { ...SHORT, agent: 'cursor' }], // drops a tool when its server's and its own name have 60 together
  ['code-oss', { ...SAFE, agent: 'copilot' }],
  ['copilot-cli', { ...SHORT, agent: 'copilot' }], // prefixes a name, and puts a hyphen for what it does not take
  ['github-copilot-developer', { ...SAFE, agent: 'copilot' }],
  ['xcode-copilot-xcode', SAFE],
  ['opencode', { ...SAFE, agent: 'opencode' }],
  ['kilo', { ...SAFE, agent: 'kilo' }],
  ['zed', SAFE],
  ['windsurf', { ...SAFE, agent: 'windsurf' }],
  ['windsurf-client', { ...SAFE, agent: 'windsurf' }],
  ['cline', { ...SAFE, agent: 'cline' }],
  ['@cline/core', { ...SHORT, agent: 'cline' }], // cuts prefixed names over 64
  ['roo-code', { ...SHORT, agent: 'roo' }], // cuts prefixed names over 64
  ['q-dev-cli', { ...SHORT, budget: 9000, inBytes: true, agent: 'kiro' }], // Kiro CLI, Amazon Q: cuts at 10,004 bytes
  ['@librechat/api-client', SAFE],
  ['amp-mcp-client', { ...SAFE, agent: 'amp' }],
  ['crush', { ...SAFE, agent: 'crush' }],
  ['kode', { ...SAFE, agent: 'kode' }],
  ['junie-client', { ...SAFE, agent: 'junie' }],
  ['antigravity-client', { ...SHORT, agent: 'antigravity' }], // refuses prefixed names over 64
  ['ai-sdk-mcp-client', SAFE], // gives names to the model API as they are
  ['@langchain/mcp-adapters', SHORT], // the same, with a prefix where its user wants one
  ['mcporter', SAFE], // takes what is before a dot for a server
  ['grok-cli', PLAIN],
  ['inspector-cli', PLAIN],
  ['mcp-test-client', PLAIN], // `gemini mcp list`, which only connects
]);

// Clients that append a channel, a product or the server's name to their own.
const FAMILIES: readonly (readonly [start: string, host: Host])[] = [
  ['visual-studio-code', { ...SHORT, agent: 'copilot' }], // with its prefix a name has at most 64
  ['gemini-cli-mcp-client', { ...SHORT, agent: 'gemini' }], // cuts the middle out of prefixed names over 63
  ['qwen-cli-mcp-client', { ...SHORT, agent: 'qwen' }],
  ['qwen-code-mcp-client', { ...SHORT, agent: 'qwen' }],
  ['jetbrains-', SAFE],
  ['goose', { ...SAFE, agent: 'goose' }],
  ['continue-', { ...SAFE, agent: 'continue' }],
  ['grok-shell-', SAFE],
  ['dev.warp.', SAFE],
];

/** Clients change case and spaces between releases, and a bridge appends its own name. */
function keyOf(name: string): string {
  // No regular expression: one that searches the end from every " (via " takes quadratic time.
  const via = name.endsWith(')') ? name.lastIndexOf(' (via ') : -1;
  const own = via === -1 ? name : name.slice(0, via);
  return own.toLowerCase().replace(/[\s_-]+/g, '-');
}
