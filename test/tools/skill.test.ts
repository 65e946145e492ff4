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

test("a plugin's skill names its plugin; one of an upstream server is read there, and a file fault is a tool failure", async (t) => {
  const plugin = sketch('office@market', 'pdf', { bytes: Buffer.from('PDF') });
  let fault: Error | undefined;
  const read = async (path: string) => (fault ? Promise.reject(fault) : Buffer.from(`${path} of up`));
  const place = { directory: 'skill://up/deploy', file: 'skill://up/deploy/SKILL.md', server: 'up' };
  const upstream = sketch('up@mcp', 'deploy', { ...place, files: { read } as unknown as SkillFiles });
  const { call, snapshot } = await openTools(t, {}, {}, { skills: [plugin, upstream] });
  const load = async (name: string) => (await call('skill', { name })).text;
  assert.match(
    await load('pdf'),
    /^Loading: office:pdf\n.*\n.*\nLocation: plugin\nProvider: claude\nPlugin: office@market\n\nPDF$/,
  );
  const header = `Loading: up:deploy\nBase directory: ${place.directory}\nPath: ${place.file}\nLocation: mcp\nProvider: up`;
  assert.equal(await load('deploy'), `${header}\n\nSKILL.md of up`);
  for (const listed of snapshot.names.listed) assert.equal(await textOf(listed), await load(listed.id));
  fault = new FileError('unreadable', 'up is away');
  assert.equal(await load('deploy'), "Skill 'up:deploy' cannot be read: up is away");
  fault = new Error('a fault of ours');
  await assert.rejects(load('deploy'), /a fault of ours/);
});

test('the definition lists the skills, is always loaded, and too small a budget is warned of once', async (t) => {
  const { tools, snapshot, lines } = await openTools(t, { 'skills/pdf/SKILL.md': skillText('pdf', 'Works on PDF') });
  const define = (budget: number) =>
    tools.get('skill')?.define?.(snapshot, { describe: 'auto', budget, spell: (name) => name });
  const whole = define(20_000);
  assert.deepEqual([whole?.title, whole?._meta, lines], ['Load Skill', { 'anthropic/alwaysLoad': true }, []]);
  assert.match(
    String(whole?.description),
    /<name>pdf<\/name>\n<description>Works on PDF<\/description>\n<location>custom</,
  );
  for (const budget of [300, 400, 300]) assert.ok(String(define(budget)?.description).length <= budget);
  assert.equal(lines.length, 1);
  assert.match(
    lines.join(''),
    /warn: 1 skill in full are over the 300 characters of a client: it is shown a compact list/,
  );
});
