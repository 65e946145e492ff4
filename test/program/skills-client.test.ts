/** The reference host code of the Skills extension, from the official SDK, against our server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PROGRAM } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';
import { startWeb } from '../harness/web.ts';

const ERAS = [
  ['legacy', 'legacy'],
  ['modern', { pin: '2026-07-28' }],
] as const;

async function connect(t: TestContext, transport: Transport, mode: (typeof ERAS)[number][1]): Promise<SkillsClient> {
  const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  t.after(() => client.close());
  return new SkillsClient(client);
}

const TRANSPORTS: readonly (readonly [name: string, open: (t: TestContext, tree: Tree) => Promise<Transport>])[] = [
  [
    'stdio',
    async (_t, tree) =>
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM],
        cwd: tree.path,
        env: { HOME: tree.at('home') },
        stderr: 'ignore',
      }),
  ],
  ['http', async (t, tree) => new StreamableHTTPClientTransport(new URL((await startWeb(t, { tree })).url))],
];

const COMBINATIONS = ERAS.flatMap(([era, mode]) => TRANSPORTS.map(([name, open]) => ({ era, mode, name, open })));

for (const { era, mode, name, open } of COMBINATIONS) {
  test(`the SDK's SkillsClient lists, reads and verifies our skills (${era}, ${name})`, async (t) => {
    const tree = makeTree(t, {
      '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
      '.claude/skills/pdf/references/Q&A ü #1.md': 'answers\n',
      '.claude/skills/pdf/inner/SKILL.md': skillText('inner', 'Inside pdf'),
      '.agents/skills/dates/SKILL.md':
        '---\nname: dates\ndescription: >-\n  Two\n  lines\nreleased: 2026-01-02\nversion: 1.10\nmode: 010\nat: 1:30\nn: [1_000, 0x1F, "5", -3, 2026-01-02]\nmetadata:\n  version: "2"\n  on: yes\n---\nbody\n',
    });
    tree.write('.claude/skills/pdf/logo.bin', Buffer.from([0, 255, 254, 1]));
    const skills = await connect(t, await open(t, tree), mode);
    assert.equal(skills.supported, true);
    assert.equal(skills.directoryRead, true);

    const { skills: entries } = await skills.list();
    assert.deepEqual(
      entries.map(({ uri }) => uri),
      ['skill://agents/dates/SKILL.md', 'skill://claude/pdf/SKILL.md', 'skill://claude/pdf/inner/SKILL.md'],
    );
    for (const entry of entries) {
      assert.deepEqual((await skills.get(entry.uri)).skill, entry);
      assert.ok(Array.isArray(entry.resources));
      for (const { uri } of entry.resources) assert.equal((await skills.read(entry, uri)).verified, true);
    }
    const root = await skills.readDirectory('skill://claude/pdf');
    assert.deepEqual(
      root.resources.map(({ uri, mimeType }) => [uri, mimeType]),
      [
        ['skill://claude/pdf/SKILL.md', 'text/markdown'],
        ['skill://claude/pdf/inner', 'inode/directory'],
        ['skill://claude/pdf/logo.bin', undefined],
        ['skill://claude/pdf/references', 'inode/directory'],
      ],
    );
    await assert.rejects(skills.readDirectory('skill://claude/pdf/SKILL.md'), /-32602|no directory/);
  });
}
