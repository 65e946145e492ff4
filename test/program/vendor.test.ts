/** What the README says about copying source into another project. One file alone is in package.test.ts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startProgram, TOP } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

/** A project with `src`, but for the parts that `isLeftOut` names; `build` compiles it, strictly, from these files. */
function vendored(t: TestContext, isLeftOut: (path: string) => boolean): { tree: Tree; build(file: string): void } {
  const tree = makeTree(t);
  const filter = (path: string) => !isLeftOut(path.slice(join(TOP, 'src').length + 1).replaceAll(sep, '/'));
  cpSync(join(TOP, 'src'), tree.at('src'), { recursive: true, filter });
  tree.link('node_modules', join(TOP, 'node_modules'));
  copyFileSync(join(TOP, 'package.json'), tree.at('package.json'));
  const { include: _, ...config } = JSON.parse(readFileSync(join(TOP, 'tsconfig.json'), 'utf8'));
  const tsc = join(TOP, 'node_modules', 'typescript', 'bin', 'tsc');
  return {
    tree,
    build(file) {
      tree.write('tsconfig.json', JSON.stringify({ ...config, files: [file] }));
      const args = [tsc, '-p', tree.path, '--rootDir', tree.path, '--outDir', tree.at('out')];
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      assert.equal(status, 0, stdout);
    },
  };
}

test('src without hub/ and transports/http/ type-checks from stdio.ts, and serves', async (t) => {
  const { tree, build } = vendored(t, (path) =>
    /^(?:hub|transports\/http|index\.ts|cli\.ts|skillwire\.ts)(?:\/|$)/.test(path),
  );
  build('src/stdio.ts');
  tree.write('skills/pdf/SKILL.md', skillText('pdf'));
  const program = startProgram(t, { tree, entry: tree.at('out/src/stdio.js') });
  await program.handshake();
  assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
  assert.equal(await program.end(), 0);
});

test('src/protocol alone type-checks, and answers both eras', async (t) => {
  const { tree, build } = vendored(t, (path) => path !== '' && !/^protocol(?:\/|$)/.test(path));
  tree.write(
    'start.ts',
    `import * as protocol from './src/protocol/index.ts';
const methods: protocol.Method[] = [{ name: 'ping', run: () => ({}) }];
const table = { methods, notifications: [] };
const eras = [protocol.modernEra(table, { name: 'own', version: '1' }), protocol.legacyEra(table)];
const dispatcher = protocol.createDispatcher(eras, () => {});
const write = (text: unknown) => void process.stdout.write(\`\${text}\\n\`);
const session = protocol.createSession(write);
const line = (text: string) => void dispatcher.answer(dispatcher.read(text), session, { reply: write, notify: write });
const lines = protocol.createLineSplitter({ line, tooLong: () => {}, notText: () => {} });
process.stdin.on('data', lines.push);
`,
  );
  build('start.ts');
  const program = startProgram(t, { tree, entry: tree.at('out/start.js') });
  assert.deepEqual((await program.request('ping')).result, {});
  assert.equal((await program.request('none')).error.code, -32601);
  assert.equal(await program.end(), 0);
});
