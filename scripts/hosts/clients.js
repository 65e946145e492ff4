/**
 * The hosts that bring no agent: command-line clients, which show a person what they got, libraries, which are driven
 * with the fake model by a few lines in drivers/, and bridges, which stand between a client and a server.
 * The rows are as in agents.js; `driver` is copied beside the packages, so that its imports find them.
 */
import { join } from 'node:path';
import { mcpServers, PROMPT, SERVER } from './agents.js';
import { SKILL } from './model/script.js';

const here = new URL('.', import.meta.url).pathname;
const CALL = { name: SKILL };
const LIST = { query: SKILL };

const library = (name, packages) => ({
  name,
  packages,
  driver: `${name}.js`,
  setup: ({ packages: folder, model, server }) => ({
    commands: [['node', join(folder, 'driver.mjs'), model, PROMPT, server.command, ...server.args]],
  }),
});

const bridge = (name, packages, spec) => ({
  name,
  packages,
  setup: (context) => ({
    commands: [
      [process.execPath, join(here, 'drivers', 'bridge.js'), JSON.stringify({ skill: SKILL, ...spec(context) })],
    ],
  }),
});

export const CLIENTS = [
  {
    name: 'mcporter',
    packages: ['mcporter@0.12.3'],
    setup: (context) => ({
      files: { 'project/config/mcporter.json': mcpServers(context) },
      commands: [
        ['mcporter', 'list', SERVER, '--schema'],
        ['mcporter', 'call', `${SERVER}.skill`, `name=${CALL.name}`],
        ['mcporter', 'call', `${SERVER}.skills_list`, `query=${LIST.query}`],
      ],
    }),
  },
  {
    name: 'inspector',
    packages: ['@modelcontextprotocol/inspector@2.12.0'],
    setup: (context) => ({
      files: { 'project/mcp.json': mcpServers(context) },
      commands: [
        ['--method', 'tools/list', '--strict'],
        ['--method', 'skills/list', '--verify'],
        ['--method', 'tools/call', '--tool-name', 'skill', '--tool-arg', `name=${CALL.name}`],
        ['--method', 'tools/call', '--tool-name', 'skills.list', '--tool-arg', `query=${LIST.query}`],
      ].map((args) => ['mcp-inspector', '--cli', '--config', 'mcp.json', '--server', SERVER, ...args]),
    }),
  },
  {
    name: 'inspector-0.15',
    packages: ['@modelcontextprotocol/inspector@0.15.0'],
    setup: (context) => ({
      files: { 'project/mcp.json': mcpServers(context) },
      commands: [
        ['--method', 'tools/list'],
        ['--method', 'tools/call', '--tool-name', 'skill', '--tool-arg', `name=${CALL.name}`],
        ['--method', 'tools/call', '--tool-name', 'skills.list', '--tool-arg', `query=${LIST.query}`],
      ].map((args) => ['mcp-inspector', '--cli', '--config', 'mcp.json', '--server', SERVER, ...args]),
    }),
  },
  {
    name: 'mcp-cli',
    packages: ['@wong2/mcp-cli@2.0.0'],
    setup: (context) => ({
      files: { 'project/mcp.json': mcpServers(context) },
      commands: [
        ['skill', CALL],
        ['skills.list', LIST],
      ].map(([tool, args]) => [
        'mcp-cli',
        '-c',
        'mcp.json',
        'call-tool',
        `${SERVER}:${tool}`,
        '--args',
        JSON.stringify(args),
      ]),
    }),
  },
  library('ai-sdk', ['@ai-sdk/mcp@2.0.96', 'ai@7.0.169', '@ai-sdk/openai-compatible@3.0.90']),
  library('langchain', ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.2.13', '@langchain/openai@1.6.0']),
  library('openai-agents', ['@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7']),
  bridge('mcp-remote', ['mcp-remote@0.15.1'], ({ program, log }) => ({
    start: [[program.command, ...program.args, '--transport', 'http', '--port', '{a}']],
    client: ['mcp-remote', 'http://127.0.0.1:{b}/mcp', '--allow-http'],
    log,
  })),
  bridge('supergateway', ['supergateway@4.0.0'], ({ server }) => ({
    start: [
      ['supergateway', '--stdio', [server.command, ...server.args].join(' '), '--port', '{a}'].concat([
        '--outputTransport',
        'streamableHttp',
        '--stateful',
      ]),
    ],
    client: 'http://127.0.0.1:{a}/mcp',
  })),
  bridge('mcp-proxy', ['mcp-proxy@6.7.19'], ({ server }) => ({
    start: [['mcp-proxy', '--host', '127.0.0.1', '--port', '{a}', '--', server.command, ...server.args]],
    client: 'http://127.0.0.1:{a}/mcp',
  })),
];
