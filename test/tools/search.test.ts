import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTools } from '../harness/tools.ts';
import { skillText } from '../harness/tree.ts';

test('the text names the best hits, each with its excerpt', async (t) => {
  const files = {
    'skills/a/SKILL.md': skillText('merge', 'Joins PDF files', 'First turn the pages.\n'),
    'skills/b/SKILL.md': skillText('pdf', 'Fills forms', 'Look at all pages of it.\n'),
  };
  const { call } = await openTools(t, files);
  const { text } = await call('skills.search', { query: 'Pages pdf', limit: 1 });
  assert.equal(text, '2 skills for "Pages pdf"; the best 1\n- pdf: Fills forms\n  … Look at all pages of it. …');
  assert.equal((await call('skills.search', { query: 'pages nothing' })).text, '0 skills for "pages nothing"');
});
