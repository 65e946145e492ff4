/**
 * The Skills extension on the built program: the SDK's own SkillsClient, which verifies each byte, and ways out of a skill.
 * The rules for one entry: test/methods/skills-extension.test.ts. What is declared: seed-002.test.ts.
 */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { startProgram, startWeb } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const ROOT = 'skill://claude/pdf';
const ODD_NAMES = `a b.md|Q&A.md|ü.md|日本語.txt|100%.md|%2e%2e|a#b?c.md|it's (a) [b] {c}!.md|..hidden|.dot|back\\slash
new|a;b=c,d:e@f|😀.md|SKILL.md.bak|tab\t.md|"quoted"|~tilde^`.split('|');

/** Binary files, many files, skills in skills, odd names, empty files, marks before text, deep directories. */
function realLooking(t: TestContext): Tree {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
    '.claude/skills/pdf/empty.md': '',
    '.claude/skills/pdf/bom.md': '\ufeffmarked\r\n',
    '.claude/skills/pdf/a/b/c/d/e/deep.md': 'deep',
    '.claude/skills/pdf/inner/SKILL.md': skillText('inner', 'Inside pdf'),
    '.claude/skills/pdf/sub/other/SKILL.md': skillText('other', 'Deeper inside pdf'),
    '.claude/skills/pdf/.git/HEAD': 'not part of it',
    // Sorts between pdf and what is inside it.
    '.claude/skills/pdf-x/SKILL.md': skillText('pdf-x'),
    '.agents/skills/crlf/SKILL.md': '---\r\nname: crlf\r\ndescription: d\r\n---\r\nbody\r\n',
    '.agents/skills/Not Allowed/SKILL.md': skillText('Not Allowed'),
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'A shadowed one'),
  });
  tree.write('.claude/skills/pdf/logo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]));
  tree.write('.claude/skills/pdf/large.bin', Buffer.alloc(1024 * 1024, 0xff));
  tree.write('.agents/skills/many/SKILL.md', skillText('many'));
  for (let n = 1; n < 100; n++) tree.write(`.agents/skills/many/d${n % 7}/f${n}.md`, `file ${n}`);
  tree.write('.agents/skills/odd/SKILL.md', skillText('odd'));
  for (const name of ODD_NAMES) tree.write(`.agents/skills/odd/${name}`, `in ${name}`);
  tree.link('.agents/skills/odd/link.md', 'a b.md');
  tree.link('.agents/skills/odd/out.md', tree.at('.agents/skills/crlf/SKILL.md'));
  return tree;
}

/** What is listed of it, and how many files each has. */
const LISTED = {
  'skill://agents/crlf/SKILL.md': 1,
  'skill://agents/many/SKILL.md': 100,
  'skill://agents/odd/SKILL.md': 2 + ODD_NAMES.length,
  'skill://claude/global/pdf/SKILL.md': 1,
  'skill://claude/pdf/SKILL.md': 8,
  'skill://claude/pdf-x/SKILL.md': 1,
  'skill://claude/pdf/inner/SKILL.md': 1,
  'skill://claude/pdf/sub/other/SKILL.md': 1,
};

for (const mode of ['legacy', { pin: '2026-07-28' }] as const)
  test(`the SDK's SkillsClient lists, reads and verifies every file (${JSON.stringify(mode)})`, async (t) => {
    const { url, program } = await startWeb(t, { tree: realLooking(t) });
    const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    t.after(() => client.close());
    const skills = new SkillsClient(client);
    assert.ok(skills.supported && skills.directoryRead);
    const { skills: entries } = await skills.list();
    const found = entries.map(({ uri, resources }) => [uri, resources.length]);
    assert.deepEqual(found, Object.entries(LISTED));
    for (const entry of entries) {
      assert.deepEqual((await skills.get(entry.uri)).skill, entry);
      assert.ok(Array.isArray(entry.resources));
      for (const { uri } of entry.resources) {
        assert.ok(uri.startsWith(entry.uri.replace('SKILL.md', '')) && new URL(uri).href === uri, uri);
        assert.equal((await skills.read(entry, uri)).verified, true, uri);
      }
    }
    assert.ok((await skills.readDirectory(ROOT)).resources.some(({ uri }) => uri === `${ROOT}/inner`));
    await assert.rejects(skills.readDirectory(`${ROOT}/SKILL.md`), { code: -32602 });
    // A skill that breaks the naming rules is a resource all the same; the log says why it is not listed.
    await program.waitForStderr(/Not Allowed\/SKILL\.md: is not in skills\/list, because its name is not 1 to 64/);
    const { contents } = await client.readResource({ uri: 'skill://agents/Not%20Allowed/SKILL.md' });
    assert.equal(Object(contents[0]).text, skillText('Not Allowed'));
  });

// After `skill://claude/pdf/`; each would reach a secret, or another skill's file, if it were followed.
const WAYS = `../secret.txt ../../../secret.txt .. ../ ./../secret.txt ref/../../secret.txt ref/../../other/SKILL.md
  ..%2fsecret.txt ..%2Fsecret.txt %2e%2e/secret.txt %2E%2E/secret.txt %2e./secret.txt .%2e/secret.txt %2e%2e%2fsecret.txt
  %2e%2e%5csecret.txt ..%5csecret.txt ..\\secret.txt ..%255csecret.txt %252e%252e/secret.txt %252e%252e%252fsecret.txt
  ..%c0%afsecret.txt %c0%ae%c0%ae/secret.txt ..%u2215secret.txt %e0%80%ae%e0%80%ae/secret.txt ..;/secret.txt
  ..%00/secret.txt SKILL.md%00/../../secret.txt ref/..%2f..%2fsecret.txt //secret.txt /etc/passwd %2fetc%2fpasswd
  file:///etc/passwd out.txt outdir/secret.txt ref/link/secret.txt out.txt?x out.txt#x .git/config note note/config
  ref/%2e/../../secret.txt \u2025/secret.txt ．．/secret.txt ${'a/'.repeat(3000)}x ${'x'.repeat(300)} ref/. . % %zz \ud800`;

test('no way out of a skill gives anything from outside, whichever method is asked', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf'),
    '.claude/skills/pdf/ref/a.md': 'inside',
    '.claude/skills/pdf/.git/config': 'SECRET',
    '.claude/skills/other/SKILL.md': skillText('other', 'SECRET'),
    '.claude/skills/secret.txt': 'SECRET',
    '.claude/secret.txt': 'SECRET',
    'dir/secret.txt': 'SECRET',
  });
  const links = {
    'out.txt': tree.at('.claude/secret.txt'),
    outdir: tree.at('dir'),
    'ref/link': '../../..',
    note: '.git',
  };
  for (const [name, target] of Object.entries(links)) tree.link(`.claude/skills/pdf/${name}`, target);
  const program = startProgram(t, { tree });
  for (const uri of WAYS.split(/\s+/).flatMap((way) => [`${ROOT}/${way}`, `${ROOT}/ref/${way}`])) {
    for (const method of ['resources/read', 'resources/directory/read', 'skills/get']) {
      const { error } = await program.request(method, { uri });
      assert.equal(error?.code, -32602, `${method} ${uri}`);
      assert.doesNotMatch(error.message, /SECRET|root:/, uri);
    }
  }
  // An unusual spelling of a file that is inside is only that.
  const { result } = await program.request('resources/read', { uri: `${ROOT}/r%65f/%61.md` });
  assert.deepEqual(result.contents, [{ uri: `${ROOT}/ref/a.md`, mimeType: 'text/markdown', text: 'inside' }]);
});

test('a directory above a skill becomes a link, as by `git pull`: no method gives what lies behind it', async (t) => {
  const outer = makeTree(t, {
    'project/.claude/skills/pdf/SKILL.md': skillText('pdf'),
    'project/.claude/skills/pdf/ref/SECRET': 'harmless',
    'home/secrets/skills/pdf/SKILL.md': skillText('pdf', 'SECRET'),
    'home/secrets/skills/pdf/ref/SECRET': 'SECRET',
  });
  const tree = { ...outer, path: outer.at('project') };
  const program = startProgram(t, { tree, home: outer.at('home'), args: ['--no-refresh'] });
  assert.match(await program.skill('pdf'), /# pdf/);
  renameSync(outer.at('project/.claude'), outer.at('before'));
  outer.link('project/.claude', outer.at('home/secrets'));
  const asked = ['ref/SECRET', 'SKILL.md'].map((path) => `resources/read ${ROOT}/${path}`);
  for (const one of [...asked, `resources/directory/read ${ROOT}`, `skills/get ${ROOT}/SKILL.md`]) {
    const [method = '', uri] = one.split(' ');
    assert.equal((await program.request(method, { uri })).error?.code, -32602, one);
  }
  assert.deepEqual((await program.request('skills/list')).result.skills, []);
  assert.equal((await program.call('skills.read', { name: 'pdf', path: 'ref/SECRET' })).isError, true);
  const found = await program.call('skills.search', { query: 'secret' });
  const texts = [await program.skill('pdf'), await program.call('skills.list', { includeBody: true })];
  assert.doesNotMatch(JSON.stringify([found.structuredContent.total, texts]), /SECRET/);
});
