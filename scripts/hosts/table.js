/**
 * The hosts: agents, which need a model; clients for the command line; libraries, driven with the model by a few lines
 * in drivers/; bridges, which stand between a client and a server. A row: `packages` (the first is the host), its
 * configuration and the `file` below its fresh home that holds it, its environment, and the command lines to run in
 * `~/project`. Words in braces in the latter two are filled in. `search`: for hosts that keep MCP tools from the model
 * until it asks (model.js).
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SKILL } from './model.js';

const SERVER = 'sw';
const here = fileURLToPath(new URL('drivers/', import.meta.url));
const names = { skill: `mcp__${SERVER}__skill`, list: `mcp__${SERVER}__skills_list` };
const entry = ({ server }) => ({ mcpServers: { [SERVER]: server } });
const agent = (name, packaged, row) => ({ name, packages: [packaged], config: entry, ...row });
const PRIVATE = { usageStatisticsEnabled: false };

const CLAUDE = {
  folder: 'claude-code',
  file: 'project/mcp.json',
  env: 'ANTHROPIC_BASE_URL={model} ANTHROPIC_API_KEY=dummy CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1',
  commands: [`claude -p {prompt} --mcp-config mcp.json --strict-mcp-config --allowedTools mcp__${SERVER}`],
};
const qwenConfig = (more) => (context) => ({
  mcpServers: { [SERVER]: { ...context.server, ...more } },
  security: { auth: { selectedType: 'openai' } },
  privacy: PRIVATE,
});
const QWEN = {
  folder: 'qwen-code',
  file: '.qwen/settings.json',
  config: qwenConfig({}),
  env: 'OPENAI_API_KEY=dummy OPENAI_BASE_URL={model}/v1 OPENAI_MODEL=fake',
  commands: ['qwen --yolo -p {prompt}'],
};

const AGENTS = [
  agent('claude-code', '@anthropic-ai/claude-code@2.1.325', {
    ...CLAUDE,
    search: { tool: 'ToolSearch', names, args: (name) => ({ query: `select:${name}`, max_results: 5 }) },
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
    commands: ['codex exec --skip-git-repo-check --json {prompt}'],
  }),
  agent('gemini-cli', '@google/gemini-cli@0.61.0', {
    file: '.gemini/settings.json',
    config: (context) => ({
      ...entry(context),
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: PRIVATE,
    }),
    env: 'GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL={model} GEMINI_CLI_TRUST_WORKSPACE=true',
    commands: ['gemini --model gemini-2.5-flash --yolo -p {prompt}'],
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
    commands: ['opencode run --auto --model fake/fake {prompt}'],
  }),
  agent('copilot-cli', '@github/copilot@1.0.102', {
    file: '.copilot/mcp-config.json',
    config: ({ server }) => ({ mcpServers: { [SERVER]: { type: 'local', ...server, tools: ['*'] } } }),
    env: 'COPILOT_PROVIDER_BASE_URL={model}/v1 COPILOT_PROVIDER_API_KEY=dummy COPILOT_MODEL=fake COPILOT_OFFLINE=true',
    commands: ['copilot --allow-all --disable-builtin-mcps -p {prompt}'],
  }),
  agent('qwen-code', '@qwen-code/qwen-code@0.24.4', {
    ...QWEN,
    search: {
      tool: 'tool_search',
      names,
      args: (name) => ({ query: `select:${name}` }),
      wrap: (name, args) => ({ call: 'tool_call', args: { name, arguments: args } }),
    },
  }),
  agent('qwen-code-all-tools', '@qwen-code/qwen-code@0.24.4', {
    ...QWEN,
    config: qwenConfig({ alwaysLoadTools: true }),
  }),
  agent('cline', 'cline@3.0.65', {
    file: '.cline/data/settings/cline_mcp_settings.json',
    commands: [
      'cline auth -p openai-compatible -k dummy -m fake -b {model}/v1',
      'cline --json --auto-approve true {prompt}',
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
    commands: ['cn --config ../.continue/config.yaml --auto -p {prompt}'],
  }),
  agent('grok-cli', '@vibe-kit/grok-cli@0.0.34', {
    // It does not end while a server runs either.
    connectsOnly: 'without a terminal it asks its model before servers are connected',
    limit: 6000,
    file: 'project/.grok/settings.json',
    config: ({ server }) => ({
      mcpServers: { [SERVER]: { name: SERVER, transport: { type: 'stdio', ...server } } },
    }),
    env: 'GROK_API_KEY=dummy GROK_BASE_URL={model}/v1 GROK_MODEL=grok-code-fast-1',
    commands: ['grok -p {prompt}'],
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
const WONG = [`${SERVER}:skill --args {"name":"${SKILL}"}`, `${SERVER}:skills.list --args {"query":"${SKILL}"}`];

/** `driver` is copied beside the packages, so that its imports find them. */
const library = (name, ...packages) => ({
  name,
  packages,
  driver: join(here, `${name}.js`),
  commands: ['node {packages}/driver.mjs {model} {prompt} {server}'],
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
const GATEWAY = 'supergateway --stdio {quoted} --port {port} --outputTransport streamableHttp --stateful';

export const HOSTS = [
  ...AGENTS,
  client('mcporter', 'mcporter@0.12.3', 'mcporter', MCPORTER, 'project/config/mcporter.json'),
  client('inspector', '@modelcontextprotocol/inspector@2.12.0', INSPECTOR, CHECKED),
  client('inspector-0.15', '@modelcontextprotocol/inspector@0.15.0', INSPECTOR, ['tools/list', ...CALLS]),
  client('mcp-cli', '@wong2/mcp-cli@2.0.0', 'mcp-cli -c mcp.json call-tool', WONG),
  library('ai-sdk', '@ai-sdk/mcp@2.0.96', 'ai@7.0.169', '@ai-sdk/openai-compatible@3.0.90'),
  library('langchain', ...LANGCHAIN.map((one) => `@langchain/${one}`), '--legacy-peer-deps'),
  library('openai-agents', '@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7'),
  bridge('mcp-remote', 'mcp-remote@0.15.1', '{program} --transport http --port {port}', REMOTE),
  bridge('supergateway', 'supergateway@4.0.0', GATEWAY),
  bridge('mcp-proxy', 'mcp-proxy@6.7.19', 'mcp-proxy --host 127.0.0.1 --port {port} -- {server}'),
];
