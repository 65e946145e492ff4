/** What the README says about copying the program, or its source, into another project. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

// Seen from .test-build/test/program.
const TOP = fileURLToPath(new URL('../../..', import.meta.url));

test('the stdio server is one file that needs nothing beside it', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const entry = tree.at('skillwire-stdio.cjs');
  copyFileSync(join(TOP, 'dist', 'skillwire-stdio.cjs'), entry);
  const program = startProgram(t, { tree, entry });
  await program.handshake();
  const { content } = await program.call('skill', { name: 'pdf' });
  assert.match(content[0].text, /^Loading: pdf\n/);
  assert.equal(await program.end(), 0);
});

test('the source without hub/ and transports/http/ type-checks from stdio.ts, and runs by the line of the README', async (t) => {
  const tree = makeTree(t);
  const deleted = ['hub', join('transports', 'http'), 'index.ts', 'cli.ts', 'launch.ts'].map((name) =>
    join(TOP, 'src', name),
  );
  cpSync(join(TOP, 'src'), tree.at('src'), {
    recursive: true,
    filter: (path) => !deleted.some((one) => path === one || path.startsWith(one + sep)),
  });
  tree.link('node_modules', join(TOP, 'node_modules'));
  copyFileSync(join(TOP, 'package.json'), tree.at('package.json'));
  const { include: _, ...config } = JSON.parse(readFileSync(join(TOP, 'tsconfig.json'), 'utf8'));
  writeFileSync(tree.at('tsconfig.json'), JSON.stringify({ ...config, files: ['src/stdio.ts'] }));
  const tsc = join(TOP, 'node_modules', 'typescript', 'bin', 'tsc');
  const compile = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', tree.path, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  };
  compile('--noEmit');
  const [, line = ''] = /`(import \{ main \} from [^`]+)`/.exec(readFileSync(join(TOP, 'README.md'), 'utf8')) ?? [];
  tree.write('start.ts', `${line}\n`);
  writeFileSync(tree.at('tsconfig.json'), JSON.stringify({ ...config, files: ['start.ts'] }));
  compile('--rootDir', tree.path, '--outDir', tree.at('out'));
  const program = startProgram(t, { tree, entry: tree.at('out/start.js') });
  assert.equal((await program.handshake()).result.serverInfo.name, 'skillwire');
  assert.equal(await program.end(), 0);
});
