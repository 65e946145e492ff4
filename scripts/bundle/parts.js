/**
 * Which file of dist/ has which modules of src/. skillwire-stdio.cjs is a program of its own and complete. Of the other
 * files, each module is in one; the others reach it through the `modules` of that file.
 */
import { readModules } from '../audit/modules.js';

/** `isProgram`: can be run. `alone`: has everything that its main module reaches. `packages`: those that are loaded when they are needed. */
export const PARTS = [
  {
    file: 'skillwire-stdio.cjs',
    title: 'the server on stdin and stdout, complete: no network, no processes.',
    main: 'src/stdio.ts',
    isProgram: true,
    alone: true,
  },
  {
    file: 'skillwire.cjs',
    title: 'every agent skill on a machine behind one MCP server; loads the files beside it.',
    main: 'src/launch.ts',
    isProgram: true,
  },
  {
    file: 'skillwire-program.cjs',
    title: 'the command line, stdin and stdout, and the handshake.',
    main: 'src/cli.ts',
  },
  { file: 'skillwire-service.cjs', title: 'what is served after the handshake: skills, tools, resources, prompts.' },
  { file: 'skillwire-yaml.cjs', title: 'front matter that only a YAML parser can read.', packages: ['front-matter'] },
  { file: 'skillwire-filter.cjs', title: 'the patterns of --include and --exclude.' },
  { file: 'skillwire-http.cjs', title: 'what HTTP and SSE add.' },
  { file: 'skillwire-hub.cjs', title: 'what upstream servers add.' },
  { file: 'skillwire-commands.cjs', title: 'the commands besides serve.' },
];

/** By file: the modules that other files import. By module or package: its file; undefined for a package of every file. */
export function assignModules() {
  const modules = readModules();
  const fileOf = fileFinder(modules);
  const exported = new Map(PARTS.map(({ file, packages = [] }) => [file, new Set(packages)]));
  for (const { path, imports } of modules.values())
    for (const target of imports)
      if (modules.has(target) && fileOf(target) !== fileOf(path)) exported.get(fileOf(target)).add(target);
  return { fileOf, exported };
}

// --- internal ---

/** What every server imports after its handshake. */
const SERVICE = ['src/service.ts', 'src/skills/source.ts', 'src/catalog/snapshot.ts'];

function fileFinder(modules) {
  const launcher = reachAtOnce(modules, 'src/launch.ts');
  const program = reachAtOnce(modules, 'src/cli.ts');
  const service = SERVICE.map((entry) => reachAtOnce(modules, entry));
  const later = new Map(PARTS.flatMap(({ file, packages = [] }) => packages.map((name) => [name, file])));
  return (path) => {
    if (!path.startsWith('src/')) return later.get(path);
    if (launcher.has(path)) return 'skillwire.cjs';
    if (program.has(path)) return 'skillwire-program.cjs';
    if (service.some((one) => one.has(path))) return 'skillwire-service.cjs';
    if (path === 'src/skills/filter.ts') return 'skillwire-filter.cjs';
    if (path.startsWith('src/transports/http/')) return 'skillwire-http.cjs';
    return /^src\/(?:hub|files)\//.test(path) ? 'skillwire-hub.cjs' : 'skillwire-commands.cjs';
  };
}

/** The modules that run when an entry does: what is imported as a type, or later, is not among them. */
function reachAtOnce(modules, entry) {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path) || !modules.has(path)) return;
    reached.add(path);
    for (const target of modules.get(path).importsAtOnce) visit(target);
  };
  visit(entry);
  return reached;
}
