/** The command line: what is asked for goes to stdout, what is wrong is one line on stderr. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { optionRows } from '../../src/cli/options.ts';
import { VERSION } from '../../src/version.ts';
import { PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', input: '' });
  return { status, stdout, stderr };
}

test('--help prints every option on stdout and exits 0', () => {
  for (const flag of ['--help', '-h']) {
    const { status, stdout, stderr } = run(flag);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    for (const [option, help] of optionRows()) {
      assert.ok(stdout.includes(`  ${option} `), option);
      assert.ok(stdout.includes(help), help);
    }
  }
});

test('--version prints the version on stdout and exits 0', () => {
  for (const flag of ['--version', '-v'])
    assert.deepEqual(run(flag), { status: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test('whatever is wrong is one line on stderr with the nearest right one, and exit 2 (11.10)', () => {
  const cases: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['--skil-dir', 'x'], /unknown option --skil-dir; did you mean --skill-dir\?/],
    [['--no-refesh'], /unknown option --no-refesh; did you mean --no-refresh\?/],
    [['--xyzzyxyzzy'], /unknown option --xyzzyxyzzy; see/],
    [['-x'], /unknown option -x/],
    [['sevre'], /unknown command "sevre"; did you mean serve\?/],
    [['frobnicate'], /unknown command "frobnicate"; see/],
    [['serve', 'more'], /unexpected argument "more"/],
    [['--skill-dir'], /--skill-dir/],
    [['--refresh-interval', 'soon'], /--refresh-interval must be a whole number from 1 to 2147483647, not "soon"/],
    [['--refresh-interval', '0'], /--refresh-interval must be/],
    [['--refresh-interval', '-5'], /--refresh-interval/],
    [['--refresh-interval', '99999999999'], /--refresh-interval must be/],
    [['--description-budget', '1.5'], /--description-budget must be/],
    [['--names', 'save'], /--names must be one of auto, plain, safe, not "save"; did you mean safe\?/],
    [['--describe', ''], /--describe must be one of/],
    [['--log-level', 'loud'], /--log-level must be one of error, warn, info, debug, not "loud"/],
    [['--skill-dir', ''], /--skill-dir must be the path of a directory, not ""/],
    [['--skill-dir', 'x', '--skill-dir', ' '], /--skill-dir must be/],
    [['--root='], /--root must be the path of a directory/],
    [['--plugins-file', ''], /--plugins-file must be the path of a file/],
    [['doctor', '--config', ''], /--config must be the path of a file/],
    [['--quiet=yes'], /--quiet/],
    [['--\u001b[31mred'], /unknown option --\\u001b\[31mred/],
    [['line\nbreak'], /unknown command "line\\nbreak"/],
  ];
  for (const [args, line] of cases) {
    const { status, stdout, stderr } = run(...args);
    assert.equal(status, 2, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    assert.match(stderr, /^skillwire: [^\n]+; see skillwire --help\n$/, args.join(' '));
    assert.match(stderr, line);
  }
});

test('started in a directory that was deleted, every command says so in one line and exits 2', (t) => {
  for (const words of ['', 'doctor', 'trust', '--transport http --port 0']) {
    const gone = makeTree(t).path;
    const command = `cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${PROGRAM}' ${words}`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', input: '', timeout: 20_000 });
    assert.equal(status, 2, `${words} ${stderr}`);
    assert.match(stderr, /^skillwire: cannot use the working directory, it may have been deleted [^\n]+\n$/, words);
  }
});

for (const words of [[], ['serve'], ['mcp'], ['mcp-server']]) {
  test(`"skillwire ${words.join(' ')}" serves`, async (t) => {
    const program = startProgram(t, { tree: makeTree(t), args: words });
    await program.handshake();
    assert.equal(await program.end(), 0);
  });
}

test('--quiet says nothing but errors, --log-level how much else', async (t) => {
  const tree = makeTree(t, { 'skills/bad/SKILL.md': 'no front matter', 'skills/pdf/SKILL.md': skillText('pdf') });
  const said = async (...args: string[]) => {
    const program = startProgram(t, { tree, args });
    await program.description();
    await program.end();
    return program.stderr();
  };
  assert.equal(await said('--quiet'), '');
  assert.equal(await said('--log-level', 'error'), '');
  assert.match(await said('--log-level', 'warn'), /^skillwire: warn: .*there is no front matter\n$/);
  assert.match(await said(), /scanning[\s\S]*warn[\s\S]*ready[\s\S]*stopped/);
});
