import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memorySkillFiles, SkillCatalog } from '@modelcontextprotocol/server/ext/skills';
import { readHead } from '../../src/skills/front-matter.ts';
import { readFrontMatter } from '../../src/skills/front-matter-values.ts';
import { MAX_HEAD } from '../../src/skills/limits.ts';

const DATE = ['2026', '01', '02'].join('-');

async function fieldsOf(yaml: string): Promise<unknown> {
  const reading = await readFrontMatter(Buffer.from(`---\n${yaml}\n---\nbody\n`));
  return reading.kind === 'read' ? reading.fields : reading;
}

const SCALARS: readonly (readonly [written: string, value: unknown])[] = [
  [DATE, DATE],
  [`${DATE}T10:00:00Z`, `${DATE}T10:00:00Z`],
  ['1:30', '1:30'],
  ['190:20:30', '190:20:30'],
  ['010', 10],
  ['0o10', 8],
  ['0x1F', 31],
  ['0X1f', '0X1f'],
  ['0O17', '0O17'],
  ['0b11', '0b11'],
  ['1_000', '1_000'],
  ['1.10', 1.1],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5e-3', -0.0005],
  ['+12', 12],
  ['-3', -3],
  ['1e3', 1000],
  ['1.2.3', '1.2.3'],
  ['5 apples', '5 apples'],
  ['"5"', '5'],
  ["'010'", '010'],
  [`"${DATE}"`, DATE],
  ['true', true],
  ['True', true],
  ['yes', 'yes'],
  ['off', 'off'],
  ['null', null],
  ['~', null],
  ['', null],
  ['- 5', undefined],
  ['12 # twelve', 12],
  ['"a: 5, [6], - 7"', 'a: 5, [6], - 7'],
  ['text - 5, 6', 'text - 5, 6'],
  ['v1', 'v1'],
];

for (const [written, value] of SCALARS.filter(([, value]) => value !== undefined)) {
  test(`the scalar ${JSON.stringify(written)} is ${JSON.stringify(value)}, wherever it stands`, async () => {
    assert.deepEqual(await fieldsOf(`a: ${written}`), { a: value });
    assert.deepEqual(await fieldsOf(`a:\n  b: ${written}\nc: d`), { a: { b: value }, c: 'd' });
    assert.deepEqual(await fieldsOf(`a:\n  - ${written}\n  - x`), { a: [value, 'x'] });
    if (written === '' || written.includes('#')) return;
    assert.deepEqual(
      await fieldsOf(`a: [${written}, {k: ${written}}]`.replace(/, 6, /, ', ')),
      expectFlow(written, value),
    );
  });
}

/** A comma parts values in a flow, so that only scalars without one can stand there. */
function expectFlow(written: string, value: unknown): unknown {
  if (!written.includes(',') || written.startsWith('"')) return { a: [value, { k: value }] };
  return { a: ['text - 5', { k: 'text - 5', 6: null }] };
}

test('text in blocks and quotes keeps every character, numbers included', async () => {
  const yaml = 'a: |-\n  2026\nb: >\n  1\n  2\n\n  3\nc: "x\n  - 5"\nd: |\n  - 1\n  k: 2\n';
  assert.deepEqual(await fieldsOf(yaml), { a: '2026', b: '1 2\n3\n', c: 'x - 5', d: '- 1\nk: 2\n' });
});

test('a list or map in brackets may go over several lines, comments among them', async () => {
  assert.deepEqual(await fieldsOf('a: [\n  1,\n  "2", 3\n]'), { a: [1, '2', 3] });
  assert.deepEqual(await fieldsOf('a: [ # some\n  1, # one\n\n  # two\n  010\n]'), { a: [1, 10] });
  assert.deepEqual(await fieldsOf(`a: {\n  k: 1,\n  5: ${DATE},\n  .5: x }\nb: 2`), {
    a: { k: 1, 5: DATE, '0.5': 'x' },
    b: 2,
  });
  assert.deepEqual(await fieldsOf('a: x,\n  5\nb: "[\n  5"\nc: |- # text,\n  5'), { a: 'x, 5', b: '[ 5', c: '5' });
});

test('a block whose every line is indented is read like any other', async () => {
  assert.deepEqual(await fieldsOf('  a: 1\n  b: |\n    x'), { a: 1, b: 'x\n' });
});

test('JSON in front matter is read as JSON', async () => {
  assert.deepEqual(await fieldsOf('metadata: {"a":1,"b":["2",3],"c":{"d":null},"e":true}'), {
    metadata: { a: 1, b: ['2', 3], c: { d: null }, e: true },
  });
});

test('keys named like members of every object are keys like any other', async () => {
  const fields = await fieldsOf('constructor: 1\ntoString: x\nhasOwnProperty: y');
  assert.equal(JSON.stringify(fields), '{"constructor":1,"toString":"x","hasOwnProperty":"y"}');
});

const UNFIT: readonly (readonly [why: RegExp, yaml: string])[] = [
  [/not a JSON number/, 'a: .inf'],
  [/not a JSON number/, 'a: -.INF'],
  [/not a JSON number/, 'a: .nan'],
  [/not a JSON number/, `a: 1${'0'.repeat(400)}`],
  [/read differently/, 'a:\n  2026'],
  [/read differently/, 'a: !!int 010'],
  [/read differently/, `a: &x\n  ${DATE}`],
  [/"__proto__"/, '__proto__: 1'],
  [/merges keys|differently|too/, 'x: &x {a: b}\ny:\n  "<<": *x'],
  [/tab/, 'a:\n\tb: 1'],
  [/too large or too deep/, 'a: &a [*a]'],
  [/too large or too deep/, `a: ${'['.repeat(40)}${']'.repeat(40)}`],
  [/cannot be given as JSON/, 'a: b: c'],
  [/cannot be given as JSON/, 'a: 1\na: 2'],
];

for (const [why, yaml] of UNFIT) {
  test(`front matter that cannot be given faithfully is refused: ${JSON.stringify(yaml).slice(0, 50)}`, async () => {
    const reading = await readFrontMatter(Buffer.from(`---\n${yaml}\n---\n`));
    assert.equal(reading.kind, 'unfit');
    assert.match(reading.kind === 'unfit' ? reading.why : '', why);
  });
}

test('a small block of aliases cannot become a huge value', async () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let n = 1; n < 9; n++)
    lines.push(
      `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(', ')}]`,
    );
  assert.equal((await readFrontMatter(Buffer.from(`---\n${lines.join('\n')}\n---\n`))).kind, 'unfit');
});

test('the block must stand where verifying hosts look for it', async () => {
  const kinds = [
    '\n---\na: b\n---\n',
    '---\na: b\n...\n',
    '---\ra: b\r---\r',
    'a: b\n---\n',
    '---\na: b\n',
    '--- \na: b\n---\n',
  ];
  for (const text of kinds)
    assert.equal((await readFrontMatter(Buffer.from(text))).kind, 'unfit', JSON.stringify(text));
  for (const text of ['---\na: b\n---\n', '\ufeff---\na: b\n---', '---\r\na: b\r\n--- \r\nx']) {
    assert.deepEqual(
      await readFrontMatter(Buffer.from(text)),
      { kind: 'read', fields: { a: 'b' } },
      JSON.stringify(text),
    );
  }
});

test('we read front matter as the official SDK does', async () => {
  const blocks = [
    ...SCALARS.filter(([, value]) => value !== undefined).flatMap(([written]) => [
      `x: ${written}`,
      `x:\n  - ${written}`,
      `x:\n  y: ${written}`,
    ]),
    'x: [1, "2", 3.50, true, null, a b]',
    "x: {a: 1, 'b': two}",
    'x: >-\n  folded\n  text\n\n  more',
    'x: |+\n  kept\n\n',
    'x: |\n  clipped\n\n',
    'x: plain\n  goes on\n  here',
    '# comment\nx: 1 # one',
    'x: "\\u00e9 \\t \\x41"',
    'x:\n- 1\n- 2',
    'x:\n  - a: 1\n    b: 2\n  - - 3',
    `0X1f: a\n12:30: b\n1_0: c\n"011": d\n${DATE}: e\nx: {0X1f: a, 1_0 : b, "013": c}`,
    'x: |-\n  010: a\ny: |-\n  5:\nz: >-\n  7: b\n  8: c',
  ];
  for (const block of blocks) {
    const text = `---\nname: a\ndescription: d\n${block}\n---\nbody\n`;
    const catalog = await SkillCatalog.load(memorySkillFiles({ 'a/SKILL.md': text }));
    const theirs = catalog.entries.map(({ frontmatter }) => frontmatter);
    const ours = await readFrontMatter(Buffer.from(text));
    assert.deepEqual([ours.kind === 'read' ? ours.fields : ours], theirs, block);
  }
});

const fill = (text: string) => text.repeat(Math.floor((MAX_HEAD - 100) / text.length));
const lines = (count: number, line: (nth: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const bomb = (levels: number) =>
  `a0: &a0 [x, x, x, x, x, x, x, x]\n${lines(levels, (n) => `a${n + 1}: &a${n + 1} [${Array(8).fill(`*a${n}`).join(',')}]`)}`;

/** Each about as long as a block may be, and made to cost as much as it can. */
const HOSTILE: Readonly<Record<string, string>> = {
  'numbers behind commas': `a: [${fill('1,')}]`,
  'numbers behind blank lines': `a: [${fill(`1,${'\n'.repeat(900)}`)}]`,
  'numbers behind comments': `a: [\n${fill('# x\n')}1]`,
  'comments in comments': `a: [\n${fill('#')}\n1]`,
  'commas and comments': fill(',#'),
  'commas, comments and a line separator': `${fill(',#')}\u2028`,
  'comments that open nothing': fill('#\n 1'),
  'comments of block texts': fill('|1 # '),
  'block marks': fill('|'),
  'block marks and digits': `${fill('>1')} `,
  'dashes and blanks': fill('-  '),
  'dashes and numbers': fill('- -1'),
  'colons and blanks': fill(':  '),
  'quotes and colons': fill('":'),
  digits: `a: ${fill('1')}`,
  underscores: `a: ${fill('1_')}`,
  'base sixty': `a: ${fill('1:1')}.`,
  'a fraction of a second': `a: 2001-01-01t00:00:00.${fill('0')}`,
  'blanks in runs': `a: b${fill(`${' '.repeat(990)}c`)}`,
  'wide blanks': `a: b${fill('\u3000')}c`,
  'hard blanks': `a: b${fill('\u00a0')}c`,
  'blank lines': `a: b${fill(`${'\n'.repeat(990)} c`)}`,
  'line breaks in brackets': `a: [${fill('\n'.repeat(990).concat('x,'))}]`,
  tabs: `a: b${fill('\t'.repeat(900).concat('\n '))}`,
  'open brackets': `a: ${fill('[')}`,
  'open braces': `a: ${fill('{a: ')}`,
  'brackets in brackets': `a: ${'['.repeat(16_000)}${']'.repeat(16_000)}`,
  'lists in lists': `a:\n  ${fill('- ')}`,
  'keys in keys': fill('? '),
  'lists in keys': fill('? - '),
  'deep maps': lines(240, (n) => `${' '.repeat(n)}a:`),
  'a long key': `${fill('a')}: 1`,
  'many keys': lines(3500, (n) => `k${n}:`),
  'many colons': fill('a: '),
  'an open quote': `a: "${fill('b\n ')}`,
  'an open quote of escapes': `a: "${fill('\\')}`,
  quotes: fill("'"),
  'two quotes far apart': `name: "${fill('x" ')}`,
  anchors: lines(2000, (n) => `a${n}: &x${n} 1`),
  aliases: `a: &x 1\nb: [${fill('*x,')}]`,
  'aliases of a long text': `a: &x ${'y'.repeat(16_000)}\nb: [${'*x,'.repeat(5000)}]`,
  'aliases of aliases': bomb(700),
  'aliases of aliases as a key': `${bomb(20)}\n? *a20\n: 1`,
  merges: `a: &a {${lines(1500, (n) => `k${n}: 1,`).replaceAll('\n', ' ')}}\n${lines(900, (n) => `b${n}: {<<: *a}`)}`,
  tags: fill('!a '),
  'a long tag': `a: !<${fill('a')}> x`,
  'ordered maps': `a: !!omap [${lines(1800, (n) => `{k${n}: 1},`).replaceAll('\n', ' ')}]`,
  'base 64': `a: !!binary ${fill('ab==')}`,
  directives: fill('%YAML 1.2\n'),
  'fences that are none': fill('---x\n'),
  'code fences': fill('```\n'),
  'folded text': `a: >\n${fill('  b\n\n   c\n')}`,
  'kept breaks': `a: |+\n${fill('>+')}`,
};

// Of the processor, which others may be busy with. A block takes a few milliseconds; an expression of quadratic cost
// would take seconds.
const BOUND_MS = 1000;

for (const [what, block] of Object.entries(HOSTILE)) {
  test(`a block of hostile front matter costs little: ${what} (10.3)`, async () => {
    const texts = [`---\n${block}\n---\n`, `---\nname: a\ndescription: d\n${block}\n---\n`];
    for (const text of [...texts, ...texts.map((one) => one.replaceAll('\n', '\r\n'))]) {
      const start = process.cpuUsage();
      await readHead(Buffer.from(text));
      const reading = await readFrontMatter(Buffer.from(text));
      const took = process.cpuUsage(start).user / 1000;
      assert.ok(took < BOUND_MS, `${Math.round(took)} ms`);
      const size = JSON.stringify(reading).length;
      assert.ok(size < 10 * MAX_HEAD, `${size} characters came of it`);
    }
  });
}

test('text around front matter costs little however it looks (10.3)', async () => {
  const starts = ['\n', ' \n', '<!--', '<!-- -->', '<!-- -->\n', '```a\n', '\ufeff', '---', '--- ', '-', '\r', '```'];
  for (const piece of starts) {
    for (const end of ['', '\n---\n', '\n---\nname: a\n---\n']) {
      const start = process.cpuUsage();
      await readHead(Buffer.from(piece.repeat(1_000_000 / piece.length) + end));
      await readHead(Buffer.from(`---\n${piece.repeat(1_000_000 / piece.length)}${end}`));
      assert.ok(process.cpuUsage(start).user / 1000 < BOUND_MS, JSON.stringify([piece, end]));
    }
  }
});

test('a bare number is a key by its value, typed as YAML 1.2 types it (11.11)', async () => {
  assert.deepEqual(await fieldsOf('010: a\nx:\n  0x1f: b\n  0X1f: c\n  "010": d'), {
    10: 'a',
    x: { 31: 'b', '0X1f': 'c', '010': 'd' },
  });
});
