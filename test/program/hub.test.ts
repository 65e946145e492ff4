/**
 * The hub in the built program, beyond the scenarios of seed-004.test.ts: trust, secrets, servers that behave oddly or send
 * nonsense. The start, the end and published servers are in hub-life.test.ts.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as odd from '../fixtures/odd.ts';
import { startWeb } from '../harness/connections.ts';
import { behind, doctor, fileOf, has, startHub, statesOf } from '../harness/hub.ts';
import { type Answer, modern, runCommand, TOP } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { fixture, listing, tool, upstream } from '../harness/upstreams.ts';

/** For files that are edited: the timer finds the edits. */
const OFTEN = ['--refresh-interval', '200'];

const none = (start: string) => (names: readonly string[]) => !names.some((name) => name.startsWith(start));

// Each waits more than it works.
describe('the hub', { concurrency: 4 }, () => {
  test("a project's file starts nothing until it is trusted as it is; a user's entry of the name goes on", async (t) => {
    const tree = makeTree(t, { '.kode.json': fileOf({ both: upstream(listing('mine')), new: upstream() }) });
    const hub = await startHub(t, { both: upstream() }, { tree, args: OFTEN });
    const names = await hub.waitForTools(has('both:echo'));
    assert.ok(none('new:')(names) && none('both:mine')(names));
    await hub.waitForStderr(/warn: \S+\.kode\.json: its servers are not started, because this project is not trusted/);
    assert.equal((await statesOf(tree)).new.state, 'untrusted');
    const trusted = runCommand(tree, ['trust']);
    assert.match(
      trusted.stdout,
      /^With --hub, \S+\.kode\.json starts.*:\n\{\n {2}"both": \{[\s\S]*\nTrusted as it is now: /,
    );
    await hub.waitForTools(has('both:mine', 'new:echo'));
    // Trust is in the content: an edit takes it away again.
    tree.write('.kode.json', fileOf({ new: upstream(listing('other')) }));
    await hub.waitForTools((all) => none('new:')(all) && none('both:mine')(all) && has('both:echo')(all));
  });

  test('no secret is printed: not at debug level, not in an error, not by the doctor', async (t) => {
    const web = await startWeb(t, ({ path, headers, response }) => {
      response.writeHead(200, { 'content-type': path.slice(1) }).end(`data: ${headers['x-key']} is refused\n\n`);
      return true;
    });
    const echoing = (path: string) => ({
      type: 'http',
      url: new URL(path, web.url),
      headers: { 'X-Key': 's3cr3t-0123456789' },
    });
    const saying = (text: string, env = {}) => ({ ...behind(`echo "${text}" >&2; exit 1`, '', upstream()), env });
    const KEY = '-----BEGIN KEY-----\nMIIEvQIBADANs3cr3t-one\nhkiG9w0BAQEFs3cr3t-two\n-----END KEY-----';
    const rows: readonly (readonly [name: string, entry: object, seen: RegExp])[] = [
      ['env', saying('my key is $KEY', { KEY: 's3cr3t-env' }), /my key is \[redacted\]/],
      ['lines', saying('$KEY', { KEY }), /\[redacted\]/],
      ['variable', saying('see ${THEIRS}'), /see \[redacted\]/],
      ['url', { url: 'http://user:s3cr3t-pass@127.0.0.1:9/mcp?key=s3cr3t-query' }, /ECONNREFUSED/],
      // A body may hold a part of a secret, which would not be recognised, so it is never quoted.
      ['json', echoing('/application/json'), /the body of \d+ characters does not answer the request/],
      ['stream', echoing('/text/event-stream'), /the stream ended without an answer/],
    ];
    const servers = Object.fromEntries(rows.map(([name, entry]) => [name, entry]));
    const hub = await startHub(t, servers, { args: ['--log-level', 'debug'], env: { THEIRS: 's3cr3t-var' } });
    for (const [name, , seen] of rows) await hub.waitForStderr(new RegExp(`server ${name}: failed: .*${seen.source}`));
    const reports = await Promise.all([doctor(hub.tree), doctor(hub.tree, '--json')]);
    for (const text of [hub.stderr(), ...reports]) {
      assert.match(text, /redacted/);
      assert.doesNotMatch(text, /s3cr|MIIE|hkiG/);
    }
  });

  const MESSAGE = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { data: 'x'.repeat(1000) },
  });
  const ODD: Readonly<Record<string, object>> = {
    'prints its log and worse on stdout': behind(
      'printf "Listening\\n\\001\\377\\n[1,2]\\n{}\\n"; exec "$@"',
      '',
      upstream(),
    ),
    'floods us with notifications': behind('yes "$0" | head -20000; exec "$@"', MESSAGE, upstream()),
    'floods its log': behind('yes | head -1000000 >&2; exec "$@"', '', upstream()),
    'is silent when it is asked something that it does not know': upstream({ silent: ['server/discover'] }),
    'takes long to start': behind('sleep 3.5; exec "$@"', '', upstream()),
    'takes long to start and is modern': behind('sleep 3.5; exec "$@"', '', upstream({ modern: true })),
    'gives pages without end': upstream({ answers: { 'tools/list': { tools: [tool('echo')], nextCursor: '0' } } }),
  };
  test('a server that behaves oddly can be used nevertheless, and delays no other', async (t) => {
    const servers = Object.values(ODD).map((entry, at) => [`odd${at}`, entry]);
    const silent = { hang: { command: 'sleep', args: ['1000'] }, yes: { command: 'yes' } };
    const hub = await startHub(t, { ...Object.fromEntries(servers), ...silent, plain: upstream() });
    await hub.waitForTools(has('plain:echo'));
    assert.equal(await hub.textOf('plain:echo', { text: 'x' }), 'x');
    for (const [at, what] of Object.keys(ODD).entries()) {
      await hub.waitForTools(has(`odd${at}:echo`));
      assert.equal(await hub.textOf(`odd${at}:echo`, { text: 'x' }), 'x', what);
    }
    assert.deepEqual(hub.noise, []);
    assert.equal(await hub.end(), 0);
  });

  const DIRT = '\u200b\u202e\u{e0041}\u001b[31m';

  test('hostile names cannot hide, break or imitate others, nor get past a filter; what is listed can be called', async (t) => {
    const names = [
      '',
      'a\0b',
      `ev${DIRT}il`,
      'line\nbreak',
      '\u200b\u202e',
      'x'.repeat(200),
      'with:colon',
      '__proto__',
    ];
    const twins = [tool('echo'), tool('ech\u200bo'), tool('echo', { description: 'an impostor' })];
    const answers = {
      'tools/list': {
        tools: [...twins, ...['dr\u200bop', 'keep', ...names].map((name) => tool(name)), { name: 'bare' }],
      },
      'tools/call': { content: [{ type: 'text', text: 'called' }] },
    };
    const journal = makeTree(t).at('journal');
    const one = { ...upstream({ answers }, journal), exclude: ['keep'] };
    const hub = await startHub(t, { one, skills: upstream() }, { args: ['--exclude', 'one:drop'] });
    const served = (await hub.waitForTools(has('one:echo', 'skills:echo'))).filter((name) => name.startsWith('one:'));
    const clean = ['one:ab', 'one:ev[31mil', 'one:line break', 'one:with:colon', 'one:__proto__'];
    assert.deepEqual(served, ['one:echo', ...clean]);
    for (const name of served) assert.equal(await hub.textOf(name), 'called', name);
    assert.ok(
      readFileSync(journal, 'utf8').includes(`tools/call ${JSON.stringify({ name: `ev${DIRT}il` }).slice(0, -1)}`),
    );
    for (const name of ['one:drop', 'one:dr\u200bop', 'one:keep'])
      assert.ok((await hub.request('tools/call', { name })).error, name);
    await hub.waitForStderr(/warn: server one: tools ech\S*o: left out, because an earlier one has the same name/);
  });

  const SCHEMAS = join(TOP, 'test', 'fixtures', 'schemas');
  const RESULTS = [
    ['tools/list', 'ListToolsResult', 'tools'],
    ['resources/list', 'ListResourcesResult', 'resources'],
    ['resources/templates/list', 'ListResourceTemplatesResult', 'resourceTemplates'],
    ['prompts/list', 'ListPromptsResult', 'prompts'],
  ] as const;

  test('whatever a server sends, everything listed is valid in the revision of each client', async (t) => {
    const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
    const answers = {
      'tools/list': { tools: odd.ODD_TOOLS },
      'resources/list': { resources: odd.ODD_RESOURCES },
      'resources/templates/list': { resourceTemplates: odd.ODD_TEMPLATES },
      'prompts/list': { prompts: odd.ODD_PROMPTS },
      'skills/list': { skills: odd.ODD_SKILLS },
    };
    const extensions = { 'io.modelcontextprotocol/skills': {} };
    const capabilities = { tools: {}, resources: {}, prompts: {}, extensions };
    const script = tree.write('script.json', JSON.stringify({ capabilities, answers }));
    const hub = await startHub(t, { odd: fixture('upstream', script), plain: upstream() }, { tree });
    await hub.waitForTools((all) => !none('odd:')(all));
    const revisions = readdirSync(SCHEMAS).filter((name) => name.endsWith('.json'));
    assert.equal(revisions.length, 5);
    for (const file of revisions) {
      const schema = JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8'));
      const ajv = new (schema.$defs ? Ajv2020 : Ajv)({ strict: false });
      ajv.addFormat('uri', (uri: string) => URL.canParse(uri) && !/[\s\p{C}]/u.test(uri));
      ajv.addFormat('uri-template', (uri: string) => !/[\s\p{C}]/u.test(uri));
      ajv.addFormat('byte', true);
      ajv.addSchema(schema, 'official');
      const place = schema.$defs ? '$defs' : 'definitions';
      const isModern = file.startsWith('2026');
      if (!isModern) await hub.handshake(file.replace('.json', ''));
      for (const [method, name, key] of RESULTS) {
        const { result } = await hub.request(method, isModern ? modern() : {});
        const validate = ajv.getSchema(`official#/${place}/${name}`) ?? assert.fail(name);
        validate(result);
        assert.deepEqual(validate.errors ?? [], [], `${file} ${name}`);
        assert.ok(result[key].length > 40, `${result[key].length} in ${name}`);
      }
    }
    const { skills } = (await hub.request('skills/list')).result;
    assert.ok(skills.some(({ uri }: Answer) => uri.startsWith('skill://odd/')));
  });
});
