/** The `skill` tool, through the built program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('a skill in a project directory is listed and loads byte for byte', async (t) => {
  const text = skillText('pdf', 'Work with PDF files', '# PDF\n\n\tTabs,  blanks, ünïcödé 🙂\r\n```sh\necho 1\n```');
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': text });
  const program = startProgram(t, { tree });
  await program.handshake();
  assert.match(await program.description(), /<name>pdf<\/name>\n<description>Work with PDF files<\/description>/);
  const directory = tree.at('.claude/skills/pdf');
  const header = `Loading: pdf\nBase directory: ${directory}\nPath: ${directory}/SKILL.md\nLocation: project\nProvider: claude\n\n`;
  assert.equal(await program.skill('PDF'), header + text);
  assert.equal(await program.end(), 0);
  assert.deepEqual(program.noise, []);
});
