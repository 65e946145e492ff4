/** The programs in the README's section on embedding, in a project of their own that has the package installed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { compile, installPacked, TOP } from '../harness/installed.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { skillText } from '../harness/tree.ts';
import { freePort, modernHeaders } from '../harness/web.ts';

const [SECTION = ''] = /^## Embedding$[\s\S]*?(?=^## )/m.exec(readFileSync(join(TOP, 'README.md'), 'utf8')) ?? [];
/** Those that begin with the name of a file. */
const EXAMPLES = [...SECTION.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)];

const post = (message: object, headers: OutgoingHttpHeaders = {}) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  } as Record<string, string>,
  body: JSON.stringify({ jsonrpc: '2.0', ...message }),
});

const LISTEN = 'subscriptions/listen';
/** What a client of each era sends over HTTP, and the status that it gets. */
const REQUESTS: readonly (readonly [what: string, status: number, request: RequestInit])[] = [
  ['initialize', 200, post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })],
  ['initialized', 202, post({ method: 'notifications/initialized' })],
  ['load', 200, post({ id: 2, method: 'tools/call', params: { name: 'skill', arguments: { name: 'pdf' } } })],
  ['modern list', 200, post({ id: 3, method: 'tools/list', params: modern() }, modernHeaders('tools/list'))],
  ['subscription', 406, post({ id: 4, method: LISTEN, params: modern() }, modernHeaders(LISTEN))],
  ['wrong header', 400, post({ id: 5, method: 'tools/list', params: modern() }, modernHeaders('ping'))],
  ['no body', 400, { method: 'POST' }],
  ['stream', 405, { method: 'GET' }],
];

/** `answers`: the status and the text of each. */
function assertAnswers(answers: readonly (readonly [status: number, text: string])[]): void {
  assert.deepEqual(
    answers.map(([status], at) => [REQUESTS[at]?.[0], status]),
    REQUESTS.map(([what, status]) => [what, status]),
  );
  const [opened, , loaded, listed] = answers.map(
    ([, text]): Answer => (text.startsWith('{') ? JSON.parse(text) : text),
  );
  assert.equal(opened.result.serverInfo.name, 'skillwire');
  assert.match(loaded.result.content[0].text, /^Loading: pdf\n/);
  assert.equal(listed.result.tools[0].name, 'skills.list');
}

test('the examples of the README', async (t) => {
  const { project } = installPacked(t);
  const port = await freePort();
  for (const [, name = '', code = ''] of EXAMPLES) project.write(name, code.replaceAll('3000', `${port}`));
  project.write('skills/pdf/SKILL.md', skillText('pdf'));
  compile(
    project,
    EXAMPLES.map(([, name = '']) => name),
  );
  const start = (name: string) => startProgram(t, { tree: project, entry: project.at(`out/${name}`) });

  await t.test('memory.ts serves skills from memory, and one that is added later', async () => {
    const program = start('memory.js');
    await program.handshake();
    assert.match(await program.description(), /<name>deploy<\/name>/);
    assert.match(
      await program.skill('deploy'),
      /^Base directory: skill:\/\/acme\/deploy$[\s\S]*Run scripts\/deploy\.sh/m,
    );
    const read = await program.call('skills.read', { name: 'deploy', path: 'scripts/deploy.sh' });
    assert.equal(read.content[0].text, 'echo deployed\n');
    await program.call('learn', { name: 'greet', text: 'Say hello.' });
    await program.waitFor(({ method }) => method === 'notifications/tools/list_changed', 'the new list');
    assert.match(await program.skill('greet'), /Say hello\.\n$/);
    assert.equal(await program.end(), 0);
  });

  await t.test('express.ts answers clients of both eras', async () => {
    const program = start('express.js');
    const address = `http://127.0.0.1:${port}/mcp`;
    await program.waitForStderr(new RegExp(address));
    const answers: [number, string][] = [];
    for (const [, , request] of REQUESTS) {
      const response = await fetch(address, request);
      answers.push([response.status, await response.text()]);
    }
    assertAnswers(answers);
    program.child.kill();
    await program.exit();
  });

  await t.test('fetch.ts does too', () => {
    project.write(
      'out/ask.js',
      `import { handleMcp } from './fetch.js';
const answers = [];
for (const [, , request] of ${JSON.stringify(REQUESTS)}) {
  const response = await handleMcp(new Request('http://127.0.0.1/mcp', request));
  answers.push([response.status, await response.text()]);
}
console.log(JSON.stringify(answers));
process.exit();
`,
    );
    const options = { cwd: project.path, encoding: 'utf8' } as const;
    assertAnswers(JSON.parse(execFileSync(process.execPath, [project.at('out/ask.js')], options)));
  });

  await t.test('protocol.ts serves its two tools to clients of both eras', async () => {
    const program = start('protocol.js');
    const listed = await program.request('tools/list', modern());
    assert.equal(listed.result.resultType, 'complete');
    assert.equal((await program.handshake()).result.serverInfo.name, 'dice');
    const { result } = await program.request('tools/list');
    assert.deepEqual(
      result.tools.map(({ name }: Answer) => name),
      ['roll', 'time'],
    );
    assert.match((await program.call('roll', {})).content[0].text, /^[1-6]$/);
    const unknown = await program.request('tools/call', { name: 'cheat' });
    assert.deepEqual(unknown.error, { code: -32602, message: 'invalid params: unknown tool "cheat"' });
    program.sendRaw('{\n');
    await program.waitFor(({ error }) => error?.code === -32700, 'the error of a line that is not JSON');
    assert.equal(await program.end(), 0);
  });

  assert.deepEqual(
    EXAMPLES.map(([, name]) => name),
    ['memory.ts', 'express.ts', 'fetch.ts', 'protocol.ts'],
  );
});
