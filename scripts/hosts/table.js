/**
 * The hosts, and the servers that are put behind the hub.
 *
 * Hosts are agents, which need a model; clients for the command line; libraries, driven with the model by a few lines
 * in drivers/; bridges, which stand between a client and a server. A row: `packages` (the first is the host), its
 * configuration and the `file` below its fresh home that holds it, its environment, and the lines of shell to run in
 * `~/project`. These know the prompt, the model's URL, the command line of skillwire, and where the packages are: $SW_PROMPT
 * and so on. `search`: for hosts that keep MCP tools from the model until it asks (model.js).
 *
 * A row of a server: package and version, the program it installs, and what else it needs: arguments, dummy tokens, and
 * one call that changes nothing and needs no network where there is one.
 */
import { fileURLToPath } from 'node:url';
import { SKILL } from '../programs.js';

const SERVER = 'sw';
const here = fileURLToPath(new URL('drivers/', import.meta.url));
// As the hosts spell our tools that hide them.
const hidden = (name) => `mcp__${SERVER}__${name.replace('.', '_')}`;
const SELECT = `select:${hidden('skill')},${hidden('skills.list')}`;
const entry = ({ server }) => ({ mcpServers: { [SERVER]: server } });
const agent = (name, packaged, row) => ({ name, packages: [packaged], config: entry, ...row });

const CLAUDE = {
  file: 'project/mcp.json',
  env: 'ANTHROPIC_BASE_URL=$SW_MODEL ANTHROPIC_API_KEY=dummy CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1',
  commands: [`claude -p "$SW_PROMPT" --mcp-config mcp.json --strict-mcp-config --allowedTools mcp__${SERVER}`],
};
const qwenConfig = (more) => (context) => ({
  mcpServers: { [SERVER]: { ...context.server, ...more } },
  security: { auth: { selectedType: 'openai' } },
});
const QWEN = {
  file: '.qwen/settings.json',
  config: qwenConfig({}),
  env: 'OPENAI_API_KEY=dummy OPENAI_BASE_URL=$SW_MODEL/v1 OPENAI_MODEL=fake',
  commands: ['qwen --yolo -p "$SW_PROMPT"'],
};

const AGENTS = [
  agent('claude-code', '@anthropic-ai/claude-code@2.1.325', {
    ...CLAUDE,
    search: { find: { call: 'ToolSearch', args: { query: SELECT, max_results: 5 } } },
  }),
  agent('claude-code-all-tools', '@anthropic-ai/claude-code@2.1.325', {
    ...CLAUDE,
    env: `${CLAUDE.env} ENABLE_TOOL_SEARCH=false`,
  }),
  agent('codex', '@openai/codex@0.166.0', {
    file: '.codex/config.toml',
    config: ({ server, model, project }) => `model = "gpt-5-codex"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "${model}/v1"
env_key = "DUMMY_KEY"
wire_api = "responses"
[projects.${JSON.stringify(project)}]
trust_level = "trusted"
[mcp_servers.${SERVER}]
command = ${JSON.stringify(server.command)}
args = ${JSON.stringify(server.args)}
`,
    env: 'DUMMY_KEY=dummy',
    commands: ['codex exec --skip-git-repo-check --json "$SW_PROMPT"'],
  }),
  agent('gemini-cli', '@google/gemini-cli@0.61.0', {
    file: '.gemini/settings.json',
    config: (context) => ({ ...entry(context), security: { auth: { selectedType: 'gemini-api-key' } } }),
    env: 'GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL=$SW_MODEL GEMINI_CLI_TRUST_WORKSPACE=true',
    commands: ['gemini --model gemini-2.5-flash --yolo -p "$SW_PROMPT"'],
  }),
  agent('opencode', 'opencode-ai@1.18.33', {
    file: 'project/opencode.json',
    config: ({ server, model }) => {
      const command = [server.command, ...server.args];
      const options = { baseURL: `${model}/v1`, apiKey: 'dummy' };
      const models = { fake: { name: 'fake', tool_call: true } };
      return {
        mcp: { [SERVER]: { type: 'local', command, enabled: true } },
        provider: { fake: { npm: '@ai-sdk/openai-compatible', options, models } },
      };
    },
    env: 'OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1',
    commands: ['opencode run --auto --model fake/fake "$SW_PROMPT"'],
  }),
  agent('copilot-cli', '@github/copilot@1.0.102', {
    file: '.copilot/mcp-config.json',
    config: ({ server }) => ({ mcpServers: { [SERVER]: { type: 'local', ...server, tools: ['*'] } } }),
    env: 'COPILOT_PROVIDER_BASE_URL=$SW_MODEL/v1 COPILOT_PROVIDER_API_KEY=dummy COPILOT_MODEL=fake COPILOT_OFFLINE=true',
    commands: ['copilot --allow-all --disable-builtin-mcps -p "$SW_PROMPT"'],
  }),
  agent('qwen-code', '@qwen-code/qwen-code@0.24.4', {
    ...QWEN,
    search: {
      find: { call: 'tool_search', args: { query: SELECT } },
      use: (name, args) => ({ call: 'tool_call', args: { name: hidden(name), arguments: args } }),
    },
  }),
  agent('qwen-code-all-tools', '@qwen-code/qwen-code@0.24.4', {
    ...QWEN,
    config: qwenConfig({ alwaysLoadTools: true }),
  }),
  agent('cline', 'cline@3.0.65', {
    file: '.cline/data/settings/cline_mcp_settings.json',
    commands: [
      'cline auth -p openai-compatible -k dummy -m fake -b $SW_MODEL/v1',
      'cline --json --auto-approve true "$SW_PROMPT"',
    ],
  }),
  agent('continue', '@continuedev/cli@1.5.47', {
    file: '.continue/config.yaml',
    config: ({ server, model }) => ({
      ...{ name: 'test', version: '1.0.0', schema: 'v1' },
      models: [{ name: 'fake', provider: 'openai', model: 'gpt-4o', apiKey: 'dummy', apiBase: `${model}/v1` }],
      mcpServers: [{ name: SERVER, ...server }],
    }),
    env: 'CONTINUE_TELEMETRY_ENABLED=0',
    commands: ['cn --config ../.continue/config.yaml --auto -p "$SW_PROMPT"'],
  }),
  agent('grok-cli', '@vibe-kit/grok-cli@0.0.34', {
    connectsOnly: 'without a terminal it asks its model before servers are connected',
    file: 'project/.grok/settings.json',
    config: ({ server }) => ({
      mcpServers: { [SERVER]: { name: SERVER, transport: { type: 'stdio', ...server } } },
    }),
    env: 'GROK_API_KEY=dummy GROK_BASE_URL=$SW_MODEL/v1 GROK_MODEL=grok-code-fast-1',
    // It does not end while a server runs either.
    commands: ['timeout 6 grok -p "$SW_PROMPT"'],
  }),
];

const client = (name, packaged, program, words, file = 'project/mcp.json') =>
  agent(name, packaged, { file, commands: words.map((one) => `${program} ${one}`) });
const INSPECTOR = `mcp-inspector --cli --config mcp.json --server ${SERVER} --method`;
const TOOLS = [`skill --tool-arg name=${SKILL}`, `skills.list --tool-arg query=${SKILL}`];
const CALLS = TOOLS.map((words) => `tools/call --tool-name ${words}`);
const CHECKED = ['tools/list --strict', 'skills/list --verify', ...CALLS];
const MCPORTER = [
  `list ${SERVER} --schema`,
  `call ${SERVER}.skill name=${SKILL}`,
  `call ${SERVER}.skills_list query=a`,
];
const WONG = [`${SERVER}:skill --args '{"name":"${SKILL}"}'`, `${SERVER}:skills.list --args '{"query":"${SKILL}"}'`];

/** The driver is copied beside the packages, so that its imports find them. */
const library = (name, ...packages) => ({
  name,
  packages,
  commands: [
    `cp ${here}${name}.js $SW_PACKAGES/driver.mjs`,
    'node $SW_PACKAGES/driver.mjs $SW_MODEL "$SW_PROMPT" $SW_SERVER',
  ],
});
// Its peers by hand: npm takes minutes to find that the newest of them do not go together.
const LANGCHAIN = ['mcp-adapters@1.1.4', 'core@1.2.13', 'openai@1.6.0', 'langgraph@1.4.10'];

/** `background`: what the bridge is started by. `reached`: by what the SDK's client reaches it. {port} is a free one. */
const bridge = (name, packaged, background, reached = 'http://127.0.0.1:{port}/mcp') => ({
  name,
  packages: [packaged],
  commands: [`${process.execPath} ${here}bridge.js ${SKILL} ${reached} -- ${background}`],
});
const REMOTE = 'mcp-remote http://127.0.0.1:{port}/mcp --allow-http';
const GATEWAY = 'supergateway --stdio "$SW_SERVER" --port {port} --outputTransport streamableHttp --stateful';

export const HOSTS = [
  ...AGENTS,
  client('mcporter', 'mcporter@0.12.3', 'mcporter', MCPORTER, 'project/config/mcporter.json'),
  client('inspector', '@modelcontextprotocol/inspector@2.12.0', INSPECTOR, CHECKED),
  client('inspector-0.15', '@modelcontextprotocol/inspector@0.15.0', INSPECTOR, ['tools/list', ...CALLS]),
  client('mcp-cli', '@wong2/mcp-cli@2.0.0', 'mcp-cli -c mcp.json call-tool', WONG),
  library('ai-sdk', '@ai-sdk/mcp@2.0.96', 'ai@7.0.169', '@ai-sdk/openai-compatible@3.0.90'),
  library('langchain', ...LANGCHAIN.map((one) => `@langchain/${one}`), '--legacy-peer-deps'),
  library('openai-agents', '@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7'),
  bridge('mcp-remote', 'mcp-remote@0.15.1', '$SW_SERVER --transport http --port {port}', REMOTE),
  bridge('supergateway', 'supergateway@4.0.0', GATEWAY),
  bridge('mcp-proxy', 'mcp-proxy@6.7.19', 'mcp-proxy --host 127.0.0.1 --port {port} -- $SW_SERVER'),
];

const TOKEN = 'dummy-token-0000000000000000000000000000';
const server = (name, packaged, bin, more = {}) => ({ name, packages: [packaged], bin, ...more });
const official = (name, version, more) =>
  server(name, `@modelcontextprotocol/server-${name}@${version}`, `mcp-server-${name}`, more);
const THOUGHT = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

export const SERVERS = [
  official('everything', '2026.8.31', { call: ['echo', { message: 'hello' }] }),
  official('filesystem', '2026.8.31', { args: ['.'], call: ['list_allowed_directories', {}] }),
  official('memory', '2026.8.31', { call: ['read_graph', {}] }),
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
  server('mobile', '@mobilenext/mobile-mcp@1.0.4', 'mcp-server-mobile'),
  server('supabase', '@supabase/mcp-server-supabase@0.13.0', 'mcp-server-supabase', {
    env: { SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}` },
  }),
  server('mongodb', 'mongodb-mcp-server@3.0.4', 'mongodb-mcp-server'),
  server('mastra-docs', '@mastra/mcp-docs-server@1.2.27', 'mcp-docs-server'),
  server('svelte', '@sveltejs/mcp@0.1.26', 'svelte-mcp'),
];
