/**
 * `npm run audit`: what someone who checks the program wants to know, read off the code: which files stand at a trust
 * boundary, in which order to read them and how long they are; built-ins per module; packages; every limit.
 */
import { auditGroups } from './boundaries.js';
import { builtIns, limits, runtimePackages } from './facts.js';
import { linesOf, readModules } from './modules.js';

const modules = readModules();
const out = [];
const short = (path) => path.replace('src/', '');

for (const { title, parts } of auditGroups(modules)) {
  const paths = parts.flatMap((part) => part.paths);
  const atBoundary = parts.filter(({ boundary }) => boundary).flatMap((part) => part.paths);
  out.push('', `${title}: ${count(paths)}, of these at a trust boundary: ${count(atBoundary)}`);
  for (const { name, boundary, paths: files } of parts.filter((part) => part.paths.length > 0)) {
    out.push(`  ${name}${boundary ? ' (trust boundary)' : ''}: ${count(files)}`);
    for (const path of files) out.push(`    ${String(modules.get(path).lines).padStart(5)}  ${path}`);
  }
}
out.push('', `All of src: ${count([...modules.keys()])}`);

out.push('', 'Built-ins of Node, and the modules that import them');
for (const [name, paths] of builtIns(modules)) out.push(`  ${name}`, `    ${paths.map(short).join(', ')}`);

out.push('', 'Packages at run time');
for (const { name, version, direct } of runtimePackages()) {
  const users = [...modules].filter(([, { imports }]) => imports.includes(name)).map(([path]) => short(path));
  out.push(`  ${name} ${version}: ${direct ? `imported by ${users.join(', ')}` : 'through another package'}`);
}

out.push('', 'Limits');
for (const { path, name, value, reason } of limits(modules)) {
  out.push(`  ${name} = ${value.toLocaleString('en')}  (${short(path)})`, `    ${reason || 'no reason is given'}`);
}
process.stdout.write(`${out.join('\n').trim()}\n`);

function count(paths) {
  return `${paths.length} files, ${linesOf(modules, paths).toLocaleString('en')} lines`;
}
