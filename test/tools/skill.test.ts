import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { SKILL_INPUT } from '../../src/tools/skill.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const INPUTS: readonly (readonly [json: string, good: boolean])[] = [
  ['{"name":"pdf"}', true],
  ['{"name":" pdf "}', true],
  ['{"name":"two words"}', true],
  ['{"name":"用户 🙂"}', true],
  ['{"name":"\\ud800"}', true],
  ['{"name":"\\u0000"}', true],
  ['{"name":"__proto__"}', true],
  ['{}', false],
  ['{"name":""}', false],
  ['{"name":" \\t\\n"}', false],
  ['{"name":"\\u00a0\\u2003\\ufeff"}', false],
  ['{"name":7}', false],
  ['{"name":true}', false],
  ['{"name":null}', false],
  ['{"name":["pdf"]}', false],
  ['{"name":{"name":"pdf"}}', false],
  ['{"Name":"pdf"}', false],
  ['{"name":"pdf","page":1}', false],
  ['{"name":"pdf","command":"pdf"}', false],
  ['{"name":"pdf","__proto__":{}}', false],
  ['{"__proto__":{"name":"pdf"}}', false],
  ['null', false],
  ['"pdf"', false],
  ['["pdf"]', false],
  ['[]', false],
  ['7', false],
];

test('the JSON Schema that clients see and the schema that is applied agree', () => {
  const seen = new Ajv2020({ strict: true }).compile(SKILL_INPUT.schema);
  for (const [json, good] of INPUTS) {
    assert.equal(seen(JSON.parse(json)), good, `clients: ${json}`);
    assert.equal(v.safeParse(SKILL_INPUT.check(), JSON.parse(json)).success, good, `server: ${json}`);
  }
});

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
