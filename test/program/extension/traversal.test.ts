/** Ways out of a skill by its URIs. None may give a byte from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERAS } from '../../harness/host.ts';
import { startProgram } from '../../harness/program.ts';
import { makeTree, skillText } from '../../harness/tree.ts';

// After `skill://claude/pdf/`; each would reach secret.txt, or another skill's file, if it were followed.
const WAYS = [
  '../secret.txt',
  '../../../secret.txt',
  '..',
  '../',
  './../secret.txt',
  'ref/../../secret.txt',
  'ref/../../other/SKILL.md',
  '..%2fsecret.txt',
  '..%2Fsecret.txt',
  '%2e%2e/secret.txt',
  '%2E%2E/secret.txt',
  '%2e./secret.txt',
  '.%2e/secret.txt',
  '%2e%2e%2fsecret.txt',
  '%2e%2e%5csecret.txt',
  '..%5csecret.txt',
  '..\\secret.txt',
  '..%255csecret.txt',
  '%252e%252e/secret.txt',
  '%252e%252e%252fsecret.txt',
  '..%c0%afsecret.txt',
  '%c0%ae%c0%ae/secret.txt',
  '..%u2215secret.txt',
  '%e0%80%ae%e0%80%ae/secret.txt',
  '..;/secret.txt',
  '..%00/secret.txt',
  'SKILL.md%00/../../secret.txt',
  'ref/..%2f..%2fsecret.txt',
  '//secret.txt',
  '/etc/passwd',
  '%2fetc%2fpasswd',
  'file:///etc/passwd',
  'out.txt',
  'outdir/secret.txt',
  'ref/link/secret.txt',
  'out.txt?x',
  'out.txt#x',
  '.git/config',
  'ref/%2e/../../secret.txt',
  '\u2025/secret.txt',
  '．．/secret.txt',
  `${'a/'.repeat(3000)}x`,
  'x'.repeat(300),
  'ref/.',
  '.',
  '%',
  '%zz',
  '\ud800',
];

test(`${WAYS.length} ways out of a skill are -32602, whichever method is asked, and give nothing from outside`, async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf'),
    '.claude/skills/pdf/ref/a.md': 'inside',
    '.claude/skills/pdf/.git/config': 'SECRET',
    '.claude/skills/other/SKILL.md': skillText('other', 'SECRET'),
    '.claude/skills/secret.txt': 'SECRET',
    '.claude/secret.txt': 'SECRET',
    'secret.txt': 'SECRET',
    'dir/secret.txt': 'SECRET',
  });
  tree.link('.claude/skills/pdf/out.txt', tree.at('secret.txt'));
  tree.link('.claude/skills/pdf/outdir', tree.at('dir'));
  tree.link('.claude/skills/pdf/ref/link', '../../..');
  const program = startProgram(t, { tree });
  for (const [, speak] of ERAS) {
    const ask = speak(program);
    for (const way of WAYS) {
      for (const base of ['skill://claude/pdf/', 'skill://claude/pdf/ref/']) {
        for (const method of ['resources/read', 'resources/directory/read', 'skills/get', 'resources/subscribe']) {
          const answer = await ask(method, { uri: base + way });
          // In the modern era there is nothing to subscribe to by that method.
          const code = answer.error?.code;
          assert.ok(
            code === -32602 || (method === 'resources/subscribe' && code === -32601),
            `${method} ${base}${way}`,
          );
          const { data, ...said } = answer.error;
          assert.doesNotMatch(JSON.stringify([said, answer.result]), /SECRET|root:/, way);
          assert.ok(data === undefined || data.uri === base + way);
        }
      }
    }
    // An unusual spelling of a file that is inside is only that.
    const { result } = await ask('resources/read', { uri: 'skill://claude/pdf/r%65f/%61.md' });
    assert.deepEqual(result.contents, [
      { uri: 'skill://claude/pdf/ref/a.md', mimeType: 'text/markdown', text: 'inside' },
    ]);
  }
});
