import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, cutHead, readHead, readPlainHead } from '../../src/skills/front-matter.ts';
import { readYamlHead } from '../../src/skills/front-matter-yaml.ts';
import { MAX_HEAD } from '../../src/skills/limits.ts';

const BASE = 'name: pdf\ndescription: About PDF files';
const fenced = (block: string, body = '# Body\n') => `---\n${block}\n---\n${body}`;

/** Name and description of a usable text, with a star when they were read leniently; or the reason it is unusable. */
async function outcome(text: string): Promise<readonly string[]> {
  const reading = await readHead(Buffer.from(text));
  if (reading.kind === 'unusable') return [reading.why];
  const { name, description, note } = reading;
  return [name, description, ...(note === undefined ? [] : ['*'])];
}

const PDF = ['pdf', 'About PDF files'];

const READ: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
  ['plain', fenced(BASE), PDF],
  ['a byte order mark', `\ufeff${fenced(BASE)}`, PDF],
  ['CRLF', fenced(BASE).replaceAll('\n', '\r\n'), PDF],
  ['CR alone', fenced(BASE).replaceAll('\n', '\r'), PDF],
  ['blank first lines', `\n  \n\r\n${fenced(BASE)}`, PDF],
  ['a comment first', `<!-- made by hand -->\n${fenced(BASE)}`, PDF],
  ['a code fence around it all', `\`\`\`markdown\n${fenced(BASE)}\`\`\`\n`, PDF],
  ['blanks after the dashes', `--- \t\n${BASE}\n---  \n`, PDF],
  ['blanks after the closing dashes, and a later line of dashes', `---\n${BASE}\n--- \nname: body\n---\n`, PDF],
  ['nothing before dashes with blanks', '---\n--- \nname: body\n---\n', ['name is missing; description is missing']],
  ['no line after the closing dashes', `---\n${BASE}\n---`, PDF],
  ['closed by dots', `---\n${BASE}\n...\n`, PDF],
  ['keys of other agents', fenced(`${BASE}\nversion: 1.10\nallowed-tools: [Read, Write]\nhooks:\n  a: [1]`), PDF],
  ['blanks around values', fenced('name:   pdf  \ndescription:  About PDF files \t'), PDF],
  ['lines that are all indented', fenced(BASE.replace(/^/gm, '  ')), PDF],
  ['double quotes', fenced('name: "pdf"\ndescription: "a: \\"b\\" \\u00e9"'), ['pdf', 'a: "b" é']],
  ['single quotes', fenced("name: 'pdf'\ndescription: 'it''s: fine'"), ['pdf', "it's: fine"]],
  ['a literal block', fenced('name: pdf\ndescription: |\n  One: two\n  three'), ['pdf', 'One: two\nthree']],
  ['a folded block', fenced('name: pdf\ndescription: >-\n  one\n  two\n\n  three'), ['pdf', 'one two\nthree']],
  ['a value over two lines', fenced('name: pdf\ndescription: one\n  two'), ['pdf', 'one two']],
  ['a comment in the block', fenced('# mine\nname: pdf # really\ndescription: C# #1'), ['pdf', 'C#']],
  ['a URL with colons', fenced('name: pdf\ndescription: see http://x:80/a:b'), ['pdf', 'see http://x:80/a:b']],
  ['a bare number', fenced('name: 123\ndescription: 1.10'), ['123', '1.10']],
  ['a number that YAML would change', fenced('name: 0x1F # hex\ndescription: 010'), ['0x1F', '010']],
  ['a base-60 number', fenced('name: pdf\ndescription: 1:30'), ['pdf', '1:30']],
  [
    'a bare date',
    fenced('name: 2026-01-02\ndescription: 2026-01-02 10:00:00 # when'),
    ['2026-01-02', '2026-01-02 10:00:00'],
  ],
  ['a bare truth', fenced('name: True\ndescription: yes'), ['True', 'yes']],
  ['other scripts', fenced('name: 用户\ndescription: 用户的全局技能,必读!'), ['用户', '用户的全局技能,必读!']],
  ['an unquoted colon', fenced('name: pdf\ndescription: Use when: a PDF'), ['pdf', 'Use when: a PDF', '*']],
  ['a value like a flow list', fenced('name: pdf\ndescription: [beta] PDF files'), ['pdf', '[beta] PDF files', '*']],
  ['a value like an alias', fenced('name: pdf\ndescription: *all* PDF files'), ['pdf', '*all* PDF files', '*']],
  ['a value with a backtick', fenced('name: pdf\ndescription: `pdf` files'), ['pdf', '`pdf` files', '*']],
  ['a fault in another key', fenced(`${BASE}\nargument-hint: [a] [b]`), [...PDF, '*']],
  ['a fault beside a block', fenced('name: pdf\ndescription: |\n  One\n  two\nx: - y'), ['pdf', 'One\ntwo', '*']],
  ['a duplicate key', fenced(`${BASE}\nname: other`), [...PDF, '*']],
  ['merge conflict marks', fenced(`<<<<<<< HEAD\n${BASE}\n=======`), [...PDF, '*']],
  ['a first line made a heading', fenced('## name: pdf\ndescription: About PDF files\n\n# Title\nText'), [...PDF, '*']],
  ['text after quotes', fenced('name: pdf\ndescription: "PDF" files'), ['pdf', '"PDF" files', '*']],
  ['two quoted parts', fenced('name: pdf\ndescription: "a" and "b"'), ['pdf', '"a" and "b"', '*']],
  ['quotes inside quotes', fenced('name: pdf\ndescription: "Say "hi" to PDF"'), ['pdf', 'Say "hi" to PDF', '*']],
  ['an apostrophe in single quotes', fenced("name: pdf\ndescription: 'it's a PDF'"), ['pdf', "it's a PDF", '*']],
  ['an escape sequence', fenced('name: pdf\ndescription: a\u001b[31mb'), ['pdf', 'a[31mb', '*']],
  ['a later pair of dashes', `${fenced(BASE)}\n---\nname: other\n---\n`, PDF],
];

for (const [what, text, expected] of READ) {
  test(`front matter loads: ${what}`, async () => assert.deepEqual(await outcome(text), expected));
}

const UNUSABLE: readonly (readonly [what: string, text: string, why: RegExp])[] = [
  ['nothing at all', '', /no front matter/],
  ['a heading first', `# Title\n\n${fenced(BASE)}`, /no front matter/],
  ['dashes inside a heading', `# Title --- x\n${fenced(BASE)}`, /no front matter/],
  ['four dashes', `----\n${BASE}\n---\n`, /no front matter/],
  ['another language', `---js\n{ name: process.exit() }\n---\n`, /no front matter/],
  ['no closing dashes', `---\n${BASE}\n`, /not closed/],
  ['an empty block', '---\n---\n', /name is missing; description is missing/],
  ['no description', fenced('name: pdf'), /^description is missing$/],
  ['no name', fenced('description: About'), /^name is missing$/],
  ['a blank name', fenced('name: " "\ndescription: About'), /^name is empty$/],
  ['a null description', fenced('name: pdf\ndescription: ~'), /description is missing/],
  ['a name that is a list', fenced('name: [pdf]\ndescription: About'), /name is missing/],
  ['a block that is a list', fenced('- name\n- description'), /not a mapping/],
  ['a block over the cap', fenced(`${BASE}\nx: ${'y'.repeat(MAX_HEAD)}`), /no end within/],
  ['a run of blanks', fenced(`${BASE}\nx:${' '.repeat(20_000)}y`), /blanks in a row/],
];

for (const [what, text, why] of UNUSABLE) {
  test(`front matter is refused with a reason: ${what}`, async () => {
    assert.match((await outcome(text)).join(' '), why);
  });
}

const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ['64 kB of blanks', `---\n${BASE}\n${' '.repeat(65_536)}\n---\n`],
  ['64 kB of newlines', `---\n${BASE}\n${'\n'.repeat(65_536)}\n---\n`],
  ['runs of blanks just under the cap', fenced(`${BASE}\nx: ${`${' '.repeat(990)}y`.repeat(31)}`)],
  ['1 MB of blanks before the dashes', `${' \n'.repeat(500_000)}${fenced(BASE)}`],
  ['1 MB of blanks after the dashes', `---${' '.repeat(1_000_000)}x`],
  ['1 MB of comments', `${'<!-- '.repeat(200_000)}\n${fenced(BASE)}`],
  ['dashes that never end a line', `---\n${`---${' '.repeat(900)}x\n`.repeat(36)}`],
  ['exploding aliases', fenced(explodingAliases())],
  ['merge chains', fenced(mergeChain())],
  [
    'an ordered map',
    fenced(`${BASE}\nx: !!omap\n${Array.from({ length: 2500 }, (_, at) => `- k${at}: 1`).join('\n')}`),
  ],
  ['deep brackets', fenced(`${BASE}\nx: ${'['.repeat(30_000)}`)],
  ['deep indentation', fenced(`${BASE}\n${Array.from({ length: 240 }, (_, at) => `${' '.repeat(at)}k:`).join('\n')}`)],
  ['colons only', fenced(`${BASE}\ny${': '.repeat(16_000)}`)],
  ['hashes only', fenced(`${BASE}\ny: a${' #'.repeat(16_000)}`)],
];

for (const [what, text] of HOSTILE) {
  test(`hostile front matter costs little time: ${what}`, async () => {
    await readHead(Buffer.from(fenced('name: "warm"\ndescription: up'))); // The YAML reader is loaded once and for all.
    const start = performance.now();
    await readHead(Buffer.from(text));
    // A tenth of this here; the quadratic reading of the package alone takes over four seconds for the first.
    assert.ok(performance.now() - start < 1500);
  });
}

test('prototype keys, tags that run code and cyclic aliases are only text or refused', async () => {
  const keys = '__proto__: {name: evil}\nconstructor: evil\ntoString: evil\nhasOwnProperty: evil';
  assert.deepEqual(await outcome(fenced(`${keys}\n${BASE}`)), PDF);
  assert.deepEqual(await outcome(fenced('__proto__:\n  name: evil\n  description: evil')), [
    'name is missing; description is missing',
  ]);
  assert.deepEqual(await outcome(fenced('<<: {name: merged}\n__proto__: {x: y}\ndescription: About')), [
    'merged',
    'About',
  ]);
  const code = 'name: pdf\ndescription: !!js/function "function () { throw 1 }"';
  assert.match((await outcome(fenced(code))).join(' '), /^pdf !!js\/function "function \(\) \{ throw 1 \}" \*$/);
  assert.deepEqual(await outcome(fenced(`${BASE}\nx: &a [*a]`)), PDF);
  assert.deepEqual(await outcome(fenced('name: &n pdf\ndescription: *n')), ['pdf', 'pdf']);
  assert.equal(({} as Record<string, unknown>).name, undefined);
});

test('the plain reader answers only what the YAML reader would answer too', async () => {
  const values = [
    'a',
    'a b',
    'a: b',
    'a:b',
    'a #b',
    'a#b',
    "'a'",
    '"a"',
    'a "b"',
    '1',
    '1.10',
    '~',
    'null',
    'Null',
    'true',
  ];
  values.push(
    '2026-01-02',
    '[a]',
    '{a}',
    '- a',
    '-a',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a`',
    '? a',
    ': a',
    'a:',
  );
  values.push(
    'a\u00a0b',
    'a\u0085b',
    'a\ud800',
    'a\u0007',
    'é',
    '١',
    '🚀 go',
    '“a”: b',
    '→ a',
    '\u3000a',
    '\ud800a',
    '\u2028a',
    '\ufeffa',
    '\u0080a',
    '用户: b',
    'a\\b',
    'a, b',
    'a]',
    'a  b ',
    '',
    ' ',
    '=',
    '<<',
    'y',
    '0o7',
  );
  let answered = 0;
  for (const value of values) {
    const block = `name: ${value}\ndescription: About\nname-2: x\n\nversion: ${value}`;
    const plain = readPlainHead(block);
    if (!plain) continue;
    answered += 1;
    assert.deepEqual(plain, await readYamlHead(block), JSON.stringify(value));
  }
  assert.ok(answered > 10);
});

const SHAPES: readonly (readonly [what: string, block: string, plain: boolean])[] = [
  ['a literal block', 'name: a\ndescription: |\n  One: two\n  # three', true],
  ['a folded block', 'name: a\ndescription: >-\n  one\n  two\nx: y', true],
  ['a block with a blank line', 'name: a\ndescription: >\n  one\n\n  two', false],
  ['a block that is indented further', 'name: a\ndescription: >\n  one\n   two\n  three', false],
  ['a block that is indented less', 'name: a\ndescription: >\n   one\n  two', false],
  ['a block with a tab', 'name: a\ndescription: |\n  one\n\ttwo', false],
  ['a block with its indentation', 'name: a\ndescription: |2\n    one', false],
  ['a block of nothing', 'name: a\ndescription: |', false],
  ['quotes', 'name: "a"\ndescription: \'b: c #d\'', true],
  ['quotes with an escape', 'name: "a"\ndescription: "b\\n"', false],
  ['quotes with a quote', "name: 'a''b'\ndescription: b", false],
  ['quotes over two lines', 'name: a\ndescription: "b\n  c"', false],
  ['values below a key', 'name: a\nmetadata:\n  name: other\n  version: "1.0"\ndescription: b', true],
  ['values below the wanted key', 'name:\n  a: b\ndescription: b', false],
  ['one key twice below a key', 'name: a\nmetadata:\n  x: 1\n  x: 2\ndescription: b', false],
  ['values further below', 'name: a\nmetadata:\n  x:\n    y: z\ndescription: b', false],
  ['a list below a key', 'name: a\ntags:\n  - x\ndescription: b', false],
  ['a block indented with tabs too', 'name: a\ndescription: |\n  \tone\n  \ttwo', false],
  ['a block indented with wide blanks', 'name: a\ndescription: >\n \u3000one\n \u3000two', false],
  ['a block mark with a wide blank', 'name: a\ndescription: |\u00a0\n  b', false],
  ['quotes with a wide blank', 'name: "a"\u00a0\ndescription: b', false],
  ['one key in two spellings', 'name: a\ndescription: b\ntrue: c\nTrue: d', false],
  ['text below a text', 'name: a\ndescription: b\n  c', false],
];

for (const [what, block, expected] of SHAPES) {
  test(`the plain reader ${expected ? 'takes' : 'leaves to the YAML reader'}: ${what}`, async () => {
    const plain = readPlainHead(block);
    assert.equal(plain !== undefined, expected);
    if (!plain) return;
    const { name, description } = (await readYamlHead(block)) as Record<string, string>;
    assert.deepEqual(plain, { name, description: description?.trim() });
  });
}

test('the block is cut at the first closing line and never reaches beyond the cap', () => {
  assert.equal(cutHead(Buffer.from('---\na: 1\n---\nb\n---\n')), 'a: 1\n');
  const full = 'x'.repeat(MAX_HEAD - 1);
  assert.equal(cutHead(Buffer.from(`---\n${full}\n---\n`)), `${full}\n`);
  assert.notEqual(typeof cutHead(Buffer.from(`---\n${full}yy\n---\n`)), 'string');
});

function explodingAliases(): string {
  const levels = Array.from(
    { length: 9 },
    (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
  );
  return `l0: &l0 [x]\n${levels.join('\n')}\n${BASE}`;
}

function mergeChain(): string {
  const links = Array.from({ length: 900 }, (_, at) => `m${at + 1}: &m${at + 1} {<<: *m${at}, k${at}: 1}`);
  return `m0: &m0 {k: 1}\n${links.join('\n')}\n${BASE}`;
}

const UNCLOSED: readonly (readonly [what: string, block: string])[] = [
  ['a list as a name', 'name: [unclosed\ndescription: d'],
  ['a list as a description', 'name: a\ndescription: [one, [two]'],
  ['a map', 'name: a\ndescription: {one: two'],
  ['a double quote', 'name: "a\ndescription: d'],
  ['a double quote before the next key', 'name: a\ndescription: "goes on\nversion: 1'],
  ['a double quote that is escaped', 'name: a\ndescription: "goes \\" on'],
  ['a single quote', "name: 'a\ndescription: d"],
  ['a single quote that is doubled', "name: a\ndescription: 'it''s"],
  ['a quote over several lines', 'name: a\ndescription: "one\n  two\n  three'],
  ['a quote below its key', 'name: a\ndescription:\n  "one: two'],
];

for (const [what, block] of UNCLOSED) {
  test(`a value that never ends is unusable, not guessed: ${what} (11.13)`, async () => {
    const reading = await readHead(Buffer.from(fenced(block)));
    assert.equal(reading.kind, 'unusable', JSON.stringify(reading));
    assert.match(reading.kind === 'unusable' ? reading.why : '', /^front matter is not valid YAML: .*[^:]$/);
  });
}

test('a value that begins with a quote or bracket and closes it is still read (11.13)', async () => {
  for (const value of ['[beta] files', '{x} y', '"a" b', "'a' b", '"a\\"b" c', "'it''s' so", '[a [b] c] d'])
    assert.deepEqual(await outcome(fenced(`name: a\ndescription: ${value}`)), ['a', value, '*']);
});

test('lines before the front matter take linear time, whatever they are and however they end', () => {
  for (const line of ['<!---->\r', '<!-- a -->\r\n', '\r', '\r\n', '```\r', '<!---->-->\r', '<!--\r-->\r', '   \r']) {
    const bytes = Buffer.from(line.repeat(100_000));
    const start = performance.now();
    const reading = cutHead(bytes);
    assert.deepEqual(reading, { why: 'there is no front matter' }, line);
    assert.ok(performance.now() - start < 200, JSON.stringify(line));
  }
  for (const line of ['<!---->\r', '<!-- a --> \r\n', '\n', '\r\n', '```yaml\n'])
    assert.equal(cutHead(Buffer.from(`${line.repeat(20)}---\nname: a\n---\n`)), 'name: a\n', JSON.stringify(line));
});

test('the body begins after the closing line, whatever stands in it', () => {
  const rows: readonly (readonly [text: string, body: string])[] = [
    [fenced(BASE, 'text\n---\nmore'), 'text\n---\nmore'],
    [`\ufeff---\r\n${BASE}\r\n---\r\n\r\nü`, '\r\nü'],
    [`---\n${BASE}\n...\n---\n`, '---\n'],
    [`---\n${BASE}\n---`, ''],
    ['# no front matter\n---\nx\n---\n', '# no front matter\n---\nx\n---\n'],
    [`---\n${BASE}\n`, `---\n${BASE}\n`],
  ];
  for (const [text, body] of rows) assert.equal(bodyOf(text), body, JSON.stringify(text));
});

test('the closing line is found wherever it stands, and is a whole line', async () => {
  for (const filler of ['', 'x: y\n', 'ü: “→”\n']) {
    for (let length = 0; length < 60; length++) {
      const block = `${BASE}\n${filler.repeat(length * 20)}x: ${'z'.repeat(length)}\n`;
      for (const end of ['---', '---\n', '---  \t\n# Body', '...\n', '---\r\n'])
        assert.equal(cutHead(Buffer.from(`---\n${block}${end}`)), block, JSON.stringify(end));
    }
  }
  // None of these lines closes the block.
  const lines = ['---x: 1', '--- y: 2', '----: 3', '....: 4', `---${' '.repeat(40)}: 5`].join('\n');
  assert.equal(cutHead(Buffer.from(`---\n${BASE}\n${lines}\n---\n`)), `${BASE}\n${lines}\n`);
});
