import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERAS } from '../harness/host.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('resources/list has one resource per skill, with what its front matter says, sorted by URI', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Work with PDF files'),
    '.claude/skills/pdf/x.md': 'x',
    '.codex/skills/pdf/SKILL.md': skillText('pdf', 'Another'),
    'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Shadowed'),
    '.agents/skills/Not Lawful/SKILL.md': skillText('Not Lawful'),
  });
  const program = startProgram(t, { tree });
  const about = (uri: string, title: string, description: string, name = 'pdf') => ({
    uri,
    name,
    title,
    description,
    mimeType: 'text/markdown',
  });
  for (const [, speak] of ERAS) {
    const { result } = await speak(program)('resources/list');
    assert.deepEqual(result.resources, [
      about('skill://agents/Not%20Lawful/SKILL.md', 'Not Lawful', 'About Not Lawful', 'Not Lawful'),
      about('skill://claude/global/pdf/SKILL.md', 'claude@global:pdf', 'Shadowed'),
      about('skill://claude/pdf/SKILL.md', 'claude:pdf', 'Work with PDF files'),
      about('skill://codex/pdf/SKILL.md', 'codex:pdf', 'Another'),
    ]);
    const templates = (await speak(program)('resources/templates/list')).result.resourceTemplates;
    assert.deepEqual(
      templates.map((template: Answer) => template.uriTemplate),
      ['skill://{provider}/{skill}/{+file}'],
    );
  }
});

test('filters hold for resources, prompts and skills/* too', async (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': skillText('pdf'),
    '.codex/skills/git/SKILL.md': skillText('git'),
  });
  const program = startProgram(t, { tree, args: ['--exclude', 'codex'] });
  const { resources } = (await program.request('resources/list')).result;
  assert.deepEqual(
    resources.map((one: Answer) => one.name),
    ['pdf'],
  );
  const { prompts } = (await program.request('prompts/list')).result;
  assert.deepEqual(
    prompts.map((one: Answer) => one.name),
    ['pdf'],
  );
  assert.equal((await program.request('skills/list')).result.skills.length, 1);
  const uri = 'skill://codex/git/SKILL.md';
  for (const method of ['resources/read', 'skills/get']) {
    assert.equal((await program.request(method, { uri })).error.code, -32602);
  }
  assert.equal((await program.request('prompts/get', { name: 'git' })).error.code, -32602);
});

test('text is text exactly when the bytes are UTF-8, a byte order mark included; kinds follow names', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const files: readonly (readonly [name: string, bytes: Buffer, type: string, isText: boolean])[] = [
    ['bom.md', Buffer.from('\ufeffx'), 'text/markdown', true],
    ['run.py', Buffer.from('print(1)\r\n'), 'text/x-python', true],
    ['run.SH', Buffer.from(''), 'application/x-sh', true],
    ['data.json', Buffer.from('{}'), 'application/json', true],
    ['page.html', Buffer.from('<p>'), 'text/html', true],
    ['image.svg', Buffer.from('<svg/>'), 'image/svg+xml', true],
    ['LICENSE', Buffer.from('MIT'), 'text/plain', true],
    ['nul.txt', Buffer.from('a\0b'), 'text/plain', true],
    ['photo.jpg', Buffer.from([0xff, 0xd8]), 'image/jpeg', false],
    ['paper.pdf', Buffer.from([0x25, 0x50, 0xe2]), 'application/pdf', false],
    ['latin1.md', Buffer.from([0x63, 0xe9]), 'text/markdown', false],
    ['surrogate.txt', Buffer.from([0xed, 0xa0, 0x80]), 'text/plain', false],
    ['overlong.txt', Buffer.from([0xc0, 0xaf]), 'text/plain', false],
    ['unknown.xyz', Buffer.from([0xff]), 'application/octet-stream', false],
  ];
  for (const [name, bytes] of files) tree.write(`skills/a/${name}`, bytes);
  const program = startProgram(t, { tree });
  for (const [name, bytes, mimeType, isText] of files) {
    const uri = `skill://custom/a/${name}`;
    const { contents } = (await program.request('resources/read', { uri })).result;
    const content = isText ? { text: bytes.toString() } : { blob: bytes.toString('base64') };
    assert.deepEqual(contents, [{ uri, mimeType, ...content }]);
  }
});

test('what cannot be read is an error with the URI in it, and never blocks', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/d/x': '' });
  execFileSync('mkfifo', [tree.at('skills/a/pipe')]);
  tree.write('skills/a/large.bin', Buffer.alloc(16 * 1024 * 1024 + 1));
  const program = startProgram(t, { tree });
  const table: readonly (readonly [path: string, message: RegExp])[] = [
    ['pipe', /not a regular file/],
    ['large.bin', /over 16777216 bytes/],
    ['d', /is a directory; resources\/directory\/read lists it/],
    ['none', /nothing is served there/],
    ['SKILL.md/x', /nothing is served there/],
  ];
  for (const [path, message] of table) {
    const uri = `skill://custom/a/${path}`;
    const { error } = await program.request('resources/read', { uri });
    assert.equal(error.code, -32602);
    assert.match(error.message, message);
    assert.deepEqual(error.data, { uri });
  }
});

test('a file that has changed since it was listed is served as it is now', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/x.md': 'old' });
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  const uri = 'skill://custom/a/x.md';
  const text = async () => (await program.request('resources/read', { uri })).result?.contents[0].text;
  const size = async () => {
    const { skill } = (await program.request('skills/get', { uri: 'skill://custom/a/SKILL.md' })).result;
    return skill.resources.find((one: Answer) => one.uri === uri).size;
  };
  assert.equal(await text(), 'old');
  assert.equal(await size(), 3);
  tree.write('skills/a/x.md', 'newer');
  assert.equal(await text(), 'newer');
  assert.equal(await size(), 5);
  tree.write('skills/a/x.md', 'latest');
  assert.equal((await program.call('skills.read', { name: 'a', path: 'x.md' })).content[0].text, 'latest');
});

test('a subscribed resource is announced when it changes, and can then be read, in the words of each era', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/ref/x.md': 'old', 'skills/a/y.md': 'y' });
  const program = startProgram(t, { tree });
  await program.handshake();
  const uri = 'skill://custom/a/ref/x.md';
  await program.request('skills/list');
  assert.deepEqual((await program.request('resources/subscribe', { uri })).result, {});
  assert.deepEqual((await program.request('resources/subscribe', { uri })).result, {});
  const listen = { resourceSubscriptions: [uri, 'skill://custom/none', uri], promptsListChanged: true };
  program.send({
    jsonrpc: '2.0',
    id: 'sub',
    method: 'subscriptions/listen',
    params: modern({ notifications: listen }),
  });
  const ack = await program.waitFor((message) => message.method?.endsWith('/acknowledged'), 'the acknowledgement');
  assert.deepEqual(ack.params.notifications, { promptsListChanged: true, resourceSubscriptions: [uri] });

  tree.write('skills/a/y.md', 'not subscribed');
  tree.write('skills/a/ref/x.md', 'new');
  const isUpdate = (message: Answer) => message.method === 'notifications/resources/updated';
  const tagged = await program.waitFor((message) => isUpdate(message) && hasTag(message), 'the modern notice');
  const plain = await program.waitFor((message) => isUpdate(message) && !hasTag(message), 'the legacy notice');
  assert.equal(tagged.params.uri, uri);
  assert.equal(plain.params.uri, uri);
  assert.match(plain.params._meta['skillwire/reason'], /^resource changed \(/);
  assert.equal((await program.request('resources/read', { uri })).result.contents[0].text, 'new');
  assert.equal(program.received.filter(isUpdate).length, 2);

  assert.deepEqual((await program.request('resources/unsubscribe', { uri })).result, {});
  program.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'sub' } });
  tree.write('skills/a/ref/x.md', 'again');
  await program.call('skills.list', {});
  await program.request('ping');
  assert.equal(program.received.filter(isUpdate).length, 2);
});

function hasTag(message: Answer): boolean {
  return message.params._meta?.['io.modelcontextprotocol/subscriptionId'] === 'sub';
}

test('a subscription to nothing, or to too much, is -32602; the modern era has no resources/subscribe', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, { 'skills/a/SKILL.md': skillText('a') }) });
  for (const uri of ['skill://custom/none/SKILL.md', 'skill://custom/a', 'file:///etc/passwd', 5]) {
    assert.equal((await program.request('resources/subscribe', { uri })).error.code, -32602, String(uri));
  }
  for (const resourceSubscriptions of ['x', [5], {}, Array(1001).fill('x')]) {
    const params = modern({ notifications: { resourceSubscriptions } });
    assert.equal((await program.request('subscriptions/listen', params)).error.code, -32602);
  }
  const uri = 'skill://custom/a/SKILL.md';
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    assert.equal((await program.request(method, modern({ uri }))).error.code, -32601);
  }
});

test('a subscription that is cancelled at once leaves nothing behind, and its id can be used again', async (t) => {
  const program = startProgram(t, { tree: makeTree(t, { 'skills/a/SKILL.md': skillText('a') }) });
  const params = modern({ notifications: { resourceSubscriptions: ['skill://custom/a/SKILL.md'] } });
  for (let round = 0; round < 3; round++) {
    program.send({ jsonrpc: '2.0', id: 'again', method: 'subscriptions/listen', params });
    program.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'again' } });
    await program.request('tools/list');
  }
  program.send({ jsonrpc: '2.0', id: 'again', method: 'tools/list' });
  const answer = await program.waitFor((message) => message.id === 'again', 'the answer under that id');
  assert.ok(answer.result);
});

test('lists are announced when they change, and only then', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a', 'Old'), 'skills/a/x.md': 'x' });
  const program = startProgram(t, { tree });
  await program.handshake();
  await program.request('tools/list');
  const notices = () => program.received.map((one) => one.method).filter((method) => method?.endsWith('list_changed'));
  // Neither the body nor another file is in any list.
  tree.write('skills/a/x.md', 'changed');
  writeFileSync(tree.at('skills/a/.tmp'), skillText('a', 'Old', 'Another body'));
  renameSync(tree.at('skills/a/.tmp'), tree.at('skills/a/SKILL.md'));
  await program.call('skills.search', { query: 'another' });
  await program.request('ping');
  assert.deepEqual(notices(), []);
  tree.write('skills/a/SKILL.md', skillText('a', 'New'));
  await program.waitFor((one) => one.method === 'notifications/prompts/list_changed', 'the last of three notices');
  assert.deepEqual(
    notices(),
    ['tools', 'resources', 'prompts'].map((kind) => `notifications/${kind}/list_changed`),
  );
});
