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
  { file: 'skillwire-tools.cjs', title: 'what the first list needs: finding skills, and the tools.' },
  { file: 'skillwire-service.cjs', title: 'what else is served: resources, prompts, notifications of changes.' },
  { file: 'skillwire-yaml.cjs', title: 'front matter that only a YAML parser can read.', packages: ['front-matter'] },
  { file: 'skillwire-filter.cjs', title: 'the patterns of --include and --exclude.' },
  { file: 'skillwire-http.cjs', title: 'what HTTP and SSE add.' },
  { file: 'skillwire-hub.cjs', title: 'what upstream servers add.' },
  { file: 'skillwire-commands.cjs', title: 'the commands besides serve.' },
];

/**
 * By file: the modules that other files import. By module or package: its file, undefined for a package of every file, and
 * whether it runs as soon as its file is loaded.
 */
export function assignModules() {
  const modules = readModules();
  const { fileOf, isAtOnce } = sortModules(modules);
  const exported = new Map(PARTS.map(({ file, packages = [] }) => [file, new Set(packages)]));
  for (const { path, imports } of modules.values())
    for (const target of imports)
      if (modules.has(target) && fileOf(target) !== fileOf(path)) exported.get(fileOf(target)).add(target);
  return { fileOf, isAtOnce, exported };
}

// --- internal ---

/** What every server imports after its handshake, and what after its first list. */
const TOOLS = ['src/first-list.ts', 'src/skills/source.ts', 'src/catalog/snapshot.ts'];
const SERVICE = ['src/service.ts', 'src/skills/contents.ts'];
/** What the hub imports while its servers start. */
const HUB_LATER = ['src/hub/contribution.ts', 'src/hub/upstream/listing.ts'];

function sortModules(modules) {
  const reached = (...entries) => new Set(entries.flatMap((entry) => [...reachAtOnce(modules, entry)]));
  const launcher = reached('src/launch.ts');
  const program = reached('src/cli.ts');
  const tools = reached(...TOOLS);
  const service = reached(...SERVICE);
  const hub = reached('src/hub/source.ts');
  const commands = reached('src/cli/commands.ts', 'src/cli/help.ts');
  const hubLater = reached(...HUB_LATER);
  const packages = new Map(PARTS.flatMap(({ file, packages: names = [] }) => names.map((name) => [name, file])));
  const fileOf = (path) => {
    if (!path.startsWith('src/')) return packages.get(path);
    if (launcher.has(path)) return 'skillwire.cjs';
    // What two files need at once is in the one that is always loaded.
    const isShared = (tools.has(path) || service.has(path)) && (hub.has(path) || commands.has(path));
    if (program.has(path) || isShared) return 'skillwire-program.cjs';
    if (tools.has(path)) return 'skillwire-tools.cjs';
    if (service.has(path)) return 'skillwire-service.cjs';
    if (path === 'src/skills/filter.ts') return 'skillwire-filter.cjs';
    if (path.startsWith('src/transports/http/')) return 'skillwire-http.cjs';
    const isOfHub = hub.has(path) || hubLater.has(path) || path.startsWith('src/hub/');
    return isOfHub ? 'skillwire-hub.cjs' : 'skillwire-commands.cjs';
  };
  return {
    fileOf,
    isAtOnce: (path) =>
      !path.startsWith('src/') || [launcher, program, tools, service, hub].some((one) => one.has(path)),
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
