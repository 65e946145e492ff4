/** `npm run readme`: puts the table of options, read off the code, into the README. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, top } from './prepare.js';

install();
build();
const { optionRows } = await import(join(top, 'dist', 'cli', 'options.js'));
const cell = (text) => text.replaceAll('|', '\\|');
const rows = optionRows().map(([flag, help]) => `| \`${cell(flag)}\` | ${cell(help)} |`);
const table = ['| option | meaning |', '|---|---|', ...rows, ''].join('\n');
const file = join(top, 'README.md');
const marked = /(<!-- options -->\n)[\s\S]*?(<!-- \/options -->)/;
writeFileSync(
  file,
  readFileSync(file, 'utf8').replace(marked, (_all, begin, end) => `${begin}${table}${end}`),
);
