import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import type { SkillFiles } from '../../src/model.ts';
import { sketch } from '../harness/sketch.ts';
import { openTools } from '../harness/tools.ts';
import { skillText } from '../harness/tree.ts';

const OUTSIDE = 'cannot be read: it is not a path inside the skill';
const PATHS: readonly (readonly [path: string, fault: string])[] = [
  ['nothing.md', 'does not exist. The skill contains: SKILL.md, logo.bin, references/.'],
  ['references/x', 'does not exist. "references" contains: forms.md.'],
  ['no/such/file', 'does not exist. The skill contains: SKILL.md, logo.bin, references/.'],
  ['references/', 'is a directory. "references" contains: forms.md.'],
  ['references', 'is a directory. "references" contains: forms.md.'],
  ['../other/SKILL.md', OUTSIDE],
  ['/etc/passwd', OUTSIDE],
  ['a//b', OUTSIDE],
  ['out', 'cannot be read: it leads out of its directory'],
];

test('a file is given as it is; a path that leads nowhere is answered with what is there', async (t) => {
  const { tree, call } = await openTools(t, {
    'skills/pdf/SKILL.md': skillText('pdf'),
    'skills/pdf/references/forms.md': '# Forms\r\n',
    'skills/other/SKILL.md': skillText('other'),
  });
  tree.write('skills/pdf/logo.bin', Buffer.from([0x89, 0x50, 0xff]));
  tree.link('skills/pdf/out', '../other/SKILL.md');
  for (const path of ['references/forms.md', './references/forms.md'])
    assert.equal((await call('skills.read', { name: 'PDF', path })).text, '# Forms\r\n');
  for (const [path, fault] of PATHS) {
    const { isError, text } = await call('skills.read', { name: 'pdf', path });
    assert.deepEqual([isError, text], [true, `"${path}" of skill 'pdf' ${fault}`]);
  }
  const { content } = await call('skills.read', { name: 'pdf', path: 'logo.bin' });
  const resource = { uri: 'skill://custom/pdf/logo.bin', mimeType: 'application/octet-stream', blob: 'iVD/' };
  assert.deepEqual(content, [{ type: 'resource', resource }]);
});

test('what the system cannot read is a failure with its message, and is logged', async (t) => {
  const read = () => Promise.reject(new FileError('unreadable', 'EACCES: permission denied'));
  const skills = [sketch('claude', 'pdf', { files: { read } as unknown as SkillFiles })];
  const { call, lines } = await openTools(t, {}, {}, { skills });
  const { isError, text } = await call('skills.read', { name: 'pdf', path: 'a' });
  assert.deepEqual([isError, text], [true, `"a" of skill 'pdf' cannot be read: EACCES: permission denied`]);
  assert.match(lines.join(''), /error: cannot read a in \/r\/\d+: Error: EACCES/);
});
