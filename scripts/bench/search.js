/**
 * Searching 10,000 skills. The measure is one pass over the same bytes in memory, in this same run: byte by byte, as
 * JavaScript goes over them, and by the engine's own fastest search, which looks at few of them.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const DIST = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist');
const SKILLS = 10_000;
const ROUNDS = 7;
const WANTED = 5;

// Rare, common, several, and nowhere: the last has to go through everything.
const QUERIES = ['kind4711', 'instructions', 'model kind 77 tools', 'nowhere-to-be-found'];

/** Lines for people, one per measurement. */
export async function benchSearch(say) {
  const { searchSkills } = await import(pathToFileURL(join(DIST, 'skills', 'search.js')).href);
  const texts = Array.from({ length: SKILLS }, (_, at) => skillText(at));
  const listed = texts.map(listedSkill);
  const buffers = texts.map((text) => Buffer.from(text));
  const bytes = buffers.reduce((sum, { length }) => sum + length, 0);
  const pass = await fastest(() => buffers.reduce(xorAll, 0));
  const scan = await fastest(() => buffers.filter((buffer) => buffer.includes('nowhere-to-be-found')).length);
  say(
    `one pass over ${(bytes / 1e6).toFixed(0)} MB in ${SKILLS} texts: ${ms(pass)} byte by byte, ${ms(scan)} by Buffer.includes`,
  );
  const before = process.memoryUsage().heapUsed;
  for (const query of QUERIES) {
    let total = 0;
    const time = await fastest(async () => {
      ({ total } = await searchSkills(listed, query, 10, new AbortController().signal));
    });
    const ratio = `${(time / pass).toFixed(2)}x the first, ${(time / scan).toFixed(1)}x the second`;
    say(`"${query}", ${total} hits: ${ms(time)} = ${ratio} (wanted: at most ${WANTED}x)`);
  }
  global.gc?.();
  say(`heap after all searches: ${((process.memoryUsage().heapUsed - before) / 1e6).toFixed(1)} MB more than before`);
}

// --- internal ---

function xorAll(sum, buffer) {
  let all = sum;
  for (let at = 0; at < buffer.length; at++) all ^= buffer[at];
  return all;
}

// About as long as the median of public ones; every fifth holds a character that takes two bytes in memory.
function skillText(at) {
  const odd = at % 5 === 0 ? ' → done' : '';
  const lines = 'A line of instructions for the model, with words in it.\n'.repeat(55);
  return `---\nname: skill-${at}\ndescription: Works on Kind${at} and its tools${odd}\n---\n# Skill ${at}\n\n${lines}`;
}

function listedSkill(text, at) {
  const directory = `/skills/skill-${at}`;
  const file = `${directory}/SKILL.md`;
  const skill = { name: `skill-${at}`, description: `Works on Kind${at} and its tools`, directory, file, text };
  return { id: skill.name, skill };
}

async function fastest(work) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

const ms = (time) => `${time.toFixed(1)} ms`;
