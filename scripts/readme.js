/**
 * `npm run readme`: writes into the README what is read off the code: the tables of options and of the rules of `check`,
 * the auditor's path, and the last kept measurements.
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
const parts = { options: await optionTable(), rules: await ruleTable(), audit: auditPath(), bench: benchTable() };
const after = Object.entries(parts).reduce((text, [name, content]) => put(text, name, content), before);
if (!check) writeFileSync(file, after);
else if (after !== before) {
  console.error('the README differs from the code; run: npm run readme');
  process.exitCode = 1;
}

// --- internal ---

/** What `npm run bench -- --keep` has written: every row beside what it is compared with, and the peers. */
function benchTable() {
  const { node, processor, versions, rows } = JSON.parse(
    readFileSync(join(top, 'scripts', 'bench', 'results.json'), 'utf8'),
  );
  const names = new Set(rows.flatMap((row) => Object.keys(row.values)));
  const peers = [...names].filter((name) => /^(?:sdk-|fastmcp|hub-sdk)/.test(name));
  const cells = rows.map(({ label, unit, by, against, values, ratio, target, ok }) => [
    label,
    amount(values.ours?.[by], unit),
    amount(values[against]?.[by], unit),
    ratio ? `${ratio.paired.toFixed(2)}x` : '',
    target === undefined ? '' : `${target}${ok ? '' : ' (missed)'}`,
    ...peers.map((name) => amount(values[name]?.[by], unit)),
  ]);
  const head = ['', 'skillwire', 'bare Node', 'ratio', 'target', ...peers];
  const line = (all) => `| ${all.join(' | ')} |`;
  const about = `Node ${node}, ${processor}; ${Object.entries(versions)
    .map((one) => one.join(' '))
    .join(', ')}.`;
  return [about, '', line(head), line(head.map(() => '---')), ...cells.map(line), ''].join('\n');
}

function amount(value, unit) {
  if (value === undefined) return '';
  return `${Number(value.toPrecision(3)).toLocaleString('en')} ${unit}`.trimEnd();
}

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. */
function put(text, name, content) {
  const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!marked.test(text)) throw new Error(`the README has no place for ${name}`);
  return text.replace(marked, (_all, begin, end) => `${begin}${content}${end}`);
}

async function ruleTable() {
  const { RULES } = await import(join(top, 'dist', 'cli', 'check', 'rules.js'));
  const rows = Object.entries(RULES).map(([rule, { severity, about }]) => `| ${severity} | \`${rule}\` | ${about} |\n`);
  return `| level | rule | a \`SKILL.md\` |\n|---|---|---|\n${rows.join('')}`;
}

/** The commands, the options of `serve`, and what the other commands have besides. */
async function optionTable() {
  const { COMMANDS } = await import(join(top, 'dist', 'cli', 'commands.js'));
  const { optionRows } = await import(join(top, 'dist', 'cli', 'options.js'));
  const cell = (text) => text.replaceAll('|', '\\|');
  const table = (head, rows) => [
    `| ${head} | meaning |`,
    '|---|---|',
    ...rows.map(([left, right]) => `| \`${cell(left)}\` | ${cell(right)} |`),
    '',
  ];
  const [serve, ...others] = COMMANDS;
  const named = ({ name, words = '' }) => `skillwire ${name} ${words}`.trim();
  const own = others.flatMap(({ name, options }) => {
    const added = Object.fromEntries(
      Object.entries(options).filter(([option]) => !Object.hasOwn(serve.options, option)),
    );
    return optionRows(added).map(([flag, help]) => [`${name} ${flag}`, help]);
  });
  return [
    ...table(
      'command',
      COMMANDS.map((one) => [named(one), one.help]),
    ),
    ...table('option of serve', optionRows(serve.options)),
    ...table('option of another command', own),
  ].join('\n');
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
