import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createLog } from '../../src/log.ts';
import { createPluginFinder } from '../../src/skills/plugins.ts';
import { listed, names, warnings } from '../harness/listing.ts';
import { startProgram } from '../harness/program.ts';
import { withoutPrivilege } from '../harness/rights.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const PLUGINS = 'home/.claude/plugins';

const json = (value: unknown) => JSON.stringify(value);
const installed = (plugins: unknown, version = 2) => ({
  [`${PLUGINS}/installed_plugins.json`]: json({ version, plugins }),
});

/** Skills in the cache, as `plugin/version/skills/name`. */
const cached = (...paths: readonly string[]) =>
  Object.fromEntries(paths.map((path) => [`${PLUGINS}/cache/${path}/SKILL.md`, skillText(path.replace(/^.*\//, ''))]));

const relative = (path: string, more: object = {}) => ({ installPath: `cache/${path}`, ...more });

test('both versions of installed_plugins.json give the same skills, named after their plugin', async (t) => {
  const skills = cached('docs/1/skills/pdf', 'docs/1/skills/docx', 'docs/1/other/hidden', 'docs/1/skills/deep/inner');
  const first = makeTree(t, { ...skills, ...installed({ 'docs@market': relative('docs/1') }, 1) });
  const second = makeTree(t, { ...skills, ...installed({ 'docs@market': [relative('docs/1', { scope: 'user' })] }) });
  for (const tree of [first, second]) {
    const program = startProgram(t, { tree });
    assert.deepEqual(await listed(program), ['docs:docx (plugin)', 'docs:pdf (plugin)']);
    const directory = tree.at(`${PLUGINS}/cache/docs/1/skills/pdf`);
    const header = `Loading: docs:pdf\nBase directory: ${directory}\nPath: ${directory}/SKILL.md\nLocation: plugin\nProvider: claude\nPlugin: docs@market\n\n`;
    for (const name of ['docs:pdf', 'pdf', 'claude:docs:pdf', 'DOCS@market:pdf']) {
      assert.equal(await program.skill(name), header + skillText('pdf'), name);
    }
    assert.deepEqual(warnings(program, tree.path), []);
  }
});

test('an installation of project or local scope counts only in its project, and there before the rest', async (t) => {
  const tree = makeTree(
    t,
    cached('a/user/skills/from-user', 'a/here/skills/from-here', 'b/1/skills/b', 'c/1/skills/c'),
  );
  const other = makeTree(t);
  tree.link('alias', '.');
  tree.write(
    `${PLUGINS}/installed_plugins.json`,
    json({
      version: 2,
      plugins: {
        'a@m': [
          relative('a/user', { scope: 'user' }),
          relative('a/here', { scope: 'project', projectPath: tree.at('alias') }),
        ],
        'b@m': [relative('b/1', { scope: 'local', projectPath: other.path })],
        'c@m': [relative('c/1', { scope: 'project' }), relative('c/1', { scope: 'local', projectPath: 'relative' })],
      },
    }),
  );
  assert.deepEqual(await names(startProgram(t, { tree })), ['a:from-here']);
  const elsewhere = startProgram(t, { tree: other, home: tree.at('home') });
  assert.deepEqual(await names(elsewhere), ['a:from-user', 'b:b']);
});

test('enabledPlugins of user, project and local settings decide, the later one first', async (t) => {
  const all = { 'a@m': relative('a'), 'b@m': relative('b'), 'c@m': relative('c'), 'd@m': relative('d') };
  const tree = makeTree(t, {
    ...cached('a/skills/a', 'b/skills/b', 'c/skills/c', 'd/skills/d'),
    ...installed(all),
    'home/.claude/settings.json': json({ enabledPlugins: { 'a@m': false, 'b@m': true, 'c@m': false } }),
    '.claude/settings.json': json({ model: 'x', enabledPlugins: { 'b@m': false, 'c@m': true } }),
    '.claude/settings.local.json': json({ enabledPlugins: { 'b@m': true } }),
  });
  assert.deepEqual(await names(startProgram(t, { tree })), ['b:b', 'c:c', 'd:d']);
});

const MANIFESTS: readonly (readonly [what: string, skills: unknown, expected: readonly string[], problem?: RegExp])[] =
  [
    ['nothing', undefined, ['p:in-skills']],
    ['a string', './extra', ['p:in-extra']],
    ['a list', ['./extra/', 'more'], ['p:in-extra', 'p:in-more']],
    ['a skill itself', ['./extra/in-extra'], ['p:in-extra']],
    ['the plugin as one skill', './', ['p:whole']],
    ['an empty list', [], ['none']],
    ['a path that is missing', ['./nowhere'], ['none']],
    ['a path that leads out', ['../q/skills'], ['none'], /plugin "p@m" names skills outside itself: \.\.\/q\/skills/],
    ['a wrong type', 5, ['none'], /plugin\.json: skills: must be a path or a list of paths/],
  ];

for (const [what, skills, expected, problem] of MANIFESTS) {
  test(`the manifest names ${what}`, async (t) => {
    const tree = makeTree(t, {
      ...cached('p/skills/in-skills', 'p/extra/in-extra', 'p/more/in-more', 'q/skills/not-mine'),
      [`${PLUGINS}/cache/p/.claude-plugin/plugin.json`]: json({ name: 'p', skills }),
      ...installed({ 'p@m': relative('p') }),
    });
    if (what === 'the plugin as one skill') tree.write(`${PLUGINS}/cache/p/SKILL.md`, skillText('whole'));
    const program = startProgram(t, { tree });
    assert.deepEqual(await names(program), expected);
    const said = warnings(program, tree.path);
    assert.equal(said.length, problem ? 1 : 0, said.join('\n'));
    if (problem) assert.match(said[0] ?? '', problem);
  });
}

/** One repository with skills for three plugins, as a marketplace that lists them. */
function sharedRepository(tree: Tree, marketplace: string): void {
  for (const name of ['pdf', 'docx', 'art', 'loose'])
    tree.write(`${PLUGINS}/cache/repo/skills/${name}/SKILL.md`, skillText(name));
  const plugins = [
    { name: 'docs', source: './', skills: ['./skills/pdf', './skills/docx'] },
    { name: 'art', source: './', skills: './skills/art' },
    { name: 'none', source: './', skills: [] },
  ];
  tree.write(`${marketplace}/.claude-plugin/marketplace.json`, json({ name: 'm', plugins }));
}

const three = { 'docs@m': relative('repo'), 'art@m': relative('repo'), 'none@m': relative('repo') };

for (const [what, place] of [
  ['the plugins root', `${PLUGINS}/marketplaces/m`],
  ['a known place', 'home/elsewhere/m'],
  ['the repository itself', `${PLUGINS}/cache/repo`],
] as const) {
  test(`three plugins that share one repository get their own skills only: the marketplace lies in ${what}`, async (t) => {
    const tree = makeTree(t, installed(three));
    sharedRepository(tree, place);
    if (place.includes('elsewhere')) {
      const known = { m: { source: {}, installLocation: tree.at(place) } };
      tree.write(`${PLUGINS}/known_marketplaces.json`, json(known));
    }
    const program = startProgram(t, { tree });
    assert.deepEqual(await names(program), ['docs:pdf', 'docs:docx', 'art:art']);
    assert.deepEqual(warnings(program, tree.path), []);
  });
}

test('a stale or missing installPath is a Problem, and another installation that exists is used instead', async (t) => {
  const tree = makeTree(t, {
    ...cached('a/2/skills/a', 'c/skills/c'),
    ...installed({ 'a@m': [relative('a/1'), relative('a/2')], 'b@m': [relative('b/1')], 'c@m': relative('c') }),
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['a:a', 'c:c']);
  assert.deepEqual(warnings(program, tree.path), [
    `${PLUGINS}/installed_plugins.json: plugin "b@m" is installed at ${PLUGINS}/cache/b/1, where there is no directory`,
  ]);
});

test('--no-plugins, --plugins-file and --plugins-root', async (t) => {
  const tree = makeTree(t, {
    ...cached('a/skills/a'),
    ...installed({ 'a@m': relative('a') }),
    'my/plugins.json': json({ plugins: { 'b@m': { installPath: 'b' } } }),
    'my/root/b/skills/b/SKILL.md': skillText('b'),
    'my/root/installed_plugins.json': json({ plugins: { 'b@m': { installPath: './b' } } }),
    '.claude/skills/own/SKILL.md': skillText('own'),
  });
  const start = (...args: string[]) => names(startProgram(t, { tree, args }));
  assert.deepEqual(await start('--no-plugins'), ['own']);
  assert.deepEqual(await start('--plugins-root', 'my/root'), ['own', 'b:b']);
  assert.deepEqual(await start('--plugins-file', 'my/plugins.json', '--plugins-root', tree.at('my/root')), [
    'own',
    'b:b',
  ]);
  assert.deepEqual(await start('--plugins-file', 'my/nothing.json'), ['own']);
});

test('files that cannot be understood are Problems, and stop nothing else', async (t) => {
  const tree = makeTree(t, {
    ...cached('a/skills/a', 'b/skills/b', 'c/skills/c'),
    ...installed({ 'a@m': relative('a'), 'b@m': relative('b'), 'bad@m': { path: 'x' }, 'bad2@m': 7, c: relative('c') }),
    'home/.claude/settings.json': '{ "enabledPlugins": ',
    '.claude/settings.json': json({ enabledPlugins: 'all' }),
    [`${PLUGINS}/cache/b/.claude-plugin/plugin.json`]: 'null',
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['a:a', 'c:c']);
  assert.match(await program.skill('c'), /Plugin: c@local\n/);
  const said = warnings(program, tree.path);
  for (const part of [
    /^home\/\.claude\/settings\.json: cannot be read: .*JSON/,
    /^\.claude\/settings\.json: enabledPlugins: /,
    /plugin "bad@m" has no usable installPath/,
    /plugin "bad2@m" has no usable installPath/,
    /cache\/b\/\.claude-plugin\/plugin\.json: /,
  ]) {
    assert.equal(said.filter((line) => part.test(line)).length, 1, `${part} in\n${said.join('\n')}`);
  }
  for (const text of ['[]', '{"plugins": 1}', 'x', '']) {
    const broken = makeTree(t, { [`${PLUGINS}/installed_plugins.json`]: text });
    const other = startProgram(t, { tree: broken });
    assert.deepEqual(await names(other), ['none']);
    assert.equal(warnings(other, broken.path).length, 1, text);
  }
});

test('a plugin that is installed, switched off or half written while the server runs', async (t) => {
  const tree = makeTree(t, { ...cached('a/skills/a'), ...installed({}) });
  const program = startProgram(t, { tree });
  await program.handshake();
  assert.deepEqual(await names(program), ['none']);
  const change = async (file: string, text: string, expected: string) => {
    tree.write(file, text);
    await program.waitForStderr(new RegExp(expected));
  };
  await change(`${PLUGINS}/installed_plugins.json`, json({ plugins: { 'a@m': relative('a') } }), '1 added');
  assert.deepEqual(await names(program), ['a:a']);
  await change(`${PLUGINS}/installed_plugins.json`, '{"plugins": {"a@', 'installed_plugins.json: cannot be read');
  assert.deepEqual(await names(program), ['a:a'], 'what the file said before still holds');
  await change('home/.claude/settings.json', json({ enabledPlugins: { 'a@m': false } }), '1 removed');
  assert.deepEqual(await names(program), ['none']);
});

const HEALTHY = { ...cached('good/skills/good'), '.claude/skills/own/SKILL.md': skillText('own') };

/** Plugins that are odd in one way each: what is said of them, and what they still give. */
const ODD: readonly (readonly [what: string, entry: unknown, said: RegExp | undefined, gives?: string])[] = [
  ['passes through a file', relative('good/skills/good/SKILL.md/x'), /plugin "odd@m" is installed at .* no directory/],
  ['is a file', relative('good/skills/good/SKILL.md'), /plugin "odd@m" is installed at .* no directory/],
  ['may not be read', relative('closed/inner'), /plugin "odd@m" is installed at .* \(EACCES\)/],
  ['is a loop of links', relative('loop/x'), /plugin "odd@m" is installed at .* \(ELOOP\)/],
  ['is too long', relative('x'.repeat(300)), /plugin "odd@m" is installed at .* \(ENAMETOOLONG\)/],
  ['holds a NUL', relative('a\0b'), /plugin "odd@m" is installed at .* \(ERR_INVALID_ARG_VALUE\)/],
  ['may not be listed', relative('unlisted'), /unlisted.*EACCES/],
];

/** The same for what a manifest names. */
const ODD_SKILLS: readonly (readonly [what: string, skills: unknown, said: RegExp | undefined, gives?: string])[] = [
  ['the SKILL.md instead of its directory', ['./skills/pdf/SKILL.md'], undefined, 'odd:pdf'],
  ['its own SKILL.md', './SKILL.md', undefined, 'odd:whole'],
  ['another file', ['./skills/pdf/notes.md'], /plugin "odd@m" names skills at .*notes.md, which .* not a directory/],
  ['a way through a file', ['./skills/pdf/SKILL.md/x'], undefined],
  ['a loop of links', ['./loop', './skills'], /plugin "odd@m" names skills at \.\/loop, .*ELOOP/, 'odd:pdf'],
  ['what is too long', ['x'.repeat(300)], /plugin "odd@m" names skills at x+…?, .*ENAMETOOLONG/],
  ['a NUL', ['a\0b', './skills'], /plugin "odd@m" names skills at a.*b, .*ERR_INVALID_ARG_VALUE/, 'odd:pdf'],
  ['what may not be read', ['./closed/x'], /plugin "odd@m" names skills at .*EACCES/],
];

async function expectAlone(t: Parameters<typeof makeTree>[0], tree: Tree, said: RegExp | undefined, gives?: string) {
  for (const path of ['closed', 'odd/closed']) {
    tree.write(`${PLUGINS}/cache/${path}/inner/skills/x/SKILL.md`, skillText('x'));
    chmodSync(tree.at(`${PLUGINS}/cache/${path}`), 0);
  }
  tree.write(`${PLUGINS}/cache/unlisted/skills/x/SKILL.md`, skillText('x'));
  chmodSync(tree.at(`${PLUGINS}/cache/unlisted/skills`), 0o300);
  for (const path of ['loop', 'odd/loop']) tree.link(`${PLUGINS}/cache/${path}`, 'loop');
  const program = startProgram(t, { tree, through: withoutPrivilege });
  await program.handshake();
  assert.deepEqual([...(await names(program))].sort(), ['good:good', ...(gives ? [gives] : []), 'own']);
  const warned = warnings(program, tree.path);
  assert.equal(warned.length, said ? 1 : 0, warned.join('\n'));
  if (said) assert.match(warned[0] ?? '', said);
  // Refreshing goes on.
  tree.write('.claude/skills/later/SKILL.md', skillText('later'));
  assert.match(json(await program.call('skills.list', {})), /"later"/);
  for (const path of ['closed', 'odd/closed', 'unlisted/skills']) chmodSync(tree.at(`${PLUGINS}/cache/${path}`), 0o700);
}

for (const [what, entry, said, gives] of ODD) {
  test(`a plugin whose installPath ${what} is a Problem of its own (11.1)`, async (t) => {
    const tree = makeTree(t, { ...HEALTHY, ...installed({ 'odd@m': entry, 'good@m': relative('good') }) });
    await expectAlone(t, tree, said, gives);
  });
}

for (const [what, skills, said, gives] of ODD_SKILLS) {
  test(`a manifest that names ${what} does not affect other plugins (11.1)`, async (t) => {
    const tree = makeTree(t, {
      ...HEALTHY,
      ...cached('odd/skills/pdf'),
      [`${PLUGINS}/cache/odd/SKILL.md`]: skillText('whole'),
      [`${PLUGINS}/cache/odd/skills/pdf/notes.md`]: '',
      [`${PLUGINS}/cache/odd/.claude-plugin/plugin.json`]: json({ name: 'odd', skills }),
      ...installed({ 'odd@m': relative('odd'), 'good@m': relative('good') }),
    });
    await expectAlone(t, tree, said, gives);
  });
}

test('a root that the system refuses to read does not affect the others (11.1)', async (t) => {
  const tree = makeTree(t, { 'good/own/SKILL.md': skillText('own'), file: '' });
  tree.link('loop', 'loop');
  const log: string[] = [];
  const odd = ['a\0b', 'loop', 'loop/x', 'file', 'file/x', 'x'.repeat(300), 'x/'.repeat(3000)];
  const skillwire = createSkillwire({
    cwd: tree.path,
    home: tree.at('home'),
    env: { CLAUDE_CONFIG_DIR: 'a\0b', CODEX_HOME: tree.at('loop') },
    skillDirs: [...odd, 'good'],
    pluginsFile: 'a\0b',
    autoRefresh: false,
    log: createLog((line) => log.push(line), 'warn'),
  });
  t.after(() => skillwire.close());
  const { names: found, problems } = await skillwire.registry.refresh('test');
  assert.deepEqual(
    found.listed.map(({ id }) => id),
    ['own'],
  );
  const about = problems.map(({ where }) => where);
  for (const one of ['a\0b', 'loop', 'loop/x', 'x'.repeat(300)]) assert.ok(about.includes(tree.at(one)), one);
});

test('a plugins file that cannot be read is reported as the plugins file (11.14)', async (t) => {
  const cases: readonly (readonly [file: string, said: RegExp])[] = [
    ['closed.json', /^closed\.json: cannot be read as the plugins file: EACCES/],
    ['closed/plugins.json', /^closed\/plugins\.json: cannot be read as the plugins file: EACCES/],
    ['directory', /^directory: cannot be read as the plugins file: it is not a regular file/],
    ['loop', /^loop: cannot be read as the plugins file: ELOOP/],
    ['half.json', /^half\.json: cannot be read as the plugins file: .*JSON/],
    ['wrong.json', /^wrong\.json: is the plugins file; plugins: /],
    ['nowhere.json', /^nowhere\.json: the plugins file is missing/],
    ['wrong.json/x', /^wrong\.json\/x: the plugins file is missing/],
  ];
  const tree = makeTree(t, {
    '.claude/skills/own/SKILL.md': skillText('own'),
    'closed.json': '{}',
    'closed/plugins.json': '{}',
    'directory/x': '',
    'half.json': '{"plugins"',
    'wrong.json': '{"plugins": 1}',
  });
  tree.link('loop', 'loop');
  chmodSync(tree.at('closed.json'), 0);
  chmodSync(tree.at('closed'), 0);
  for (const [file, said] of cases) {
    const program = startProgram(t, { tree, args: ['--plugins-file', file], through: withoutPrivilege });
    assert.deepEqual(await names(program), ['own']);
    const warned = warnings(program, tree.path);
    assert.equal(warned.length, 1, `${file}: ${warned.join('\n')}`);
    assert.match(warned[0] ?? '', said);
  }
  chmodSync(tree.at('closed'), 0o700);
});

test('a manifest names only so many paths, and a fault does not quote a whole file (11.1)', async (t) => {
  const skills = ['./skills', ...Array.from({ length: 100_000 }, (_, nth) => `./s${nth}`)];
  const tree = makeTree(t, {
    ...cached('odd/skills/pdf'),
    [`${PLUGINS}/cache/odd/.claude-plugin/plugin.json`]: json({ name: 'odd', skills }),
    ...installed({ 'odd@m': relative('odd') }),
    '.claude/settings.json': json({ enabledPlugins: 'x'.repeat(100_000) }),
  });
  const program = startProgram(t, { tree });
  assert.deepEqual(await names(program), ['odd:pdf']);
  const said = warnings(program, tree.path);
  assert.match(said.join('\n'), /plugin "odd@m" names 100001 paths of skills; only the first 2000 are used/);
  assert.ok(said.join('').length < 3000);
});

test('a large marketplace is checked once, not once per plugin and refresh', (t) => {
  const entries = Array.from({ length: 100_000 }, (_, nth) => ({ name: `n${nth}`, skills: ['./x'] }));
  const all = Array.from({ length: 20 }, (_, nth) => `p${nth}`);
  const tree = makeTree(t, {
    ...cached(...all.map((name) => `${name}/mine/one`)),
    ...installed(Object.fromEntries(all.map((name) => [`${name}@m`, relative(name)]))),
    [`${PLUGINS}/marketplaces/m/.claude-plugin/marketplace.json`]: json({
      plugins: [...entries, ...all.map((name) => ({ name, skills: './mine' }))],
    }),
  });
  const find = createPluginFinder({
    cwd: tree.path,
    home: tree.at('home'),
    env: {},
    pluginsFile: undefined,
    pluginsRoot: undefined,
    followSymlinks: false,
  });
  find();
  const deadline = performance.now() + 60;
  while (performance.now() < deadline); // A file that changed a moment ago is rightly read again.
  find();
  const start = performance.now();
  const { roots } = find();
  assert.ok(performance.now() - start < 50, `${performance.now() - start} ms`);
  assert.deepEqual(
    roots.map(({ directory }) => directory),
    all.map((name) => tree.at(`${PLUGINS}/cache/${name}/mine`)),
  );
});

test("a plugin's manifest, a marketplace and a project's settings are not read through a link out of their place", (t) => {
  const tree = makeTree(t, {
    ...cached('manifest/skills/a', 'market/skills/b', 'inner/skills/c', 'disabled/skills/d'),
    ...installed({
      'manifest@m': relative('manifest'),
      'market@m': relative('market'),
      'inner@m': relative('inner'),
      'disabled@m': relative('disabled'),
    }),
    'outside/plugin.json': json({ skills: './skills/a' }),
    'outside/marketplace.json': json({ plugins: [{ name: 'market', skills: './skills/b' }] }),
    'outside/settings.json': json({ enabledPlugins: { 'disabled@m': false } }),
    [`${PLUGINS}/cache/inner/real.json`]: json({ skills: './skills/c' }),
  });
  const cache = tree.at(`${PLUGINS}/cache`);
  tree.link(`${PLUGINS}/cache/manifest/.claude-plugin/plugin.json`, tree.at('outside/plugin.json'));
  tree.link(`${PLUGINS}/cache/market/.claude-plugin/marketplace.json`, tree.at('outside/marketplace.json'));
  tree.link(`${PLUGINS}/cache/inner/.claude-plugin/plugin.json`, '../real.json');
  tree.link('project/.claude/settings.json', tree.at('outside/settings.json'));
  const find = (followSymlinks: boolean) => {
    const { roots, problems } = createPluginFinder({
      cwd: tree.at('project'),
      home: tree.at('home'),
      env: {},
      pluginsFile: undefined,
      pluginsRoot: undefined,
      followSymlinks,
    })();
    return {
      roots: roots.map(({ directory }) => directory.slice(cache.length)),
      problems: problems.map(({ where, what }) => `${where.slice(tree.path.length)}: ${what}`),
    };
  };
  const refused = 'cannot be read: it is a link that leaves its directory';
  assert.deepEqual(find(false), {
    roots: ['/inner/skills/c', '/disabled/skills'],
    problems: [
      `/project/.claude/settings.json: ${refused}`,
      `/${PLUGINS}/cache/manifest/.claude-plugin/plugin.json: ${refused}`,
      `/${PLUGINS}/cache/market/.claude-plugin/marketplace.json: ${refused}`,
    ],
  });
  assert.deepEqual(find(true), { roots: ['/manifest/skills/a', '/market/skills/b', '/inner/skills/c'], problems: [] });
});
