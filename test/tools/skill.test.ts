import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileError } from '../../src/files/read.ts';
import type { SkillFiles } from '../../src/model.ts';
import { skillText as textOf } from '../../src/tools/skill.ts';
import { sketch } from '../harness/sketch.ts';
import { openTools } from '../harness/tools.ts';
import { skillText } from '../harness/tree.ts';

test('the answer comes from the snapshot that the call began with: nothing is read on a call, and it is encoded once', async (t) => {
  const { tree, registry, snapshot, outcome } = await openTools(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const before = await outcome('skill', { name: 'pdf' });
  tree.remove('skills/pdf');
  const later = await registry.refresh('test');
  assert.equal(await outcome('skill', { name: 'PDF' }, snapshot), before);
  assert.match(JSON.stringify(await outcome('skill', { name: 'pdf' }, later)), /Skill 'pdf' not found/);
});

test('a skill of an upstream server is read there, and a file fault is a tool failure; a prompt has the same text', async (t) => {
  let fault: Error | undefined;
  const read = async (path: string) => (fault ? Promise.reject(fault) : Buffer.from(`${path} of up`));
  const place = { directory: 'skill://up/deploy', file: 'skill://up/deploy/SKILL.md' };
  const upstream = sketch('up@mcp', 'deploy', { ...place, files: { read } as unknown as SkillFiles });
  const { call, snapshot } = await openTools(t, {}, {}, { skills: [upstream] });
  const load = async () => (await call('skill', { name: 'deploy' })).text;
  const header = `Loading: up:deploy\nBase directory: ${place.directory}\nPath: ${place.file}\nLocation: mcp\nProvider: up`;
  assert.equal(await load(), `${header}\n\nSKILL.md of up`);
  for (const listed of snapshot.names.listed) assert.equal(await textOf(listed), await load());
  fault = new FileError('unreadable', 'up is away');
  assert.equal(await load(), "Skill 'up:deploy' cannot be read: up is away");
  fault = new Error('a fault of ours');
  await assert.rejects(load(), /a fault of ours/);
});

test('the tool is always loaded, and warns once that a client is shown a compact list', async (t) => {
  const { tools, snapshot, lines } = await openTools(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const define = (budget: number) =>
    tools.get('skill')?.define?.(snapshot, { describe: 'auto', budget, spell: (name) => name });
  assert.deepEqual([define(20_000)?._meta, lines], [{ 'anthropic/alwaysLoad': true }, []]);
  for (const budget of [300, 400, 300]) assert.ok(String(define(budget)?.description).length <= budget);
  assert.equal(lines.length, 1);
  assert.match(lines.join(''), /warn: 1 skill in full are over the 300 characters of a client: .* compact list/);
});
