/**
 * The clients that `skillwire setup` knows, one row each: how an entry is spelled in their configuration files.
 * Leaves alone: where the files are (hub/config/hosts.ts), the files themselves (client-file.ts), the command in an entry
 * (server-entry.ts).
 */

export interface SetupClient {
  /** As in hub/config/hosts.ts. */
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  /** `jsonc`: with comments and trailing commas. */
  readonly format: 'json' | 'jsonc' | 'toml';
  /** The key below which servers are. */
  readonly servers: string;
  /** Starts a program. */
  readonly stdio: (command: string, args: readonly string[]) => ClientEntry;
  /** Connects to a server. Undefined when it cannot by its file alone. `hasToken`: the server wants SKILLWIRE_TOKEN. */
  readonly http?: (url: string, hasToken: boolean) => ClientEntry;
  /** An application that is not started by a shell, and does not have its PATH. */
  readonly isDesktop?: true;
  /** Its file takes no variables, so the token has to be put there by hand. */
  readonly takesNoVariables?: true;
}

export type ClientEntry = Readonly<Record<string, unknown>>;

/** The name of our entry. */
export const ENTRY_NAME = 'skillwire';

/** Every key that an entry here can have. Other keys in an existing entry are the user's, and stay. */
export const ENTRY_KEYS: readonly string[] = [
  'type',
  'command',
  'args',
  'url',
  'httpUrl',
  'serverUrl',
  'headers',
  'bearer_token_env_var',
  'tools',
  'enabled',
];

export const CLIENTS: readonly SetupClient[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    servers: 'mcpServers',
    stdio,
    http: (url, hasToken) => ({ type: 'http', url, ...bearer(hasToken, '${SKILLWIRE_TOKEN}') }),
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    isDesktop: true,
    format: 'json',
    servers: 'mcpServers',
    stdio,
  },
  {
    name: 'codex',
    title: 'Codex',
    format: 'toml',
    servers: 'mcp_servers',
    stdio,
    http: (url, hasToken) => ({ url, ...(hasToken ? { bearer_token_env_var: 'SKILLWIRE_TOKEN' } : {}) }),
  },
  {
    name: 'cursor',
    title: 'Cursor',
    isDesktop: true,
    format: 'jsonc',
    servers: 'mcpServers',
    stdio,
    http: (url, hasToken) => ({ url, ...bearer(hasToken, '${env:SKILLWIRE_TOKEN}') }),
  },
  {
    name: 'vscode',
    title: 'VS Code',
    isDesktop: true,
    format: 'jsonc',
    servers: 'servers',
    stdio: (command, args) => ({ type: 'stdio', command, args }),
    http: (url, hasToken) => ({ type: 'http', url, ...bearer(hasToken, '${env:SKILLWIRE_TOKEN}') }),
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    format: 'jsonc',
    servers: 'mcpServers',
    stdio,
    http: (httpUrl, hasToken) => ({ httpUrl, ...bearer(hasToken, '${SKILLWIRE_TOKEN}') }),
  },
  {
    name: 'zed',
    title: 'Zed',
    isDesktop: true,
    format: 'jsonc',
    servers: 'context_servers',
    stdio,
    http: (url) => ({ url }),
    takesNoVariables: true,
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    format: 'jsonc',
    servers: 'mcp',
    stdio: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
    http: (url, hasToken) => ({
      ...{ type: 'remote', url, enabled: true },
      ...bearer(hasToken, '{env:SKILLWIRE_TOKEN}'),
    }),
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    isDesktop: true,
    format: 'jsonc',
    servers: 'mcpServers',
    stdio,
    http: (serverUrl, hasToken) => ({ serverUrl, ...bearer(hasToken, '${env:SKILLWIRE_TOKEN}') }),
  },
  {
    name: 'copilot',
    title: 'Copilot CLI',
    format: 'jsonc',
    servers: 'mcpServers',
    stdio: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
    http: (url, hasToken) => ({ type: 'http', url, ...bearer(hasToken, '${SKILLWIRE_TOKEN}'), tools: ['*'] }),
  },
];

// --- internal ---

function stdio(command: string, args: readonly string[]): ClientEntry {
  return { command, args };
}

/** `variable`: how the client spells the value of SKILLWIRE_TOKEN. The token itself is never written down. */
function bearer(hasToken: boolean, variable: string): ClientEntry {
  return hasToken ? { headers: { Authorization: `Bearer ${variable}` } } : {};
}
