import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { checkText, type Finding } from '../../src/cli/check.ts';
import { runCommand, startProgram, WITHOUT_PRIVILEGE } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

/** Front matter with these lines after a good name and description. */
const head = (...lines: readonly string[]) => `---\n${['name: pdf', 'description: x', ...lines].join('\n')}\n---\n`;
const named = (name: string) => `---\nname: ${name}\ndescription: x\n---\n`;
const about = (description: string) => `---\nname: pdf\ndescription: ${description}\n---\n`;
const BAD_NAME = 'is not 1 to 64 lower-case letters, digits and single hyphens';
const OTHER_NAME = 'differs from its directory "pdf"';
const NO_KEY = 'warning: the specification has no key';
const OWN_KEY = 'keys of your own belong below metadata';
const NOT_ENCLOSED =
  'its front matter is not enclosed in two lines of three dashes, so the skill is left out of skills/list';
const NOT_TEXT = 'error: license is not text; put it in quotes';
const NOT_FIRST = '1 error: front matter does not begin in the first line';
const LENIENT =
  'error: front matter is not valid YAML: …; name and description were read leniently; a text with a colon or a quote in it needs quotes around it';

const TEXTS: readonly (readonly [name: string, text: string | Buffer, ...findings: readonly string[]])[] = [
  ['a good file', head()],
  ['every key there is', head('license: M', 'compatibility: x', 'allowed-tools: A', 'metadata: { v: "1" }')],
  ['keys of well-known hosts', head('argument-hint: "[file]"', 'disable-model-invocation: true', 'model: x')],
  ['CRLF and a block scalar', '---\r\nname: pdf\r\ndescription: |\r\n  two\r\n  lines\r\n---\r\n'],
  ['no front matter', '# pdf\n', '1 error: there is no front matter'],
  ['front matter without an end', '---\nname: pdf\n', '1 error: front matter is not closed'],
  ['no description', '---\nname: pdf\n---\n', '2 error: description is missing'],
  ['an empty name', named('""'), '2 error: name is empty'],
  ['a list', '---\n- a\n---\n', '2 error: front matter is not valid YAML: it is not a mapping'],
  ['a byte order mark', `\ufeff${head()}`, '1 error: it begins with a byte order mark'],
  ['blanks', `\n\n${head()}`, NOT_FIRST, `4 warning: ${NOT_ENCLOSED}`],
  ['a colon', about('use: this'), `3 ${LENIENT}`],
  ['a colon below a comment', `<!-- note -->\n${about('use: this')}`, NOT_FIRST, `4 ${LENIENT}`],
  ['bytes that are not UTF-8', Buffer.from(`${head()}\xe9`, 'latin1'), '1 error: it is not UTF-8'],
  ['a key that nobody knows', head('author: me'), `4 ${NO_KEY} "author"; ${OWN_KEY}`],
  ['a misspelt key', head('licence: MIT'), `4 ${NO_KEY} "licence"; did you mean license?`],
  ['capitals', named('My Skill'), `2 error: name "My Skill" ${BAD_NAME}`, `2 error: name "My Skill" ${OTHER_NAME}`],
  ['another name', '---\ndescription: x\nname: doc\n---\n', `3 error: name "doc" ${OTHER_NAME}`],
  ['a number', named('1'), '2 error: name is not text; put it in quotes', `2 error: name "1" ${OTHER_NAME}`],
  ['a description of 1,024 characters', about('é'.repeat(1024))],
  ['one of 1,025', about('é'.repeat(1025)), '3 error: description has 1025 characters, over 1024'],
  ['hidden text', about('a\u200bb'), '3 error: description has invisible characters, which are left out'],
  ['502 characters', head(`compatibility: ${'x'.repeat(502)}`), '4 error: compatibility has 502 characters, over 500'],
  ['no characters', head('compatibility: ""'), '4 error: compatibility is empty'],
  ['a list of tools', head('allowed-tools: [A]'), '4 error: allowed-tools is not one text with spaces between tools'],
  ['a number', head('metadata:', '  v: 1'), '4 error: metadata is not a map of texts; put numbers in quotes'],
  ['the order of lines', head('a: 1', 'license: 2'), `4 ${NO_KEY} "a"; ${OWN_KEY}`, `5 ${NOT_TEXT}`],
];
/** As it is printed; what the YAML parser says apart. */
const shown = ({ line, level, message }: Finding) =>
  `${line} ${level}: ${message.replace(/(?<=YAML: ).*(?=; name and)/, '…')}`;
for (const [name, text, ...findings] of TEXTS)
  test(`the text of a SKILL.md: ${name}`, () =>
    assert.deepEqual(checkText(Buffer.from(text), 'pdf').map(shown), findings));

test('files are reported as FILE:LINE: what, each once, and errors alone fail', (t) => {
  const tree = makeTree(t, {
    'a/good/SKILL.md': skillText('good'),
    'a/low/skill.md': skillText('low'),
    'a/.git/x/SKILL.md': 'not looked at',
    'b/1/2/3/4/5/6/7/8/9/deep/SKILL.md': 'x',
    'c/readme.md': 'x',
  });
  tree.link('links/good', tree.at('a/good'));
  tree.link('links/all', tree.at('a'));
  tree.link('a/nowhere/SKILL.md', tree.at('gone'));
  const run = (...words: readonly string[]) => {
    const { status, stdout } = runCommand(tree, ['check', ...words]);
    return [status, ...stdout.trimEnd().split('\n')];
  };
  const low = 'a/low/skill.md:1: warning: many clients look for SKILL.md, in capitals, and overlook this file';
  const deep = 'b/1/2/3/4/5/6/7/8/9/deep/SKILL.md:1: error: there is no front matter';
  const none = `c:1: error: there is no SKILL.md in or below it`;
  const nowhere = `a/nowhere/SKILL.md:1: error: ENOENT: no such file or directory, open '${tree.at('a/nowhere/SKILL.md')}'`;
  assert.deepEqual(run(), [1, low, nowhere, deep, '4 files checked: 2 errors, 1 warning']);
  tree.remove('a/nowhere');
  assert.deepEqual(run('a', 'a/good/SKILL.md', 'links'), [0, low, '2 files checked: 0 errors, 1 warning']);
  assert.deepEqual(run('b', 'c'), [1, none, deep, '1 file checked: 2 errors, 0 warnings']);
  const { stdout } = runCommand(tree, ['check', 'b', '--json']);
  const finding = { file: deep.split(':')[0], line: 1, level: 'error', message: 'there is no front matter' };
  assert.deepEqual(JSON.parse(stdout), { version: 1, files: 1, errors: 1, warnings: 0, findings: [finding] });
});

test('a path that cannot be checked is a usage error, a directory that cannot be read a finding', async (t) => {
  const tree = makeTree(t, { 'x.md': 'x', 'a/pdf/SKILL.md': skillText('pdf'), 'a/shut/pdf/SKILL.md': 'x' });
  const mistakes = {
    '': 'a path is empty',
    no: 'no does not exist',
    'x.md': 'x.md is neither a directory nor a SKILL.md',
  };
  for (const [word, why] of Object.entries(mistakes))
    assert.equal(runCommand(tree, ['check', word]).stderr, `skillwire: ${why} (see --help)\n`);
  chmodSync(tree.at('a/shut'), 0);
  const program = startProgram(t, { tree, args: ['check', 'a'], through: WITHOUT_PRIVILEGE });
  const code = await program.exit();
  chmodSync(tree.at('a/shut'), 0o700);
  assert.equal(code, 1);
  assert.match(program.noise.join('\n'), /^a\/shut:1: error: EACCES: .*\n2 files checked: 1 error, 0 warnings$/);
});
