/**
 * Published MCP servers that are put behind the hub, all at once. A row: package and version, the program it installs, and
 * what else it needs: arguments, dummy tokens, and one call that changes nothing and needs no network where there is one.
 * `{folder}` is a directory of the run.
 */
const TOKEN = 'dummy-token-0000000000000000000000000000';
const server = (name, packaged, bin, more = {}) => ({ name, packages: [packaged], bin, args: [], env: {}, ...more });
const official = (name, version, more) =>
  server(name, `@modelcontextprotocol/server-${name}@${version}`, `mcp-server-${name}`, more);
const THOUGHT = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

export const SERVERS = [
  official('everything', '2026.8.31', { call: ['echo', { message: 'hello' }] }),
  official('filesystem', '2026.8.31', { args: ['{folder}'], call: ['list_allowed_directories', {}] }),
  official('memory', '2026.8.31', { env: { MEMORY_FILE_PATH: '{folder}/memory.jsonl' }, call: ['read_graph', {}] }),
  official('sequential-thinking', '2026.8.31', { call: ['sequentialthinking', THOUGHT] }),
  official('github', '2025.4.8', { env: { GITHUB_PERSONAL_ACCESS_TOKEN: TOKEN } }),
  server('playwright', '@playwright/mcp@0.0.83', 'playwright-mcp', { args: ['--headless'] }),
  server('chrome-devtools', 'chrome-devtools-mcp@1.11.0', 'chrome-devtools-mcp'),
  server('context7', '@upstash/context7-mcp@4.1.1', 'context7-mcp'),
  server('notion', '@notionhq/notion-mcp-server@2.5.2', 'notion-mcp-server', { env: { NOTION_TOKEN: TOKEN } }),
  server('sentry', '@sentry/mcp-server@0.39.0', 'sentry-mcp', { args: [`--access-token=${TOKEN}`] }),
  server('kubernetes', 'mcp-server-kubernetes@4.1.7', 'mcp-server-kubernetes', { call: ['ping', {}] }),
  server('firecrawl', 'firecrawl-mcp@3.26.0', 'firecrawl-mcp', { env: { FIRECRAWL_API_KEY: TOKEN } }),
  server('tavily', 'tavily-mcp@0.2.22', 'tavily-mcp', { env: { TAVILY_API_KEY: TOKEN } }),
  server('exa', 'exa-mcp-server@3.4.1', 'exa-mcp-server', { env: { EXA_API_KEY: TOKEN } }),
  server('brightdata', '@brightdata/mcp@2.11.3', 'mcp', { env: { API_TOKEN: TOKEN } }),
  server('figma', 'figma-developer-mcp@0.13.2', 'figma-developer-mcp', {
    args: ['--stdio'],
    env: { FIGMA_API_KEY: TOKEN },
  }),
  server('eslint', '@eslint/mcp@0.3.13', 'mcp', { call: ['lint-files', { filePaths: ['/nowhere.js'] }] }),
  server('taskmaster', 'task-master-ai@0.43.1', 'task-master-ai'),
  server('shopify', '@shopify/dev-mcp@1.16.0', 'shopify-dev-mcp', { env: { OPT_OUT_INSTRUMENTATION: 'true' } }),
  server('angular', '@angular/cli@22.2.6', 'ng', { args: ['mcp'], call: ['list_projects', {}] }),
  server('azure', '@azure/mcp@2.0.5', 'azmcp', { args: ['server', 'start'] }),
  server('next', 'next-devtools-mcp@0.4.0', 'next-devtools-mcp'),
  server('mobile', '@mobilenext/mobile-mcp@1.0.4', 'mcp-server-mobile', {
    call: ['mobile_list_available_devices', {}],
  }),
  server('supabase', '@supabase/mcp-server-supabase@0.13.0', 'mcp-server-supabase', {
    env: { SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}` },
  }),
  server('mongodb', 'mongodb-mcp-server@3.0.4', 'mongodb-mcp-server'),
  server('mastra-docs', '@mastra/mcp-docs-server@1.2.27', 'mcp-docs-server'),
  server('svelte', '@sveltejs/mcp@0.1.26', 'svelte-mcp'),
];
