/**
 * `npm run readme`: writes into the README what is read off the code: the table of options and the auditor's path.
 * With `--check` it writes nothing, and fails when the README says something else.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditGroups } from './audit/boundaries.js';
import { linesOf, readModules } from './audit/modules.js';
import { build, install, top } from './prepare.js';

const check = process.argv.includes('--check');
if (!check) {
  install();
  build();
}
const file = join(top, 'README.md');
const before = readFileSync(file, 'utf8');
const after = put(put(before, 'options', await optionTable()), 'audit', auditPath());
if (!check) writeFileSync(file, after);
else if (after !== before) {
  console.error('the README differs from the code; run: npm run readme');
  process.exitCode = 1;
}

// --- internal ---

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. */
function put(text, name, content) {
  const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!marked.test(text)) throw new Error(`the README has no place for ${name}`);
  return text.replace(marked, (_all, begin, end) => `${begin}${content}${end}`);
}

async function optionTable() {
  const { optionRows } = await import(join(top, 'dist', 'cli', 'options.js'));
  const cell = (text) => text.replaceAll('|', '\\|');
  const rows = optionRows().map(([flag, help]) => `| \`${cell(flag)}\` | ${cell(help)} |`);
  return ['| option | meaning |', '|---|---|', ...rows, ''].join('\n');
}

function auditPath() {
  const modules = readModules();
  const size = (paths) => `${paths.length} files, ${linesOf(modules, paths).toLocaleString('en')} lines`;
  return auditGroups(modules)
    .map(({ title, parts }) => {
      const filled = parts.filter(({ paths }) => paths.length > 0);
      const boundary = filled.filter((part) => part.boundary).flatMap((part) => part.paths);
      const all = filled.flatMap((part) => part.paths);
      const rows = filled.map(({ name, boundary: atBoundary, paths, lines }) => {
        const files = paths.map((path) => `\`${path.replace('src/', '')}\` ${modules.get(path).lines}`);
        return `| ${atBoundary ? `**${name}**` : name} | ${lines.toLocaleString('en')} | ${files.join(', ')} |`;
      });
      const trusted = boundary.length === 0 ? '' : `; at a trust boundary ${size(boundary)}`;
      return [`${title}: ${size(all)}${trusted}.`, '', '| part | lines | files |', '|---|---|---|', ...rows, ''].join(
        '\n',
      );
    })
    .join('\n');
}
