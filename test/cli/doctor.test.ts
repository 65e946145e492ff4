import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataOf, runCommand } from '../harness/command.ts';
import { scripted, upstream } from '../harness/hub.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const GOOD = {
  'skills/review/SKILL.md': skillText('review'),
  '.claude/skills/pdf/SKILL.md': skillText('pdf'),
};

test('a healthy machine: where was looked, what was found there, how long it took, exit 0', (t) => {
  const tree = makeTree(t, GOOD);
  const { status, stdout, stderr } = runCommand(tree, ['doctor']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const [first, ...lines] = stdout.trimEnd().split('\n');
  assert.match(first ?? '', /^Skills: 2; looked at 7 directories in \d+ ms$/);
  assert.deepEqual(lines.slice(0, 4), [
    `  1 in ${tree.at('skills')} (custom)`,
    '    review',
    `  1 in ${tree.at('.claude/skills')} (claude, project)`,
    '    pdf',
  ]);
  assert.match(lines[4] ?? '', /^ {2}none in \S+\/\.agents\/skills, /);
  assert.match(stdout, /\nProblems: 0\n/);
  assert.equal(lines.at(-1), 'healthy');
  const data = dataOf(runCommand(tree, ['doctor', '--json']));
  assert.equal(data.version, 1);
  assert.deepEqual([data.toMend, data.skills, data.problems, data.names, data.upstreams], [0, 2, [], [], []]);
});

test('every fault is one line, below what to do, and the last line counts them; exit 1, with --json too', (t) => {
  const tree = makeTree(t, {
    ...GOOD,
    'skills/plugin server link/SKILL.md': 'no front matter',
    'skills/low/skill.md': 'x',
    'skills/colon/SKILL.md': skillText('colon', 'One: two'),
    'home/.claude/plugins/installed_plugins.json': JSON.stringify({ plugins: { 'gone@m': { installPath: 'zz' } } }),
    'servers.json': '{}',
  });
  tree.link('.claude/skills/out', '/');
  const args = [
    'doctor',
    '--include',
    '*,nope',
    '--skill-dir',
    'nowhere',
    '--port',
    '0',
    '--host',
    'x',
    '--config',
    'x',
  ];
  const { status, stdout } = runCommand(tree, args);
  assert.equal(status, 1);
  const section = /\nProblems: (\d+)\n([\s\S]*?)\n\n/.exec(stdout);
  const lines = (section?.[2] ?? '').split('\n');
  const faults = lines.filter((line) => line.startsWith('    '));
  assert.equal(section?.[1], '10');
  for (const fault of [
    '--host: has no effect without --transport http (or sse); add that',
    '--port: has no effect without --transport http (or sse); add that',
    '--config: has no effect without --hub; add that',
    'filter "nope": matches nothing',
    `${tree.at('skills/plugin server link/SKILL.md')}: there is no front matter`,
    `${tree.at('skills/low/skill.md')}: is not read; rename it to SKILL.md`,
    `${tree.at('nowhere')}: does not exist; correct --skill-dir, or create the directory`,
  ])
    assert.equal(faults.filter((line) => line === `    ${fault}`).length, 1, `${fault} in\n${stdout}`);
  assert.match(stdout, /plugin "gone@m" is installed at/);
  assert.match(stdout, /\n {2}Links: .*\n {4}\S+out: is a link that leaves/);
  assert.match(stdout, /\n {2}Front matter: .*\n(?: {4}.*\n)* {4}\S+plugin server link\/SKILL\.md: /);
  assert.equal(stdout.split('colon/SKILL.md').length, 2, stdout);
  assert.equal(faults.length, 10);
  assert.ok(lines.filter((line) => !line.startsWith('    ')).every((line) => /^ {2}[A-Z][\w ]+: .*\.$/.test(line)));
  assert.match(stdout, /\n10 things to mend\n$/);
  const json = runCommand(tree, [...args, '--json']);
  assert.equal(json.status, 1);
  assert.equal(dataOf(json).toMend, 10);
});

test('shadowed and ambiguous names, and remarks, are told and nothing to mend', (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf'),
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf'),
    '.codex/skills/pdf/SKILL.md': skillText('pdf'),
    '.codex/skills/odd/SKILL.md': skillText('Odd Name'),
  });
  const { status, stdout } = runCommand(tree, ['doctor']);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /\nNames that several skills have: 2\n.*is shadowed by .*; it loads as "claude@global:pdf"\n.*is ambiguous/,
  );
  assert.match(stdout, /\nRemarks: 1; nothing to mend\n {2}\S+\/odd\/SKILL\.md: name "Odd Name" is not .*\n\n/);
  assert.match(stdout, /\nhealthy\n$/);
});

test('plugins are told with scope, state and skills', (t) => {
  const here = { scope: 'project', installPath: 'p' };
  const tree = makeTree(t, {
    ...GOOD,
    'home/.claude/plugins/p/skills/deck/SKILL.md': skillText('deck'),
    'home/.claude/settings.json': JSON.stringify({ enabledPlugins: { 'off@m': false } }),
  });
  const plugins = {
    'on@m': [{ ...here, projectPath: tree.path }],
    'off@m': [{ scope: 'user', installPath: 'p' }],
    'other@m': [{ ...here, projectPath: '/elsewhere' }],
    old: { installPath: 'p' },
    'gone@m': { installPath: 'zz' },
  };
  tree.write('home/.claude/plugins/installed_plugins.json', JSON.stringify({ plugins }));
  const { stdout } = runCommand(tree, ['doctor']);
  const [, section = ''] = /\nPlugins: 5\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
  assert.deepEqual(section.split('\n'), [
    '  on@m: project scope, enabled, 1 skill',
    '  off@m: user scope, disabled in the settings, 0 skills',
    '  other@m: project scope, of another project, 0 skills',
    '  old@local: user scope, enabled, 0 skills',
    '  gone@m: user scope, broken, 0 skills',
  ]);
});

test('the size of the tool list is told for every known host, with what is cut for it', (t) => {
  const names = Array.from({ length: 40 }, (_, nth) => `skill-number-${nth}`);
  const tree = makeTree(
    t,
    Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name, 'Long. '.repeat(50))])),
  );
  const listsWith = (...args: string[]) => dataOf(runCommand(tree, ['doctor', '--json', ...args])).toolLists;
  const hostIn = (lists: readonly { hosts: readonly string[] }[], host: string) =>
    lists.find(({ hosts }) => hosts.includes(host));
  const lists = listsWith();
  const { characters, tokens, description, shortened, unnamed } = hostIn(lists, 'claude-code') as never;
  assert.ok(characters > 2000 && characters < 8000 && tokens < characters);
  assert.ok(description <= 2000);
  assert.deepEqual([shortened, unnamed], [40, 0]);
  const other = hostIn(lists, 'any other') as never as { description: number; shortened: number };
  assert.ok(other.description > 40 * 300);
  assert.equal(other.shortened, 0);
  const tight = hostIn(listsWith('--description-budget', '600'), 'claude-code') as never as { unnamed: number };
  assert.ok(tight.unnamed > 0 && tight.unnamed < 40);
  const { stdout } = runCommand(tree, ['doctor']);
  assert.match(stdout, /\n {2}[\d,]+ characters, roughly [\d,]+ tokens, 40 descriptions cut: claude-code\n/);
  assert.match(
    stdout,
    /\n {2}[\d,]+ characters, roughly [\d,]+ tokens: any other, grok-cli, inspector-cli, mcp-test-client,\n {4}claude-ai, /,
  );
  for (const line of stdout.split('\n')) assert.ok(line.length <= 100 || line.startsWith('  none in '), line);
});

test('a server in trouble is one line, with --hub, and something to mend; one that is switched off is not', (t) => {
  const servers = { good: upstream(), off: { ...upstream(), disabled: true }, unset: { command: '${NOT_SET}' } };
  const tree = makeTree(t, { ...GOOD, 'home/.kode.json': JSON.stringify({ mcpServers: servers }) });
  const { status, stdout } = runCommand(tree, ['doctor', '--hub']);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /\nServers: 3\n {2}good: ready: 11 tools, stdio, .*\n {2}off: disabled: .*\n {2}unset: failed: .*NOT_SET.*\n/,
  );
  assert.equal(stdout.split('NOT_SET').length, 2, stdout);
  assert.match(stdout, /\n1 thing to mend\n$/);
});

test('a server is waited for until it is ready, or has failed by its own timeout', (t) => {
  const tree = makeTree(t, GOOD);
  const late = scripted(tree, 'late', { delay: { initialize: 2500 }, answers: { 'tools/list': { tools: [] } } });
  const never = { ...scripted(tree, 'never', { silent: ['initialize'], answers: {} }).entry, connectTimeout: 3000 };
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { late: late.entry, never } }));
  const { status, stdout, stderr } = runCommand(tree, ['doctor', '--hub']);
  assert.match(stdout, /\n {2}late: ready: 0 tools, .*\n {2}never: failed: no answer to initialize within 3000 ms.*\n/);
  assert.match(stdout, /\n1 thing to mend\n$/);
  assert.deepEqual({ status, stderr }, { status: 1, stderr: '' });
});

test('a --config file that is missing, a directory, not JSON or without servers is one fault each', (t) => {
  const tree = makeTree(t, { ...GOOD, 'empty.json': '{}', 'blank.json': '', 'directory/x': '' });
  for (const [file, fault] of [
    ['nowhere.json', /nowhere\.json: does not exist; correct --config\n/],
    ['directory', /directory: is not read: it is a directory; give the file itself\n/],
    [
      'blank.json',
      /blank\.json: is empty; write \{"mcpServers": \{\}\} into it, or remove it or the option that names it\n/,
    ],
    ['empty.json', /empty\.json: has no servers under any of these keys: mcpServers, .*\n/],
  ] as const) {
    const { stdout } = runCommand(tree, ['doctor', '--hub', '--config', file]);
    assert.match(stdout, fault);
    assert.match(stdout, /\n1 thing to mend\n$/, stdout);
  }
});

test('what two servers, or a server and a skill, have alike is told and nothing to mend', (t) => {
  const templates = `templates=${JSON.stringify([{ uriTemplate: 'same://{x}', name: 'same' }])}`;
  const skills = [
    { uri: 'skill://pdf/SKILL.md', frontmatter: { name: 'pdf', description: 'x' }, resources: 'dynamic' },
  ];
  const prompts = `prompts=${JSON.stringify([{ name: 'pdf' }])}`;
  const servers = { a: upstream(templates), b: upstream(templates, `skills=${JSON.stringify(skills)}`, prompts) };
  const tree = makeTree(t, { ...GOOD, 'home/.kode.json': JSON.stringify({ mcpServers: servers }) });
  const { status, stdout } = runCommand(tree, ['doctor', '--hub']);
  assert.match(
    stdout,
    /\nRemarks: 2; nothing to mend\n {2}server b: 1 resource template left .*\n {2}server b: 1 prompt left/,
  );
  assert.match(stdout, /\nhealthy\n$/);
  assert.equal(status, 0);
});

test('a fault in what a server lists is told and nothing to mend; a list that fails, or a filter, is', (t) => {
  const tree = makeTree(t, GOOD);
  const inputSchema = { type: 'object' };
  const tools = [
    { name: 'good', inputSchema },
    { name: 'task', inputSchema, execution: { taskSupport: 'required' } },
    { name: 'odd', inputSchema: { type: 'array' } },
    { name: 'bare', inputSchema, title: 7 },
  ];
  const answers = { 'tools/list': { tools }, 'prompts/list': { error: { code: -32603, message: 'x' } } };
  const { entry } = scripted(tree, 'one', { answers });
  const write = (more: object) =>
    tree.write('home/.kode.json', JSON.stringify({ mcpServers: { one: { ...entry, ...more } } }));
  write({});
  const { status, stdout } = runCommand(tree, ['doctor', '--hub']);
  assert.match(stdout, /\nRemarks: 3; nothing to mend\n.*"task" is left out: it can only be run as a task\n/);
  assert.match(stdout, /\nhealthy\n$/);
  assert.equal(status, 0);
  write({ include: ['good', 'nothing'] });
  assert.match(
    runCommand(tree, ['doctor', '--hub']).stdout,
    /server one: filter "nothing": .*[\s\S]*\n1 thing to mend\n$/,
  );
  scripted(tree, 'one', { answers, capabilities: { tools: {}, prompts: {} } });
  write({});
  assert.match(
    runCommand(tree, ['doctor', '--hub']).stdout,
    /server one: prompts\/list failed.*[\s\S]*\n1 thing to mend\n$/,
  );
});

test('what to do fits the fault', (t) => {
  const tree = makeTree(t, { ...GOOD, 'broken.toml': 'a = 1\n[b\n', 'other.json': '{}' });
  tree.link('.cursor/mcp.json', tree.at('other.json'));
  const advised = (args: readonly string[]) =>
    /\nProblems: 1\n {2}(.*)\n/.exec(runCommand(tree, ['doctor', '--hub', ...args]).stdout)?.[1];
  assert.equal(advised(['--config', 'broken.toml']), 'Servers: Correct the entry in the configuration file.');
  assert.equal(advised(['--import', 'cursor']), 'Linked files: Replace the link by the file that it leads to.');
});

test('no skills at all is something to mend, with where it looked', (t) => {
  const { status, stdout } = runCommand(makeTree(t), ['doctor']);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /\n {2}Skills: Put a skill into one of these directories, or name another with --skill-dir\.\n {4}no skills: looked in .*; a skill is a directory there with a SKILL\.md\n/,
  );
  const nowhere = runCommand(makeTree(t), ['doctor', '--no-default-dirs', '--no-plugins']);
  assert.match(nowhere.stdout, /no skills: no directory is searched; name one with --skill-dir\n/);
});
