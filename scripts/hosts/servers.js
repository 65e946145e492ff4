/**
 * Published MCP servers that are put behind the hub, all at once. A row: the package with its version, the program it
 * installs (`bin`), its arguments, an environment with dummy tokens, and one call that changes nothing and needs no
 * network where the server has one.
 */
const TOKEN = 'dummy-token-0000000000000000000000000000';

export const SERVERS = [
  {
    name: 'everything',
    packages: ['@modelcontextprotocol/server-everything@2026.8.31'],
    bin: 'mcp-server-everything',
    call: ['echo', { message: 'hello' }],
  },
  {
    name: 'filesystem',
    packages: ['@modelcontextprotocol/server-filesystem@2026.8.31'],
    bin: 'mcp-server-filesystem',
    args: ({ project }) => [project],
    call: ['list_allowed_directories', {}],
  },
  {
    name: 'memory',
    packages: ['@modelcontextprotocol/server-memory@2026.8.31'],
    bin: 'mcp-server-memory',
    env: ({ folder }) => ({ MEMORY_FILE_PATH: `${folder}/memory.jsonl` }),
    call: ['read_graph', {}],
  },
  {
    name: 'sequential-thinking',
    packages: ['@modelcontextprotocol/server-sequential-thinking@2026.8.31'],
    bin: 'mcp-server-sequential-thinking',
    call: ['sequentialthinking', { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
  },
  { name: 'playwright', packages: ['@playwright/mcp@0.0.83'], bin: 'playwright-mcp', args: () => ['--headless'] },
  { name: 'chrome-devtools', packages: ['chrome-devtools-mcp@1.11.0'], bin: 'chrome-devtools-mcp' },
  { name: 'context7', packages: ['@upstash/context7-mcp@4.1.1'], bin: 'context7-mcp' },
  {
    name: 'github',
    packages: ['@modelcontextprotocol/server-github@2025.4.8'],
    bin: 'mcp-server-github',
    env: () => ({ GITHUB_PERSONAL_ACCESS_TOKEN: TOKEN }),
  },
  {
    name: 'notion',
    packages: ['@notionhq/notion-mcp-server@2.5.2'],
    bin: 'notion-mcp-server',
    env: () => ({ NOTION_TOKEN: TOKEN }),
  },
  {
    name: 'sentry',
    packages: ['@sentry/mcp-server@0.39.0'],
    bin: 'sentry-mcp',
    args: () => [`--access-token=${TOKEN}`],
  },
  {
    name: 'kubernetes',
    packages: ['mcp-server-kubernetes@4.1.7'],
    bin: 'mcp-server-kubernetes',
    call: ['ping', {}],
  },
  {
    name: 'firecrawl',
    packages: ['firecrawl-mcp@3.26.0'],
    bin: 'firecrawl-mcp',
    env: () => ({ FIRECRAWL_API_KEY: TOKEN }),
  },
  { name: 'tavily', packages: ['tavily-mcp@0.2.22'], bin: 'tavily-mcp', env: () => ({ TAVILY_API_KEY: TOKEN }) },
  { name: 'exa', packages: ['exa-mcp-server@3.4.1'], bin: 'exa-mcp-server', env: () => ({ EXA_API_KEY: TOKEN }) },
  {
    name: 'brightdata',
    packages: ['@brightdata/mcp@2.11.3'],
    bin: 'mcp',
    env: () => ({ API_TOKEN: TOKEN }),
  },
  {
    name: 'figma',
    packages: ['figma-developer-mcp@0.13.2'],
    bin: 'figma-developer-mcp',
    args: () => ['--stdio'],
    env: () => ({ FIGMA_API_KEY: TOKEN }),
  },
  {
    name: 'eslint',
    packages: ['@eslint/mcp@0.3.13'],
    bin: 'mcp',
    call: ['lint-files', { filePaths: ['/nowhere.js'] }],
  },
  { name: 'taskmaster', packages: ['task-master-ai@0.43.1'], bin: 'task-master-ai' },
  {
    name: 'shopify',
    packages: ['@shopify/dev-mcp@1.16.0'],
    bin: 'shopify-dev-mcp',
    env: () => ({ OPT_OUT_INSTRUMENTATION: 'true' }),
  },
  { name: 'angular', packages: ['@angular/cli@22.2.6'], bin: 'ng', args: () => ['mcp'], call: ['list_projects', {}] },
  { name: 'azure', packages: ['@azure/mcp@2.0.5'], bin: 'azmcp', args: () => ['server', 'start'] },
  { name: 'next', packages: ['next-devtools-mcp@0.4.0'], bin: 'next-devtools-mcp' },
  {
    name: 'mobile',
    packages: ['@mobilenext/mobile-mcp@1.0.4'],
    bin: 'mcp-server-mobile',
    call: ['mobile_list_available_devices', {}],
  },
  {
    name: 'supabase',
    packages: ['@supabase/mcp-server-supabase@0.13.0'],
    bin: 'mcp-server-supabase',
    env: () => ({ SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}` }),
  },
  { name: 'mongodb', packages: ['mongodb-mcp-server@3.0.4'], bin: 'mongodb-mcp-server' },
  { name: 'mastra-docs', packages: ['@mastra/mcp-docs-server@1.2.27'], bin: 'mcp-docs-server' },
  { name: 'svelte', packages: ['@sveltejs/mcp@0.1.26'], bin: 'svelte-mcp' },
];
