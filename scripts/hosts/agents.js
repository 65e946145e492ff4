/**
 * The hosts that bring an agent, and so need a model: how each is installed, configured and given one prompt.
 * A row: `packages` (the first is the host), `env` and `setup` for a fresh home; `setup` returns the files to write,
 * relative to the home directory, and the command lines to run in `~/project`. `search` is for hosts that keep MCP
 * tools from the model until it asks: the tool to ask, and the names it will then use.
 */
export const SERVER = 'sw';
export const PROMPT = 'Load the greeting skill, then list the skills.';

export const mcpServers = ({ server }) => ({ mcpServers: { [SERVER]: server } });

const claude = ({ name, env, search }) => ({
  name,
  folder: 'claude-code',
  packages: ['@anthropic-ai/claude-code@2.1.325'],
  search,
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...env,
  }),
  setup: (context) => ({
    files: { 'project/mcp.json': mcpServers(context) },
    commands: [
      ['claude', '-p', PROMPT, '--mcp-config', 'mcp.json', '--strict-mcp-config']
        .concat(['--allowedTools', `mcp__${SERVER}`])
        .concat(['--debug-file', `${context.folder}/host.log`]),
    ],
  }),
});

const qwen = ({ name, entry, search }) => ({
  name,
  folder: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  search,
  env: ({ model }) => ({ OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: 'fake' }),
  setup: ({ server }) => ({
    files: {
      '.qwen/settings.json': {
        mcpServers: { [SERVER]: { ...server, ...entry } },
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
      },
    },
    commands: [['qwen', '--debug', '--yolo', '-p', PROMPT]],
  }),
});

export const AGENTS = [
  claude({
    name: 'claude-code',
    search: {
      tool: 'ToolSearch',
      names: { skill: `mcp__${SERVER}__skill`, list: `mcp__${SERVER}__skills_list` },
      args: (name) => ({ query: `select:${name}`, max_results: 5 }),
    },
  }),
  claude({ name: 'claude-code-all-tools', env: { ENABLE_TOOL_SEARCH: 'false' } }),
  {
    name: 'codex',
    packages: ['@openai/codex@0.166.0'],
    env: () => ({ DUMMY_KEY: 'dummy', RUST_LOG: 'codex_core=debug,codex_rmcp_client=debug,codex_mcp=debug' }),
    setup: ({ server, model, project }) => ({
      files: {
        '.codex/config.toml': [
          'model = "gpt-5-codex"',
          'model_provider = "fake"',
          '[model_providers.fake]',
          'name = "fake"',
          `base_url = "${model}/v1"`,
          'env_key = "DUMMY_KEY"',
          'wire_api = "responses"',
          `[projects.${JSON.stringify(project)}]`,
          'trust_level = "trusted"',
          `[mcp_servers.${SERVER}]`,
          `command = ${JSON.stringify(server.command)}`,
          `args = ${JSON.stringify(server.args)}`,
          '',
        ].join('\n'),
      },
      commands: [['codex', 'exec', '--skip-git-repo-check', '--json', PROMPT]],
    }),
  },
  {
    name: 'gemini-cli',
    packages: ['@google/gemini-cli@0.61.0'],
    env: ({ model }) => ({
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    setup: (context) => ({
      files: {
        '.gemini/settings.json': {
          ...mcpServers(context),
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
        },
      },
      commands: [['gemini', '--model', 'gemini-2.5-flash', '--debug', '--yolo', '-p', PROMPT]],
    }),
  },
  {
    name: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    setup: ({ server, model }) => ({
      files: {
        'project/opencode.json': {
          mcp: { [SERVER]: { type: 'local', command: [server.command, ...server.args], enabled: true } },
          provider: {
            fake: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `${model}/v1`, apiKey: 'dummy' },
              models: { fake: { name: 'fake', tool_call: true } },
            },
          },
        },
      },
      commands: [['opencode', 'run', '--print-logs', '--auto', '--model', 'fake/fake', PROMPT]],
    }),
  },
  {
    name: 'copilot-cli',
    packages: ['@github/copilot@1.0.102'],
    env: ({ model }) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_MODEL: 'fake',
      COPILOT_OFFLINE: 'true',
    }),
    setup: ({ server, folder }) => ({
      files: {
        '.copilot/mcp-config.json': { mcpServers: { [SERVER]: { type: 'local', ...server, tools: ['*'] } } },
      },
      commands: [
        ['copilot', '--allow-all', '--disable-builtin-mcps', '--log-level', 'debug', '--log-dir', folder, '-p', PROMPT],
      ],
    }),
  },
  qwen({
    name: 'qwen-code',
    search: {
      tool: 'tool_search',
      names: { skill: `mcp__${SERVER}__skill`, list: `mcp__${SERVER}__skills_list` },
      args: (name) => ({ query: `select:${name}` }),
      wrap: (name, args) => ({ call: 'tool_call', args: { name, arguments: args } }),
    },
  }),
  qwen({ name: 'qwen-code-all-tools', entry: { alwaysLoadTools: true } }),
  {
    name: 'cline',
    packages: ['cline@3.0.65'],
    setup: (context) => ({
      files: {
        '.cline/data/settings/cline_mcp_settings.json': mcpServers(context),
      },
      commands: [
        ['cline', 'auth', '-p', 'openai-compatible', '-k', 'dummy', '-m', 'fake', '-b', `${context.model}/v1`],
        ['cline', '--json', '--verbose', '--auto-approve', 'true', PROMPT],
      ],
    }),
  },
  {
    name: 'continue',
    packages: ['@continuedev/cli@1.5.47'],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    setup: ({ server, model }) => ({
      files: {
        '.continue/config.yaml': {
          name: 'test',
          version: '1.0.0',
          schema: 'v1',
          models: [{ name: 'fake', provider: 'openai', model: 'gpt-4o', apiKey: 'dummy', apiBase: `${model}/v1` }],
          mcpServers: [{ name: SERVER, ...server }],
        },
      },
      commands: [['cn', '--config', '../.continue/config.yaml', '--auto', '--verbose', '-p', PROMPT]],
    }),
  },
  {
    name: 'grok-cli',
    packages: ['@vibe-kit/grok-cli@0.0.34'],
    // Without a terminal it asks its model before any server is connected, and does not end while one runs.
    connectsOnly: 'without a terminal it asks its model before servers are connected',
    limit: 6_000,
    env: ({ model }) => ({ GROK_API_KEY: 'dummy', GROK_BASE_URL: `${model}/v1`, GROK_MODEL: 'grok-code-fast-1' }),
    setup: ({ server }) => ({
      files: {
        'project/.grok/settings.json': {
          mcpServers: { [SERVER]: { name: SERVER, transport: { type: 'stdio', ...server } } },
        },
      },
      commands: [['grok', '-p', PROMPT]],
    }),
  },
];
