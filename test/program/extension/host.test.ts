/** A verifying host over real-looking skills, at rest and while they are being edited. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { ERAS, filesBelow, listAll, verifyEntry } from '../../harness/host.ts';
import { type Answer, startProgram } from '../../harness/program.ts';
import { makeTree, skillText, type Tree } from '../../harness/tree.ts';

const ODD_NAMES = [
  'a b.md',
  'Q&A.md',
  'ü.md',
  '日本語.txt',
  '100%.md',
  '%2e%2e',
  'a#b?c.md',
  "it's (a) [b] {c}!.md",
  '..hidden',
  '.dot',
  'back\\slash',
  'new\nline',
  'a;b=c,d:e@f',
  '😀.md',
  'SKILL.md.bak',
  'tab\t.md',
  '"quoted"',
  '~tilde^|`',
];

/** Binary files, 400 files in one skill, skills in skills, odd names, empty files, marks before text, deep directories. */
function realLooking(t: TestContext): Tree {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
    '.claude/skills/pdf/empty.md': '',
    '.claude/skills/pdf/bom.md': '\ufeffmarked\r\n',
    '.claude/skills/pdf/a/b/c/d/e/deep.md': 'deep',
    '.claude/skills/pdf/inner/SKILL.md': skillText('inner', 'Inside pdf'),
    '.claude/skills/pdf/inner/x.md': 'x',
    '.claude/skills/pdf/sub/other/SKILL.md': skillText('other', 'Deeper inside pdf'),
    // Sorts between pdf and what is inside it.
    '.claude/skills/pdf-x/SKILL.md': skillText('pdf-x'),
    '.claude/skills/pdf/.git/HEAD': 'not part of it',
    '.claude/skills/pdf/node_modules/m/index.js': 'not part of it',
    '.agents/skills/typed/SKILL.md':
      '---\nname: typed\ndescription: |\n  Two\n  lines\nversion: 1.10\nmode: 010\nflags: [on, true, ~]\nmetadata:\n  on: "1"\n---\nbody\n',
    '.agents/skills/crlf/SKILL.md': '---\r\nname: crlf\r\ndescription: d\r\n---\r\nbody\r\n',
    '.agents/skills/pdf/SKILL.md': skillText('pdf', 'Another of the same name'),
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'A shadowed one'),
  });
  tree.write('.claude/skills/pdf/logo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]));
  tree.write('.claude/skills/pdf/latin1.txt', Buffer.from('caf\xe9', 'latin1'));
  tree.write('.claude/skills/pdf/large.bin', Buffer.alloc(1024 * 1024, 0xff));
  tree.write('.agents/skills/many/SKILL.md', skillText('many', '400 files'));
  for (let n = 1; n < 400; n++) tree.write(`.agents/skills/many/d${n % 7}/f${n}.md`, `file ${n}`);
  tree.write('.agents/skills/odd/SKILL.md', skillText('odd', 'Odd names'));
  for (const name of ODD_NAMES) tree.write(`.agents/skills/odd/${name}`, `in ${name}`);
  tree.link('.agents/skills/odd/link.md', 'a b.md');
  return tree;
}

for (const [era, speak] of ERAS) {
  test(`every file of every listed skill is what its entry says, and directories hold the same files (${era})`, async (t) => {
    const program = startProgram(t, { tree: realLooking(t) });
    if (era === 'legacy') await program.handshake();
    const ask = speak(program);
    const entries = await listAll(ask);
    assert.deepEqual(
      entries.map((entry) => [entry.uri, entry.resources.length]),
      [
        ['skill://agents/crlf/SKILL.md', 1],
        ['skill://agents/many/SKILL.md', 400],
        ['skill://agents/odd/SKILL.md', 2 + ODD_NAMES.length],
        ['skill://agents/pdf/SKILL.md', 1],
        ['skill://agents/typed/SKILL.md', 1],
        ['skill://claude/global/pdf/SKILL.md', 1],
        ['skill://claude/pdf/SKILL.md', 10],
        ['skill://claude/pdf-x/SKILL.md', 1],
        ['skill://claude/pdf/inner/SKILL.md', 2],
        ['skill://claude/pdf/sub/other/SKILL.md', 1],
      ],
    );
    for (const entry of entries) {
      const { verified, refused } = await verifyEntry(ask, entry);
      assert.deepEqual([verified, refused], [entry.resources.length, 0]);
      assert.deepEqual((await ask('skills/get', { uri: entry.uri })).result.skill, entry);
      const below = await filesBelow(ask, entry.uri.slice(0, -'/SKILL.md'.length));
      assert.deepEqual([...below].sort(), entry.resources.map((one: Answer) => one.uri).sort());
    }
  });
}

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/**
 * Somebody at work on the skills: in place, by rename, whole directories at once.
 * `swaps` gets the digest of each file of `swapped` with the round it belongs to.
 */
function startEditing(t: TestContext, tree: Tree, swaps: Map<string, number>): () => void {
  let round = 0;
  const at = (name: string) => tree.at(`.claude/skills/${name}`);
  const edits: readonly (() => void)[] = [
    () => writeFileSync(at('live/ref.md'), `reference ${round} ${'x'.repeat(round % 50)}`),
    () => writeFileSync(at('live/SKILL.md'), skillText('live', `Version ${round}`)),
    () => {
      writeFileSync(at('live/.tmp'), `renamed ${round}`);
      renameSync(at('live/.tmp'), at('live/data.bin'));
    },
    () => writeFileSync(at('live/inner/SKILL.md'), skillText('inner', `Inner ${round}`)),
    () => writeFileSync(at(`live/new-${round % 3}.md`), `${round}`),
    () => rmSync(at(`live/new-${(round + 1) % 3}.md`), { force: true }),
    () => {
      mkdirSync(at('.next'), { recursive: true });
      for (const [name, text] of [
        ['SKILL.md', skillText('swapped', `Swap ${round}`)],
        ['part.md', `part ${round}`],
      ] as const) {
        writeFileSync(at(`.next/${name}`), text);
        swaps.set(digestOf(text), round);
      }
      renameSync(at('swapped'), at('.old'));
      renameSync(at('.next'), at('swapped'));
      rmSync(at('.old'), { recursive: true });
    },
  ];
  const timer = setInterval(() => edits[round++ % edits.length]?.(), 15);
  t.after(() => clearInterval(timer));
  return () => clearInterval(timer);
}

for (const [era, speak] of ERAS) {
  test(`while skills are being edited every entry is of one version, and entries of one response agree (${era})`, async (t) => {
    const tree = makeTree(t, {
      '.claude/skills/live/SKILL.md': skillText('live'),
      '.claude/skills/live/ref.md': 'reference',
      '.claude/skills/live/data.bin': 'data',
      '.claude/skills/live/inner/SKILL.md': skillText('inner'),
      '.claude/skills/swapped/SKILL.md': skillText('swapped'),
      '.claude/skills/swapped/part.md': 'part',
      '.claude/skills/calm/SKILL.md': skillText('calm'),
    });
    const program = startProgram(t, { tree });
    if (era === 'legacy') await program.handshake();
    const ask = speak(program);
    await ask('tools/list');
    const swaps = new Map<string, number>();
    const stop = startEditing(t, tree, swaps);
    const totals = { listed: 0, verified: 0, refused: 0 };
    const end = performance.now() + 3000;
    while (performance.now() < end) {
      const digests = new Map<string, string>();
      for (const entry of await listAll(ask)) {
        totals.listed++;
        for (const { uri, digest } of entry.resources) {
          assert.equal(digests.get(uri) ?? digest, digest, `two entries disagree about ${uri}`);
          digests.set(uri, digest);
        }
        if (entry.frontmatter.name === 'swapped') {
          const rounds = new Set(entry.resources.map(({ digest }: Answer) => swaps.get(digest)));
          assert.equal(rounds.size, 1, 'an entry mixes two versions of a skill');
        }
        // A user takes a moment to approve what was listed.
        await new Promise((done) => setTimeout(done, 20));
        const { verified, refused } = await verifyEntry(ask, entry);
        totals.verified += verified;
        totals.refused += refused;
      }
    }
    stop();
    assert.ok(totals.verified > 0 && totals.refused > 0, JSON.stringify(totals));
    t.diagnostic(JSON.stringify(totals));
    // When all is quiet again, everything is listed, read and right.
    await program.call('skills.list', {});
    const entries = await listAll(ask);
    assert.deepEqual(
      entries.map((entry) => entry.frontmatter.name),
      ['calm', 'live', 'inner', 'swapped'],
    );
    for (const entry of entries) assert.equal((await verifyEntry(ask, entry)).refused, 0);
  });
}
