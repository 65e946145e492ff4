/**
 * Which file of dist/ has which modules of src/. Each module is in one file; the other files reach it through the exports
 * of that file, so that there is one copy of everything. skillwire-stdio.cjs needs none of the others.
 */
import { reach, readModules } from '../audit/modules.js';

/** What the stdio server reaches, types included. */
const STDIO = 'src/stdio.ts';

export const PARTS = [
  {
    file: 'skillwire-stdio.cjs',
    title: 'the server on stdin and stdout, complete: no network, no processes.',
    main: STDIO,
  },
  {
    file: 'skillwire.cjs',
    title: 'every agent skill on a machine behind one MCP server; loads the files beside it.',
    main: 'src/launch.ts',
  },
  {
    file: 'skillwire-program.cjs',
    title: 'the command line and the server with everything that can be added to it.',
    main: 'src/cli.ts',
  },
  { file: 'skillwire-http.cjs', title: 'what HTTP and SSE add.' },
  { file: 'skillwire-hub.cjs', title: 'what upstream servers add.' },
  { file: 'skillwire-commands.cjs', title: 'the commands besides serve.' },
];

/** By file: the modules that other files import. By module: its file. */
export function assignModules() {
  const modules = readModules();
  const fileOf = fileFinder(modules);
  const exported = new Map(PARTS.map(({ file }) => [file, new Set()]));
  for (const { path, imports } of modules.values())
    for (const target of imports)
      if (modules.has(target) && fileOf(target) !== fileOf(path)) exported.get(fileOf(target)).add(target);
  return { fileOf, exported };
}

// --- internal ---

function fileFinder(modules) {
  const stdio = new Set(reach(modules, STDIO));
  const launcher = new Set(reach(modules, 'src/launch.ts'));
  // What the program needs for every command is in its own file; a command's file is loaded with the command.
  const program = new Set([
    'src/cli.ts',
    'src/cli/commands.ts',
    'src/cli/all-options.ts',
    'src/cli/serve.ts',
    'src/index.ts',
    'src/hops.ts',
    'src/skills/memory.ts',
  ]);
  return (path) => {
    if (stdio.has(path)) return 'skillwire-stdio.cjs';
    if (launcher.has(path)) return 'skillwire.cjs';
    if (program.has(path)) return 'skillwire-program.cjs';
    if (path.startsWith('src/transports/http/')) return 'skillwire-http.cjs';
    return /^src\/(?:hub|files)\//.test(path) ? 'skillwire-hub.cjs' : 'skillwire-commands.cjs';
  };
}
