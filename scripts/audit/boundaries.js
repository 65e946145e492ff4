/**
 * The parts of the program in the order in which an auditor reads them. Each file of src/ is in exactly one part.
 * A part marked `boundary` takes something in from outside: what it lets through, the parts after it rely on.
 */
import { linesOf, reach } from './modules.js';

/** Groups of parts: the stdio server, then what HTTP, the hub and the other commands add. */
export function auditGroups(modules) {
  const stdio = new Set(reach(modules, 'src/stdio.ts'));
  const order = [...stdio, ...reach(modules, 'src/cli.ts'), ...reach(modules, 'src/index.ts'), ...modules.keys()];
  const left = new Set(order);
  return GROUPS.map(({ title, parts, onlyStdio = false }) => ({
    title,
    parts: parts.map(({ name, boundary = false, holds }) => {
      const paths = [...left].filter((path) => (!onlyStdio || stdio.has(path)) && holds(path, modules.get(path)));
      for (const path of paths) left.delete(path);
      return { name, boundary, paths, lines: linesOf(modules, paths) };
    }),
  }));
}

// --- internal ---

const below = (...folders) => {
  const starts = folders.map((folder) => `src/${folder}`);
  return (path) => starts.some((start) => path.startsWith(start));
};
const inSkills = below('skills/');
/** Reads files or their content; the rest of skills/ works on what these give. */
const readsDisk = (path, { imports }) =>
  inSkills(path) &&
  (imports.some((one) => one === 'node:fs' || /^src\/files\/(?!pace)/.test(one)) || /front-matter/.test(path));

const GROUPS = [
  {
    title: 'The stdio server',
    onlyStdio: true,
    parts: [
      { name: 'messages of the client', boundary: true, holds: below('protocol/', 'transports/stdio') },
      {
        name: 'files on disk',
        boundary: true,
        holds: (path, module) => below('files/')(path) || readsDisk(path, module),
      },
      { name: 'text that is shown to models and terminals', boundary: true, holds: below('text.ts', 'log.ts') },
      {
        name: 'types, names, addresses, search',
        holds: below('model.ts', 'version.ts', 'compare.ts', 'wait.ts', 'skills/'),
      },
      { name: 'the snapshot and its refresh', holds: below('catalog/') },
      { name: 'tools', holds: below('tools/') },
      { name: 'methods', holds: below('methods/') },
      { name: 'settings, command line, entry', holds: () => true },
    ],
  },
  {
    title: 'What HTTP adds',
    parts: [{ name: 'HTTP requests', boundary: true, holds: below('transports/http/') }],
  },
  {
    title: 'What the hub adds',
    parts: [
      { name: 'configuration and trust', boundary: true, holds: below('hub/config/', 'files/') },
      { name: 'connections to servers', boundary: true, holds: below('hub/connection/') },
      { name: 'what servers list and answer', boundary: true, holds: below('hub/upstream/') },
      { name: 'the hub itself', holds: below('hub/', 'hops.ts') },
    ],
  },
  {
    title: 'The rest of the program and of the library',
    parts: [
      { name: 'compiled code that is kept for the next start', boundary: true, holds: below('cli/compile-cache.ts') },
      { name: 'the files that `check` reads and mends', boundary: true, holds: below('cli/check/') },
      { name: 'configuration files of clients', boundary: true, holds: below('cli/setup/', 'cli/replace-file.ts') },
      { name: 'commands and entries', holds: () => true },
    ],
  },
];
