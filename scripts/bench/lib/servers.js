/**
 * The command lines of what is measured: the program, the floors, the peers.
 * The program is the file that package.json names under `bin`, because that is what users run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { top } from '../../prepare.js';
import { pause } from './processes.js';
import { CALLED, namesAll } from './skills.js';
import { connect, initialize, wrong } from './stdio-client.js';

export const LIST = { method: 'tools/list', params: {} };
export const CALL = { method: 'tools/call', params: { name: 'skill', arguments: { name: CALLED } } };

const WARM_STARTS = 3;
// It may take its time to write that.
const WARM_PAUSE_MS = 500;

const floors = fileURLToPath(new URL('../floors/', import.meta.url));

export function programFile() {
  const { bin } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'));
  return join(top, typeof bin === 'string' ? bin : bin.skillwire);
}

/** Our program on one directory of skills and nothing else of this machine. */
export function ours(bench, skills, ...flags) {
  return [bench.program, '--no-default-dirs', '--no-plugins', '--skill-dir', skills, ...flags];
}

export const floor = (name, ...args) => [join(floors, `${name}.js`), ...args];

/** Starts a server, at home in a directory that has nothing of this machine. */
export function open(bench, args, home = bench.home) {
  return connect({ node: bench.node, args, cwd: home, home });
}

/** A few starts before the measured ones: a program may keep what it compiled for its next start. */
export async function warmUp(bench, args, home = bench.home) {
  for (let at = 0; at < WARM_STARTS; at++) {
    const client = open(bench, args, home);
    try {
      await initialize(client);
      await client.request(LIST.method, LIST.params);
      await pause(WARM_PAUSE_MS);
    } finally {
      await client.end();
    }
  }
}

/** Bytes of our results, as METHOD=BYTES: the floors answer with as many. */
export async function sizesOf(bench, args) {
  const client = open(bench, args);
  try {
    const hello = await initialize(client);
    const list = await client.request(LIST.method, LIST.params);
    const call = await client.request(CALL.method, CALL.params);
    const results = { initialize: hello.result, 'tools/list': list.result, 'tools/call': call.result };
    const pairs = Object.entries(results);
    return pairs.map(([method, result]) => `${method}=${Buffer.byteLength(JSON.stringify(result))}`);
  } finally {
    await client.end();
  }
}

/** Throws unless the result is a listing of all skills, or the floor's constant of the right size. */
export function checkList({ result, bytes }, count, sizes) {
  checkFloorSize(result, bytes, 'tools/list', sizes);
  if (isConstant(result)) return;
  const description = result?.tools?.find(({ name }) => name === 'skill')?.description;
  if (description === undefined || !namesAll(description, count)) throw wrong('tools/list', result);
}

/** Throws unless the result holds the text, or is the floor's constant of the right size. */
export function checkCall({ result, bytes }, text, sizes) {
  checkFloorSize(result, bytes, 'tools/call', sizes);
  if (isConstant(result)) return;
  if (result?.isError || !result?.content?.[0]?.text?.endsWith(text)) throw wrong('tools/call', result);
}

// --- internal ---

const isConstant = (result) => typeof result?.x === 'string' && !result.content && !result.tools;

/** Floors fill their results up with "x": they must be exactly as long as ours. */
function checkFloorSize(result, bytes, method, sizes) {
  if (typeof result?.x !== 'string') return;
  const size = Number(sizes.find((pair) => pair.startsWith(`${method}=`)).split('=')[1]);
  const expected = size + '{"jsonrpc":"2.0","id":1000000,"result":}'.length;
  if (bytes.length !== expected) throw wrong(method, `${bytes.length} bytes instead of ${expected}`);
}
