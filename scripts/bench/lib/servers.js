/**
 * The command lines of what is measured: the program, the floors, the peers.
 * The program is the file that package.json names under `bin`, because that is what users run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { top } from '../../prepare.js';
import { CALLED, namesAll } from './skills.js';
import { connect, initialize, wrong } from './stdio-client.js';

export const LIST = { method: 'tools/list', params: {} };
export const CALL = { method: 'tools/call', params: { name: 'skill', arguments: { name: CALLED } } };

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

/** A place of its own for a server's home and working directory, so that no server finds another's files. */
export function open(bench, args, home = bench.directory('home')) {
  return connect({ node: bench.node, args, cwd: home, home });
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
  if (isConstant(result, bytes, 'tools/list', sizes)) return;
  const description = result?.tools?.find(({ name }) => name === 'skill')?.description;
  if (description === undefined || !namesAll(description, count)) throw wrong('tools/list', result);
}

/** Throws unless the result holds the text, or is the floor's constant of the right size. */
export function checkCall({ result, bytes }, text, sizes) {
  if (isConstant(result, bytes, 'tools/call', sizes)) return;
  if (result?.isError || !result?.content?.[0]?.text?.endsWith(text)) throw wrong('tools/call', result);
}

// --- internal ---

function isConstant(result, bytes, method, sizes) {
  if (typeof result?.x !== 'string' || result.content || result.tools) return false;
  const size = Number(sizes.find((pair) => pair.startsWith(`${method}=`)).split('=')[1]);
  const envelope = '{"jsonrpc":"2.0","id":1000000,"result":}'.length;
  if (bytes.length !== size + envelope) throw wrong(method, `${bytes.length} bytes instead of ${size + envelope}`);
  return true;
}
