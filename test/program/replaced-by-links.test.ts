/** A directory that becomes a link after it was found: `git pull` can do that. Nothing behind the link may get out. */
import assert from 'node:assert/strict';
import { renameSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { readInside } from '../../src/files/read.ts';
import { localFiles } from '../../src/skills/contents.ts';
import { createScanner } from '../../src/skills/scan.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const NEVER = new AbortController().signal;

function secretTree(t: Parameters<typeof makeTree>[0]): Tree {
  return makeTree(t, {
    'home/.ssh/id_rsa': 'SECRET',
    'home/.ssh/SKILL.md': skillText('pdf', 'About pdf', 'SECRET'),
    'home/.ssh/ref/id_rsa': 'SECRET',
    'project/.claude/skills/pdf/SKILL.md': skillText('pdf'),
    'project/.claude/skills/pdf/id_rsa': 'harmless',
    'project/.claude/skills/pdf/ref/id_rsa': 'harmless',
  });
}

/** What is swapped for a link to what. */
const SWAPS: readonly (readonly [what: string, swap: (tree: Tree) => void])[] = [
  ['the skill directory', (tree) => swap(tree.at('project/.claude/skills/pdf'), tree.at('home/.ssh'))],
  [
    'the root',
    (tree) => {
      renameSync(tree.at('home/.ssh'), tree.at('home/pdf'));
      swap(tree.at('project/.claude/skills'), tree.at('home'));
    },
  ],
  [
    'a directory above the root',
    (tree) => {
      tree.write('home/all/skills/x', '');
      renameSync(tree.at('home/.ssh'), tree.at('home/all/skills/pdf'));
      swap(tree.at('project/.claude'), tree.at('home/all'));
    },
  ],
];

function swap(path: string, target: string): void {
  renameSync(path, `${path}.old`);
  symlinkSync(target, path);
}

for (const [what, act] of SWAPS) {
  test(`${what} is swapped for a link: no method gives what lies behind it (10.16)`, async (t) => {
    const tree = secretTree(t);
    const project = { ...tree, path: tree.at('project'), at: (name: string) => tree.at(`project/${name}`) };
    const program = startProgram(t, { tree: project, home: tree.at('home'), args: ['--no-refresh'] });
    await program.handshake();
    assert.match(await program.skill('pdf'), /# pdf/);
    act(tree);
    const root = 'skill://claude/pdf';
    const answers = [
      await program.request('resources/read', { uri: `${root}/id_rsa` }),
      await program.request('resources/read', { uri: `${root}/ref/id_rsa` }),
      await program.request('resources/read', { uri: `${root}/SKILL.md` }),
      await program.request('resources/directory/read', { uri: root }),
      await program.request('resources/directory/read', { uri: `${root}/ref` }),
      await program.request('skills/get', { uri: `${root}/SKILL.md` }),
      await program.request('resources/subscribe', { uri: `${root}/id_rsa` }),
    ];
    for (const answer of answers) assert.equal(answer.error?.code, -32602, JSON.stringify(answer));
    const results = [
      await program.request('skills/list'),
      await program.request('tools/call', { name: 'skill', arguments: { name: 'pdf' } }),
      await program.request('tools/call', { name: 'skills.read', arguments: { name: 'pdf', path: 'id_rsa' } }),
      await program.request('tools/call', { name: 'skills.search', arguments: { query: 'secret' } }),
      await program.request('tools/call', { name: 'skills.list', arguments: { includeBody: true } }),
    ];
    assert.deepEqual(results[0].result.skills, []);
    assert.doesNotMatch(JSON.stringify(results), /SECRET/);
  });
}

test('a SKILL.md too large to be held is not read through a link that took its directory (10.16)', async (t) => {
  const tree = secretTree(t);
  const directory = tree.at('project/.claude/skills/pdf');
  assert.match(readInside(directory, 'SKILL.md', 1000).bytes.toString(), /# pdf/);
  swap(directory, tree.at('home/.ssh'));
  assert.throws(() => readInside(directory, 'SKILL.md', 1000), /now leads elsewhere/);
});

test('a scan that a swap overtakes takes nothing from behind the link (10.16)', async (t) => {
  const tree = secretTree(t);
  const directory = tree.at('project/.claude/skills');
  const scan = createScanner();
  const root = {
    directory,
    provider: 'claude',
    location: 'project' as const,
    plugin: undefined,
    depth: 8,
    within: tree.at('project'),
  };
  // The next root is asked for after the walk and before any file is read.
  const roots = function* () {
    yield root;
    swap(`${directory}/pdf`, tree.at('home/.ssh'));
  };
  const { skills } = await scan(roots());
  assert.deepEqual(skills, []);
});

test('a skill directory that is replaced by another directory is read as it is now', async (t) => {
  const tree = secretTree(t);
  const directory = tree.at('project/.claude/skills/pdf');
  const files = localFiles(directory);
  renameSync(directory, `${directory}.old`);
  tree.write('project/.claude/skills/pdf/SKILL.md', skillText('pdf'));
  tree.write('project/.claude/skills/pdf/id_rsa', 'new');
  const reading = await files.read('id_rsa', NEVER);
  assert.equal(reading.kind === 'read' && Buffer.from(reading.bytes).toString(), 'new');
  assert.equal((await files.manifest(NEVER)).kind, 'whole');
});

test('a root whose parent moves and leaves a link behind is served from there after a refresh', async (t) => {
  const tree = makeTree(t, {
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf'),
    'home/.claude/skills/pdf/f': 'text',
  });
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.handshake();
  assert.match(await program.skill('pdf'), /# pdf/);
  tree.write('dotfiles/x', '');
  renameSync(tree.at('home/.claude'), tree.at('dotfiles/claude'));
  tree.link('home/.claude', tree.at('dotfiles/claude'));
  await program.call('skills.list', {}); // Looks at everything anew.
  const { result } = await program.request('resources/read', { uri: 'skill://claude/pdf/f' });
  assert.equal(result?.contents[0].text, 'text');
  assert.match(await program.skill('pdf'), /# pdf/);
});

test('a link to what is skipped serves and lists nothing of it, however it is spelled (10.17)', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf'),
    '.claude/skills/pdf/.git/config': 'SECRET',
    '.claude/skills/pdf/.git/hooks/SKILL.md': skillText('hooks', 'SECRET'),
    '.claude/skills/pdf/.GIT/config': 'SECRET',
    '.claude/skills/pdf/Node_Modules/x/SKILL.md': skillText('module', 'SECRET'),
    '.claude/skills/pdf/ref/a.md': 'fine',
  });
  tree.link('.claude/skills/pdf/notes', '.git');
  tree.link('.claude/skills/pdf/hooks', '.git/hooks');
  tree.link('.claude/skills/pdf/note', '.git/config');
  tree.link('.claude/skills/pdf/loud', '.GIT');
  tree.link('.claude/skills/pdf/modules', 'Node_Modules');
  tree.link('.claude/skills/pdf/good', 'ref');
  const program = startProgram(t, { tree });
  await program.handshake();
  const root = 'skill://claude/pdf';
  for (const path of [
    'notes/config',
    'notes',
    'hooks/SKILL.md',
    'note',
    'loud/config',
    '.GIT/config',
    'modules/x/SKILL.md',
    'Node_Modules/x/SKILL.md',
  ]) {
    for (const method of ['resources/read', 'resources/directory/read']) {
      const answer = await program.request(method, { uri: `${root}/${path}` });
      assert.equal(answer.error?.code, -32602, `${method} ${path} ${JSON.stringify(answer)}`);
    }
  }
  const { result } = await program.request('resources/directory/read', { uri: root });
  assert.deepEqual(
    result.resources.map(({ uri }: { uri: string }) => uri.slice(root.length + 1)),
    ['SKILL.md', 'good', 'ref'],
  );
  const { result: list } = await program.request('skills/list');
  assert.deepEqual(
    list.skills[0].resources.map(({ uri }: { uri: string }) => uri.slice(root.length + 1)),
    ['SKILL.md', 'good/a.md', 'ref/a.md'],
  );
  assert.equal(list.skills.length, 1);
  assert.doesNotMatch(await program.description(), /SECRET/);
});
