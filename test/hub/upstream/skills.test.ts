import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSkillEntry } from '../../../src/hub/upstream/skill-entries.ts';
import { skillOf } from '../../../src/hub/upstream/skills.ts';
import type { Upstream } from '../../../src/hub/upstream/upstream.ts';

const server = { config: { name: 'up' } } as unknown as Upstream;

test('two skills whose URIs differ in the scheme alone have URIs of their own, whichever of them is listed', () => {
  const directoryOf = (base: string) => {
    const frontmatter = { name: 'two', description: 'x' };
    const entry = parseSkillEntry({ uri: `${base}/SKILL.md`, frontmatter, resources: 'dynamic' });
    return skillOf(server, entry).directory;
  };
  assert.equal(directoryOf('skill://x/two'), 'skill://up/x/two');
  assert.equal(directoryOf('file://x/two'), 'skill://up/file%3A/x/two');
});
