/**
 * `npm run readme`: puts the line counts and the kept measurements into the README. `--check` changes nothing, and fails
 * when the README differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readModules, sizes } from './audit.js';
import { say, top } from './build.js';

const file = join(top, 'README.md');
const before = readFileSync(file, 'utf8');
const after = put(put(before, 'sizes', sizeTable()), 'measured', measuredTable());
if (process.argv.includes('--check')) {
  if (after !== before) {
    say('the README is not up to date: npm run readme');
    process.exitCode = 1;
  }
} else writeFileSync(file, after);

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. */
function put(text, name, content) {
  const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!marked.test(text)) throw new Error(`the README has no place for ${name}`);
  return text.replace(marked, (_all, begin, end) => `${begin}${content}${end}`);
}

/** Rooms beside each other in few lines. */
function sizeTable() {
  const cells = sizes(readModules()).map(([room, lines]) => `${room} | ${lines.toLocaleString('en')}`);
  const rows = [];
  for (let at = 0; at < cells.length; at += 3) rows.push(`| ${cells.slice(at, at + 3).join(' | ')} |\n`);
  return `| | | | | | |\n|---|---|---|---|---|---|\n${rows.join('')}`;
}

function measuredTable() {
  const { about, rows } = JSON.parse(readFileSync(join(top, 'scripts', 'bench', 'results.json'), 'utf8'));
  const line = (all) => `| ${all.join(' | ')} |\n`;
  const head = ['', 'skillwire', 'bare Node', 'ratio', 'SDK v1', 'SDK v2'];
  const body = rows.map(({ label, ours, bare, ratio, v1, v2 }) =>
    line([label, ours, bare, ratio, v1, v2].map((one) => one ?? '')),
  );
  return `${about}\n\n${line(head)}${line(head.map(() => '---'))}${body.join('')}`;
}
