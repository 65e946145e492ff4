import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memorySkillFiles, SkillCatalog } from '@modelcontextprotocol/server/ext/skills';
import { FileError } from '../../src/files/read.ts';
import { MAX_HEAD } from '../../src/limits.ts';
import { bodyOf, cutHead, frontMatterOf, readHead } from '../../src/skills/front-matter.ts';

const BASE = 'name: pdf\ndescription: About PDF files';
const PDF = ['pdf', 'About PDF files'];
const fenced = (block: string, body = '# Body\n') => `---\n${block}\n---\n${body}`;
const described = (value: string) => fenced(`name: pdf\ndescription: ${value}`);

/** Name and description of a usable text, with a star when they were read leniently; or the reason it is unusable. */
function outcome(text: string): readonly string[] {
  const head = readHead(Buffer.from(text));
  if (head.kind === 'unusable') return [head.why];
  return [head.name, head.description, ...(head.lenient === undefined ? [] : ['*'])];
}

const READ: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
  ['a byte order mark', `\ufeff${fenced(BASE)}`, PDF],
  ['CRLF', fenced(BASE).replaceAll('\n', '\r\n'), PDF],
  ['CR alone', fenced(BASE).replaceAll('\n', '\r'), PDF],
  ['blank first lines', `\n  \n\r\n${fenced(BASE)}`, PDF],
  ['a comment first', `<!-- made by hand -->\n${fenced(BASE)}`, PDF],
  ['a code fence around it all', `\`\`\`markdown\n${fenced(BASE)}\`\`\`\n`, PDF],
  ['a long comment, and another fence', `<!--\nCopyright --\n-->\n\n~~~~markdown\n${fenced(BASE)}~~~~\n`, PDF],
  ['blanks after the dashes, and a later line of dashes', `--- \t\n${BASE}\n--- \nname: body\n---\n`, PDF],
  ['keys of other agents', fenced(`${BASE}\nversion: 1.10\nallowed-tools: [Read, Write]\nhooks:\n  a: [1]`), PDF],
  ['lines that are all indented', fenced(BASE.replace(/^/gm, '  ')), PDF],
  ['double quotes', described('"a: \\"b\\" \\u00e9"'), ['pdf', 'a: "b" é']],
  ['a literal block', described('|\n  One: two\n  three'), ['pdf', 'One: two\nthree']],
  ['a folded block', described('>-\n  one\n  two\n\n  three'), ['pdf', 'one two\nthree']],
  ['a comment in the block', fenced('# mine\nname: pdf # really\ndescription: C# #1'), ['pdf', 'C#']],
  ['numbers, as they are written', fenced('name: 0x1F # hex\ndescription: 010'), ['0x1F', '010']],
  ['a bare date', fenced('name: 2026-01-02\ndescription: 2026-01-02 10:00 # x'), ['2026-01-02', '2026-01-02 10:00']],
  ['a bare truth', fenced('name: true\ndescription: yes'), ['true', 'yes']],
  ['invisible characters', fenced('name: "p\\u200bdf\\n x"\ndescription: "a\\u202eb "'), ['pdf x', 'ab']],
  ['keys of every object', fenced(`__proto__: {name: evil}\nconstructor: x\ntoString: x\n${BASE}`), PDF],
  ['an unquoted colon', described('Use when: a PDF'), ['pdf', 'Use when: a PDF', '*']],
  ['a value like a flow list', described('[beta] PDF files'), ['pdf', '[beta] PDF files', '*']],
  ['text and a colon after a bracket', described('[WIP] does: many'), ['pdf', '[WIP] does: many', '*']],
  ['a map in a map', fenced(`${BASE}\nmetadata: { "a": { "b": [x, [y]] } } # z`), PDF],
  ['a fault in another key', fenced(`${BASE}\nargument-hint: [a] [b]`), [...PDF, '*']],
  ['a fault beside a block', fenced('name: pdf\ndescription: |\n  One\n  two\nx: - y'), ['pdf', 'One\ntwo', '*']],
  ['a duplicate key', fenced(`${BASE}\nname: other`), [...PDF, '*']],
  ['merge conflict marks', fenced(`<<<<<<< HEAD\n${BASE}\n=======`), [...PDF, '*']],
  ['quotes inside quotes, as they are written', described('"Say "hi" to PDF"'), ['pdf', '"Say "hi" to PDF"', '*']],
  ['an escape sequence', described('a\u001b[31mb'), ['pdf', 'a[31mb', '*']],
  ['a tag that would run code', described('!!js/function "x"'), ['pdf', '!!js/function "x"', '*']],
];

test('front matter loads as it is in the wild', () => {
  for (const [what, text, expected] of READ) assert.deepEqual(outcome(text), expected, what);
});

const UNUSABLE: readonly (readonly [why: RegExp, ...texts: string[]])[] = [
  [/^there is no front matter$/, '', `# Title --- x\n${fenced(BASE)}`, '---js\n{ name: process.exit() }\n---\n'],
  [/^front matter is not closed$/, `---\n${BASE}\n`],
  [/^name is missing; description is missing$/, '---\n--- \nname: body\n---\n', fenced('__proto__:\n  name: a')],
  [/^name is empty$/, fenced('name: " \\u200b"\ndescription: About')],
  [/^name is missing$/, fenced('name: [pdf]\ndescription: About')],
  [/^description is missing$/, described('~')],
  [/^name has over 1000 characters$/, fenced(`name: ${'x'.repeat(1001)}\ndescription: About`)],
  [/not a mapping/, fenced('- name\n- description')],
  [/no end within/, fenced(`${BASE}\nx: ${'y'.repeat(MAX_HEAD)}`), `---\n${'x: y\n'.repeat(MAX_HEAD)}`],
  [/blanks in a row/, fenced(`${BASE}\nx:${' '.repeat(1000)}y`)],
  // A bracket or a quote without its end.
  [/not valid YAML/, described('[one, [two]'), fenced('name: "a\ndescription: d'), described("'it''s")],
  [/not valid YAML: .*[^:]$/, described('"goes \\" on\nversion: 1'), described('\n  "one: two')],
];

test('front matter that would have to be guessed is refused with a reason', () => {
  for (const [why, ...texts] of UNUSABLE)
    for (const text of texts) assert.match(outcome(text).join(' '), why, text.slice(0, 60));
});

test('the block is found with its line, and the body after it, whatever stands in them', () => {
  const block = 'ü: “→”\n---x: 1\n--- y: 2\n----: 3\n....: 4\n';
  for (const closing of ['---|', '---\n|', '---  \t\n|# Body\n---\n', '...\n|', '---\r\n|\r\nü']) {
    const [end = '', body] = closing.split('|');
    const head = Buffer.from(`\ufeff\n---\n${block}${end}`);
    const bytes = Buffer.from(`${head}${body}`);
    assert.deepEqual(cutHead(bytes), { block, line: 3, end: head.length });
    assert.equal(bodyOf(bytes), body);
  }
  assert.equal(bodyOf(Buffer.from(`---\n${BASE}\n`)), `---\n${BASE}\n`);
});

const DATE = ['2026', '01', '02'].join('-');

/** As YAML 1.2 types them, wherever they stand. */
const SCALARS: readonly (readonly [written: string, value: unknown])[] = [
  ...['190:20:30', '0X1f', '0b11', '1_000', '5 apples', 'yes', DATE].map((text) => [text, text] as const),
  ...Object.entries({ '010': 10, '0o10': 8, '0x1F': 31, '1.10': 1.1, '-.5e-3': -0.0005, '1e3': 1000 }),
  ...Object.entries({ True: true, '~': null, "'010'": '010', '"a: 5, [6], - 7"': 'a: 5, [6], - 7' }),
];

const BLOCKS: readonly (readonly [block: string, expected: unknown])[] = [
  ...SCALARS.flatMap(([written, value]) => [
    [`x: ${written}`, { x: value }] as const,
    [`x:\n  - ${written}\n  - y: ${written} # z`, { x: [value, { y: value }] }] as const,
    [`x: [${written}, {k: ${written}},\n  y]`, { x: [value, { k: value }, 'y'] }] as const,
  ]),
  ['x: |-\n  2026\ny: >\n  1\n  2\n\n  3\nz: "x\n  - 5"', { x: '2026', y: '1 2\n3\n', z: 'x - 5' }],
  ['x: |+\n  kept\n\n', { x: 'kept\n\n\n' }],
  ['x: {"a":1,"b":["2",3],"c":{"d":null}}', { x: { a: 1, b: ['2', 3], c: { d: null } } }],
  [`010: a\nx:\n  0X1f: c\n  "010": d\n  ${DATE}: e`, { 10: 'a', x: { '0X1f': 'c', '010': 'd', [DATE]: 'e' } }],
  ['constructor: 1\ntoString: x', { constructor: 1, toString: 'x' }],
];

test('all fields are given as YAML 1.2 types them, and as the official SDK does', async () => {
  let compared = 0;
  for (const [block, expected] of BLOCKS) {
    const text = `---\nname: a\ndescription: d\n${block}\n---\nbody\n`;
    const fields = frontMatterOf(Buffer.from(text));
    assert.deepEqual(fields, { name: 'a', description: 'd', ...(expected as object) }, block);
    // It does not read every block.
    const { entries } = await SkillCatalog.load(memorySkillFiles({ 'a/SKILL.md': text }));
    for (const { frontmatter } of entries) assert.deepEqual(fields, frontmatter, block);
    compared += entries.length;
  }
  assert.ok(compared > 30, `${compared}`);
});

const many = (count: number, item: (nth: number) => string) => Array.from({ length: count }, (_, nth) => item(nth));
const bomb = (levels: number) =>
  ['a0: &a0 [x]', ...many(levels, (n) => `a${n + 1}: &a${n + 1} [${Array(8).fill(`*a${n}`)}]`)].join('\n');

const REFUSED: readonly (readonly [why: RegExp, ...texts: string[]])[] = [
  [/not a JSON number/, fenced('a: -.INF'), fenced(`a: 1${'0'.repeat(400)}`), fenced('a: 9007199254740993')],
  [/read differently/, ...['a:\n  2026', 'a: !!int 010', `a: &x ${DATE}`, '__proto__: 1'].map((one) => fenced(one))],
  [
    /read differently/,
    fenced('x: &x {a: b}\ny:\n  <<: *x'),
    fenced('a:\n\tb: 1'),
    fenced('? [a]\n: b'),
    fenced('a: !!set {b}'),
  ],
  [/too large or too deep/, fenced('a: &a [*a]'), fenced(`a: ${'['.repeat(40)}${']'.repeat(40)}`)],
  [/too large or too deep/, fenced(`a: &x ${'y'.repeat(8000)}\nb: [${'*x,'.repeat(2500)}]`), fenced(bomb(9))],
  [/as JSON/, fenced('a: b: c')],
  [/three dashes/, `\n${fenced('a: b')}`, '---\na: b\n...\n', '---\ra: b\r---\r'],
];

test('fields that hosts might read differently are refused', () => {
  for (const [why, ...texts] of REFUSED)
    for (const text of texts)
      assert.throws(() => frontMatterOf(Buffer.from(text)), { kind: 'refused', message: why }, text.slice(0, 60));
});

const fill = (text: string) => text.repeat(Math.floor((MAX_HEAD - 100) / text.length));

const SHORT =
  '1,~# x\n~#\n 1~,#~|1 # ~>1~-  ~- -1~:  ~":~[~{a: ~- ~? ~a: ~---x\n~\'~!a ~%YAML 1.2\n~```\n~\u00a0~*x,~ #~0.';
const PIECES = [...SHORT.split('~'), `${' '.repeat(190)}c`, `${'\n'.repeat(190)} c`];

test('hostile front matter costs little, whatever it looks like', () => {
  // Each about as long as a block may be, and made to cost as much as it can.
  const blocks = PIECES.map(fill).flatMap((one) => [one, `a: [${one}]`, `a: |+\n  ${one}`, `name: "${one}`]);
  blocks.push(`a: &a {${many(700, (nth) => `k${nth}: 1`)}}\n${fill('b: {<<: *a}\n').slice(0, 5000)}`);
  blocks.push(`a: !!omap [${many(900, (nth) => `{k${nth}: 1}`)}]`, `${bomb(350)}\n? *a20\n: 1`);
  const around = ['\n', ' \n', '<!--', '<!---->\r', '```a\n', '---', '--- ', '\r'].map((one) => one.repeat(200_000));
  for (const text of [...blocks.map((block) => fenced(block)), ...around]) {
    const start = process.cpuUsage();
    readHead(Buffer.from(text));
    assert.throws(() => {
      if (JSON.stringify(frontMatterOf(Buffer.from(text))).length < 10 * MAX_HEAD) throw new FileError('refused', '');
    }, FileError);
    // Of the processor, which others may be busy with. Some 20 ms; the package alone takes seconds for some of them.
    assert.ok(process.cpuUsage(start).user / 1000 < 300, JSON.stringify(text.slice(0, 60)));
  }
});
