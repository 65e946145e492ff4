/**
 * What known clients require of tool names and descriptions, in one table.
 * Owns: client names and their limits. Leaves alone: fitting a description into a budget (tools/description.ts).
 */
import type { ToolView } from '../model.ts';
import type { Client } from '../protocol/index.ts';
import { LONGEST_SAFE_NAME, SHORT_NAMES } from './spelling.ts';

export interface HostOptions {
  readonly names: 'auto' | 'plain' | 'safe';
  readonly describe: 'auto' | ToolView['describe'];
  readonly descriptionBudget: number | undefined;
}

export interface HostProfile {
  readonly names: 'plain' | 'safe';
  readonly longestName: number;
  readonly describe: ToolView['describe'];
  readonly budget: number;
}

/** Claude Code silently cuts a description at 2048 characters; the rest is room for what it adds itself. */
export const DEFAULT_BUDGET = 2000;

export function profileOf(client: Client | undefined, options: HostOptions): HostProfile {
  const key = keyOf(client?.name ?? '');
  const known = TABLE.get(key) ?? FAMILIES.find(([start]) => key.startsWith(start))?.[1] ?? {};
  const { names = 'plain', describe = 'full', budget = DEFAULT_BUDGET, longestName = LONGEST_SAFE_NAME } = known;
  return {
    names: options.names === 'auto' ? names : options.names,
    longestName,
    describe: options.describe === 'auto' ? describe : options.describe,
    budget: options.descriptionBudget ?? budget,
  };
}

// --- internal ---

const SAFE: Partial<HostProfile> = { names: 'safe' };

const SHORT: Partial<HostProfile> = { names: 'safe', longestName: SHORT_NAMES };

// The model APIs behind these clients refuse a whole tool list because of one dot or colon, or the client renames such
// tools. The comment beside a client names its other limits.
const TABLE: ReadonlyMap<string, Partial<HostProfile>> = new Map<string, Partial<HostProfile>>([
  ['claude-code', { ...SAFE, describe: 'compact' }], // cuts every description at 2048 characters
  ['claude-ai', SAFE], // Claude Desktop and claude.ai
  ['codex-mcp-client', SAFE],
  ['cursor-vscode', SHORT], // drops a tool when its server's and its own name have 60 together
  ['code-oss', SAFE],
  ['github-copilot-developer', SAFE],
  ['xcode-copilot-xcode', SAFE],
  ['opencode', SAFE],
  ['kilo', SAFE],
  ['zed', SAFE],
  ['windsurf', SAFE],
  ['windsurf-client', SAFE],
  ['cline', SAFE],
  ['@cline/core', SHORT], // cuts prefixed names over 64
  ['roo-code', SHORT], // cuts prefixed names over 64
  ['q-dev-cli', { ...SHORT, describe: 'compact', budget: 9000 }], // Kiro CLI, Amazon Q: cuts at 10,004 bytes
  ['@librechat/api-client', SAFE],
  ['amp-mcp-client', SAFE],
  ['crush', SAFE],
  ['kode', SAFE],
  ['junie-client', SAFE],
  ['antigravity-client', SHORT], // refuses prefixed names over 64
]);

// Clients that append a channel, a product or the server's name to their own.
const FAMILIES: readonly (readonly [start: string, host: Partial<HostProfile>])[] = [
  ['visual-studio-code', SHORT], // with its prefix a name has at most 64
  ['gemini-cli-mcp-client', SHORT], // cuts the middle out of prefixed names over 63
  ['qwen-cli-mcp-client', SHORT],
  ['qwen-code-mcp-client', SHORT],
  ['jetbrains-', SAFE],
  ['goose', SAFE],
  ['continue-', SAFE],
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
