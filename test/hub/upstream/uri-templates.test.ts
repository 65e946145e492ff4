/** Resource templates of upstream servers: what they match, and how they come through the hub. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';
import { MAX_EXPRESSIONS, MAX_MATCHED_URI, MAX_TEMPLATE, MAX_TEMPLATES } from '../../../src/hub/upstream/limits.ts';
import { matcherOf, templateFault } from '../../../src/hub/upstream/uri-templates.ts';
import { ERAS } from '../../harness/host.ts';
import { fixture, startHub, upstream } from '../../harness/hub.ts';
import type { Answer } from '../../harness/program.ts';
import { startV2Web } from '../../harness/sdk-servers.ts';
import { skillText } from '../../harness/tree.ts';

const template = (uriTemplate: string, name = uriTemplate) => ({ uriTemplate, name });

/** A server with these templates, which reads every URI as `says` and the URI. */
function stencil(says: string, templates: readonly object[], ...traits: string[]) {
  return upstream(`templates=${JSON.stringify(templates)}`, `says=${says}`, ...traits);
}

const OWN = 'skill://{provider}/{skill}/{+file}';
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const TABLE: readonly (readonly [template: string, matched: readonly string[], others: readonly string[]])[] = [
  ['x://plain', ['x://plain'], ['x://plain/', 'x://plai', 'X://plain', '']],
  ['x://{id}', ['x://1', 'x://a%20b', 'x://a,b', 'x://é'], ['x://', 'x://1/2', 'y://1', 'ax://1']],
  ['x://{a}/{b}', ['x://1/2'], ['x://1', 'x://1/', 'x:///2', 'x://1/2/3']],
  ['x://{a}{b}', ['x://12'], ['x://1', 'x://1/2']],
  ['x://{a}-{b}.md', ['x://1-2.md', 'x://1-2-3.md', 'x://-.md-x.md'], ['x://1-.md', 'x://-2.md', 'x://1-2.mdx']],
  ['x://{+path}', ['x://a', 'x://a/b?c#d', 'x://{'], ['x://']],
  ['x://{+dir}/{file}', ['x://a/b', 'x://a/b/c', 'x://a//c'], ['x://a', 'x://a/', 'x:///']],
  ['x://{+a}/mid/{+b}', ['x://1/mid/2', 'x://mid/mid/mid', 'x:///mid/mid//mid/'], ['x://1/mid/', 'x://mid/2']],
  ['x://{path*}', ['x://a', 'x://a/b', 'x://a,b'], ['x://']],
  ['x://{a,b}', ['x://1', 'x://1,2'], ['x://']],
  ['x://a{/b}', ['x://a', 'x://a/1', 'x://a/'], ['x://a1', 'x://a/1/2']],
  ['x://a{/b,c}', ['x://a', 'x://a/1', 'x://a/1/2'], ['x://a1']],
  ['x://a{/b*}/end', ['x://a/end', 'x://a/1/2/end', 'x://a/end/end'], ['x://a/1/2', 'x://aend']],
  ['x://a{?q,r}', ['x://a', 'x://a?q=1', 'x://a?q=1&r=2/3'], ['x://a&q=1', 'x://a?q=1#f', 'x://a/']],
  ['x://a?z=1{&q}', ['x://a?z=1', 'x://a?z=1&q=2'], ['x://a', 'x://a?z=12']],
  ['x://{id}{?q}{#part}', ['x://1', 'x://1?q=2', 'x://1#p', 'x://1?q=2#p/?'], ['x://', 'x://1/2?q=2']],
  ['x://a{.type}', ['x://a', 'x://a.md', 'x://a.tar.gz'], ['x://amd', 'x://a/.md']],
  ['x://a{;v}', ['x://a', 'x://a;v=1'], ['x://a,v=1']],
  ['x://{id:3}/{+rest}', ['x://123/4'], ['x://123']],
  ['x:(.*)+$[{id}]', ['x:(.*)+$[1]'], ['x:aaa[1]', 'x:(.*)+$[1']],
  ['x://aab{+r}aab', ['x://aab1aab', 'x://aabaaabaab'], ['x://aabaab', 'x://aabaaab1']],
];

for (const [text, matched, others] of TABLE) {
  test(`the template ${text} matches its own URIs and no others`, () => {
    assert.equal(templateFault(template(text)), undefined);
    const matches = matcherOf(text);
    assert.deepEqual([...matched, ...others].filter(matches), matched);
  });
}

test('a template that cannot be passed on has its reason', () => {
  const rows: readonly (readonly [definition: object, fault: RegExp])[] = [
    [{ name: 'x' }, /no uriTemplate/],
    [{ uriTemplate: 7, name: 'x' }, /no uriTemplate/],
    [{ uriTemplate: 'x://{a}' }, /no name/],
    [template(`x://${'a'.repeat(MAX_TEMPLATE)}`), /is over 1024 characters/],
    [template(`x://${'{a}'.repeat(MAX_EXPRESSIONS + 1)}`), /over 10 expressions/],
    ...['x://{a', 'x://a}', 'x://{{a}}', 'x://{}', 'x://}{'].map((text) => [template(text), /braces/] as const),
    ...['{+uri}', '{scheme}://x', '//host/{x}', '', ' x://{a}'].map(
      (text) => [template(text), /does not begin with a scheme/] as const,
    ),
    ...['skill://{a}', 'SKILL:{a}', 'mcp://a/{b}', 'Mcp:{+x}'].map((text) => [template(text), /reserved/] as const),
  ];
  for (const [definition, fault] of rows) {
    assert.match(templateFault({ ...definition }) ?? 'none', fault, JSON.stringify(definition));
  }
});

/** As many expressions as are let through, in texts that fit everywhere in URIs of one letter, and never at the end. */
const HOSTILE = ['{+a}', '{+a}a', `{+a}${'a'.repeat(90)}`, '{a*}{/b}', '{/a*}', '{+a}aab'].map((piece) => {
  const expressions = piece.split('{').length - 1;
  return `x:${piece.repeat(MAX_EXPRESSIONS / expressions)}z`;
});
const longest = (piece: string) => `x:${piece.repeat(MAX_MATCHED_URI)}`.slice(0, MAX_MATCHED_URI);

test('no template takes long to match, whatever it and the URI contain', () => {
  const start = performance.now();
  for (const one of HOSTILE) {
    assert.equal(templateFault(template(one)), undefined);
    for (const piece of ['a', '/', 'aa/', 'aaab']) assert.equal(matcherOf(one)(longest(piece)), false);
  }
  // A matcher that tries again what it tried before would need longer than anyone can wait.
  assert.ok(performance.now() - start < 5000);
  assert.equal(matcherOf('x:{+a}')(longest('a')), true);
  assert.equal(matcherOf('x:{+a}')(`${longest('a')}a`), false);
});

for (const kind of ['legacy', 'modern']) {
  test(`templates of a ${kind} server are listed whole, after ours, and read through it`, async (t) => {
    const rich = { ...template('note://{id}', 'a note'), title: 'Note', mimeType: 'text/plain', _meta: { kept: 1 } };
    const all = [template('zip://{+path}'), rich, template('file:///{+path}'), template('file:///docs/{name}{?v}')];
    const hub = await startHub(t, { up: stencil('up', all, kind) });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    for (const [era, speak] of ERAS) {
      const ask = speak(hub);
      const { result } = await ask('resources/templates/list');
      assert.equal(result.resourceTemplates[0].uriTemplate, OWN);
      assert.deepEqual(result.resourceTemplates.slice(1), [all[3], all[2], rich, all[0]]);
      const read = await ask('resources/read', { uri: 'note://7' });
      assert.deepEqual(read.result.contents, [
        { uri: 'note://7', text: 'up note://7' },
        { uri: 'note://7#more', blob: 'AAAA' },
      ]);
      assert.equal(read.result._meta.m, 1);
      const { error } = await ask('resources/read', { uri: 'note://missing' });
      assert.deepEqual(error, {
        code: era === 'legacy' ? -32002 : -32602,
        message: 'no such thing',
        data: { uri: 'note://missing', why: 'because' },
      });
      const unknown = await ask('resources/read', { uri: 'note://7/8' });
      assert.equal(unknown.error.code, -32602);
      assert.match(unknown.error.message, /nothing is served there/);
    }
  });

  test(`a template that a ${kind} server adds appears, and the client is told`, async (t) => {
    const hub = await startHub(t, { up: stencil('up', [template('a://{x}')], kind) });
    await hub.waitForTools((names) => names.includes('up:grow'), 'its tools');
    const before = hub.received.length;
    await hub.call('up:grow', { template: template('b://{x}') });
    const isNews = (message: Answer) =>
      message.method === 'notifications/resources/list_changed' && hub.received.indexOf(message) >= before;
    await hub.waitFor(isNews, 'the notice');
    const { result } = await hub.request('resources/templates/list');
    assert.deepEqual(
      result.resourceTemplates.map((one: Answer) => one.uriTemplate),
      [OWN, 'a://{x}', 'b://{x}'],
    );
  });
}

test('of several templates the more specific one is used, of equal ones that of the first server, and this is reported', async (t) => {
  const hub = await startHub(t, {
    b: stencil('b', [template('file:///docs/{name}'), template('same://{x}', 'of b')]),
    a: stencil('a', [template('file:///{+path}'), template('same://{x}', 'of a')]),
  });
  await hub.waitForTools((names) => names.includes('a:echo') && names.includes('b:echo'), 'both servers');
  const { result } = await hub.request('resources/templates/list');
  assert.deepEqual(
    result.resourceTemplates.slice(1).map((one: Answer) => one.name),
    ['file:///docs/{name}', 'file:///{+path}', 'of a'],
  );
  const read = async (uri: string) => (await hub.request('resources/read', { uri })).result.contents[0].text;
  assert.equal(await read('file:///docs/x'), 'b file:///docs/x');
  assert.equal(await read('file:///docs/x/y'), 'a file:///docs/x/y');
  assert.equal(await read('same://1'), 'a same://1');
  await hub.waitForStderr(/server b: 1 resource template left out: a server before it has the same/);
});

test('filters apply to templates, and no template gets around them', async (t) => {
  const listed = [{ uri: 'file:///secret', name: 'secret', text: 'hidden' }];
  const own = [template('file:///{x}', 'open'), template('key://{x}', 'keys')];
  const hub = await startHub(
    t,
    {
      a: stencil('a', [template('same://{x}')]),
      b: stencil('b', [template('same://{x}'), ...own], `resources=${JSON.stringify(listed)}`),
    },
    { args: ['--exclude', 'a,b:secret,keys'] },
  );
  await hub.waitForTools((names) => names.includes('b:echo'), 'its tools');
  const { result } = await hub.request('resources/templates/list');
  assert.deepEqual(
    result.resourceTemplates.slice(1).map((one: Answer) => one.uriTemplate),
    ['file:///{x}', 'same://{x}'],
  );
  const read = (uri: string) => hub.request('resources/read', { uri });
  assert.equal((await read('same://1')).result.contents[0].text, 'b same://1');
  assert.equal((await read('file:///other')).result.contents[0].text, 'b file:///other');
  for (const uri of ['file:///secret', 'key://1']) assert.equal((await read(uri)).error.code, -32602);
});

test('templates that are invalid, too many or of a reserved scheme are left out, and nothing else is affected', async (t) => {
  const many = Array.from({ length: MAX_TEMPLATES }, (_, at) => template(`many://${at}/{x}`));
  const hub = await startHub(t, {
    bad: stencil('bad', [
      { uriTemplate: 'x://{a}' },
      template('skill://{+any}'),
      template('{+any}'),
      template('good://{x}'),
      template('good://{x}', 'again'),
    ]),
    many: stencil('many', [...many, template('one://{too}/many')]),
  });
  await hub.waitForTools((names) => names.includes('bad:echo') && names.includes('many:echo'), 'both servers');
  await hub.waitForStderr(/server bad: resource template "x:\/\/\{a\}" is left out: it has no name/);
  await hub.waitForStderr(/server bad: resource template "skill:\/\/\{\+any\}" is left out: its scheme is reserved/);
  await hub.waitForStderr(/server bad: resource template "\{\+any\}" is left out: it does not begin with a scheme/);
  await hub.waitForStderr(/server bad: resource template "good:\/\/\{x\}" is listed twice; the first is served/);
  await hub.waitForStderr(/server many: over 100 resourceTemplates/);
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const { result } = await hub.request('resources/templates/list', cursor === undefined ? {} : { cursor });
    listed.push(...result.resourceTemplates.map((one: Answer) => one.uriTemplate));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(listed, [OWN, 'good://{x}', ...many.map(({ uriTemplate }) => uriTemplate).sort()]);
  for (const uri of ['skill://up/x/SKILL.md', 'mcp://bad/x', 'any:thing'])
    assert.equal((await hub.request('resources/read', { uri })).error.code, -32602);
});

test('a server full of hostile templates does not delay a read for long', async (t) => {
  const all = Array.from({ length: MAX_TEMPLATES }, (_, at) => template(`x:{+a}${'{+a}a'.repeat(9)}z${at}`));
  const hub = await startHub(t, { up: stencil('up', all) });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const { error } = await hub.request('resources/read', { uri: longest('a') });
  assert.equal(error.code, -32602);
});

test("files of a server's skills are not read around their digests", async (t) => {
  const text = skillText('pdf');
  const base = 'docs://skills/pdf';
  const entry = {
    uri: `${base}/SKILL.md`,
    frontmatter: { name: 'pdf', description: 'd' },
    resources: [{ uri: `${base}/SKILL.md`, digest: `sha256:${'0'.repeat(64)}`, size: text.length }],
  };
  const hub = await startHub(t, {
    up: stencil('up', [template('docs://{+path}'), template('skill://{+x}')], `skills=${JSON.stringify([entry])}`),
  });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  const read = (uri: string) => hub.request('resources/read', { uri });
  assert.equal((await read('docs://other')).result.contents[0].text, 'up docs://other');
  assert.equal((await read(`${base}/SKILL.md`)).error.code, -32602);
  assert.doesNotMatch(hub.stderr(), /is left out/);
});

test('a server that has resources and never answers resources/templates/list can be used nevertheless', async (t) => {
  const hub = await startHub(t, { up: upstream('resources=[]', 'silent-on-unknown') });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  assert.doesNotMatch(hub.stderr(), /templates/);
});

test("the templates of the SDK's server-everything work behind the program and as a library", async (t) => {
  const mcpServers = { every: { command: process.execPath, args: [everything] } };
  const program = await startHub(t, mcpServers);
  await program.waitForTools((names) => names.includes('every:echo'), 'its tools');
  const uri = 'demo://resource/dynamic/text/5';
  for (const [, speak] of ERAS) {
    const { result } = await speak(program)('resources/templates/list');
    const listed = result.resourceTemplates.map((one: Answer) => one.uriTemplate);
    assert.ok(listed.includes('demo://resource/dynamic/text/{resourceId}'), JSON.stringify(listed));
    const read = await speak(program)('resources/read', { uri });
    assert.match(read.result.contents[0].text, /5/);
    const refused = await speak(program)('resources/read', { uri: 'demo://resource/dynamic/text/none' });
    assert.ok(refused.error.message.length > 0 && !/nothing is served/.test(refused.error.message));
  }
  const hub = createHub({ mcpServers, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  assert.ok(
    hub.templates().some(({ server, definition }) => server === 'every' && matcherOf(definition.uriTemplate)(uri)),
  );
  assert.match(JSON.stringify(await hub.read(uri)), /5/);
  await assert.rejects(hub.read('demo://nothing'), /no resource has the URI/);
});

test('as a library too, the more specific template is used, and a listed resource before any', async (t) => {
  const listed = [{ uri: 'file:///docs/list', name: 'list', text: 'listed' }];
  const mcpServers = {
    a: stencil('a', [template('file:///{+path}')], `resources=${JSON.stringify(listed)}`),
    b: stencil('b', [template('file:///docs/{name}')]),
  };
  const hub = createHub({ mcpServers, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  assert.deepEqual(
    hub.templates().map(({ server }) => server),
    ['b', 'a'],
  );
  const read = async (uri: string) => ((await hub.read(uri)) as Answer).contents[0].text;
  assert.equal(await read('file:///docs/x'), 'b file:///docs/x');
  assert.equal(await read('file:///x'), 'a file:///x');
  assert.equal(await read('file:///docs/list'), 'listed');
});

for (const [name, entryOf] of [
  ['stdio', async () => fixture('sdk-v2')],
  ['http', async (t: Parameters<typeof startV2Web>[0]) => ({ url: (await startV2Web(t)).url })],
] as const) {
  test(`templates of a server of SDK v2 over ${name} are read in both eras`, async (t) => {
    const hub = await startHub(t, { up: await entryOf(t) });
    await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
    for (const [, speak] of ERAS) {
      const { result } = await speak(hub)('resources/templates/list');
      assert.equal(result.resourceTemplates.at(-1).uriTemplate, 'note://{year}/{title}');
      const read = await speak(hub)('resources/read', { uri: 'note://2020/spring' });
      assert.deepEqual(read.result.contents, [{ uri: 'note://2020/spring', text: 'spring of 2020' }]);
    }
  });
}
