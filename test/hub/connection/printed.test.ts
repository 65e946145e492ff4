/** Which line of what a server printed says why it failed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PRINTED, MAX_PRINTED_LINES, MAX_STDERR_LINE } from '../../../src/hub/connection/limits.ts';
import { createPrinted } from '../../../src/hub/connection/printed.ts';

function tellingLine(text: string): string | undefined {
  const printed = createPrinted();
  for (const line of text.split('\n')) printed.add(line);
  return printed.tellingLine();
}

// As the programs print it, with the lines before that matter.
const OUTPUTS: readonly (readonly [what: string, text: string, telling: string])[] = [
  [
    'Node cannot find a module',
    `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/mcp/index.js'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`,
    "Error: Cannot find module '/srv/mcp/index.js'",
  ],
  [
    'a server throws',
    `file:///srv/server.mjs:3
if (!process.env.API_KEY) throw new TypeError('API_KEY is not set');
                                ^

TypeError [ERR_INVALID_ARG_VALUE]: API_KEY is not set
    at file:///srv/server.mjs:3:33
    at ModuleJob.run (node:internal/modules/esm/module_job:271:25)
    at async ModuleLoader.import (node:internal/modules/esm/loader:547:26)

Node.js v20.20.2`,
    'TypeError [ERR_INVALID_ARG_VALUE]: API_KEY is not set',
  ],
  [
    'an error has a cause',
    `TypeError: fetch failed
    at node:internal/deps/undici/undici:13510:13
    at new Promise (<anonymous>) {
  [cause]: Error: connect ECONNREFUSED 127.0.0.1:9
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16) {
    errno: -111,
    code: 'ECONNREFUSED'
  }
}`,
    'TypeError: fetch failed',
  ],
  [
    'npm does not know the package',
    `npm warn config something old
npm error code E404
npm error 404 Not Found - GET https://registry.example.com/no-such-server - Not found
npm error 404
npm error 404  'no-such-server@*' is not in this registry.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git folder.
npm error A complete log of this run can be found in: /home/you/.npm/_logs/2026_01_01-debug-0.log`,
    'npm error 404 Not Found - GET https://registry.example.com/no-such-server - Not found',
  ],
  [
    'npm has no network',
    `npm ERR! code ENOTFOUND
npm ERR! syscall getaddrinfo
npm ERR! errno ENOTFOUND
npm ERR! network request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com
npm ERR! network This is a problem related to network connectivity.
npm ERR! A complete log of this run can be found in: /home/you/.npm/_logs/x.log`,
    'npm ERR! network request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com',
  ],
  [
    'npm is brief',
    'npm error could not determine executable to run',
    'npm error could not determine executable to run',
  ],
  [
    'Python cannot import',
    `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  [
    'uv cannot resolve',
    `  \u00d7 No solution found when resolving tool dependencies:
  \u2570\u2500\u25b6 Because no-such was not found in the package registry and you require no-such, we can
      conclude that your requirements are unsatisfiable.`,
    '\u2570\u2500\u25b6 Because no-such was not found in the package registry and you require no-such, we can',
  ],
  [
    'Docker has no image',
    `Unable to find image 'x:latest' locally
docker: Error response from daemon: pull access denied for x, repository does not exist.

Run 'docker run --help' for more information`,
    'docker: Error response from daemon: pull access denied for x, repository does not exist.',
  ],
  [
    'an argument is missing',
    `\u001b[1m\u001b[31merror:\u001b[0m the following arguments were not provided:
  <PATH>

For more information, try '--help'.`,
    'error: the following arguments were not provided:',
  ],
  [
    'Go panics',
    `panic: no token

goroutine 1 [running]:
main.main()
	/srv/main.go:5 +0x25
exit status 2`,
    'panic: no token',
  ],
  ['a shell finds no command', 'starting\nsh: 1: frob: not found', 'sh: 1: frob: not found'],
  ['nothing says error', 'one\ntwo\nGood bye.', 'Good bye.'],
  ['there is nothing but noise', 'Node.js v20.20.2', 'Node.js v20.20.2'],
  ['a message looks like a stack frame', 'at least one directory is required\n}', 'at least one directory is required'],
];

for (const [what, text, telling] of OUTPUTS)
  test(`when ${what}, the line that says so is chosen`, () => assert.equal(tellingLine(text), telling));

test('a server that printed nothing, or blank lines, says nothing', () => {
  assert.equal(createPrinted().tellingLine(), undefined);
  assert.equal(tellingLine(' \n\t\n'), undefined);
});

test('the last lines are kept, as far as the limit goes', () => {
  const printed = createPrinted();
  printed.add('Error: long ago');
  for (let at = 0; at < MAX_PRINTED_LINES; at++) printed.add('all is well');
  assert.equal(printed.tellingLine(), 'all is well');
  printed.add('Error: now');
  for (let at = 0; at * MAX_STDERR_LINE <= MAX_PRINTED; at++) printed.add('x'.repeat(MAX_STDERR_LINE));
  assert.match(printed.tellingLine() ?? '', /^x+$/);
});

test('choosing a line takes time linear in the text', () => {
  const began = performance.now();
  for (const text of [
    'Error'.repeat(1600),
    'a.'.repeat(4000),
    'at '.repeat(2700),
    `at ${'1:'.repeat(4000)}`,
    '"'.repeat(8000),
  ])
    tellingLine(Array(8).fill(text).join('\n'));
  assert.ok(performance.now() - began < 1000);
});
