/**
 * The program `skillwire-stdio`: serves the skills of this machine on stdin and stdout.
 * Always true: nothing that it imports, types included, is in hub/ or transports/http/; it opens no network connection
 * and starts no process. Someone who vendors it can delete both folders.
 */
import type { Command } from './cli/command.ts';
import { STDIO_OPTIONS } from './cli/options.ts';
import { skillOptions, type Values } from './cli/parse.ts';
import { createStderrLog, explainTerminal, runProgram, serveUntilStopped, workingDirectory } from './cli/process.ts';
import { settingsFrom } from './config.ts';
import { createServer } from './server.ts';
import { SHUTDOWN } from './shutdown.ts';
import { serveStdio } from './transports/stdio.ts';

export const main = () =>
  runProgram({
    name: 'skillwire-stdio',
    about: 'every agent skill on this machine behind one MCP server, on stdin and stdout',
    main: SERVE,
    commands: async () => [SERVE],
  });

// --- internal ---

const SERVE = {
  name: 'serve',
  aliases: ['mcp', 'mcp-server'],
  help: 'Serve MCP on stdin and stdout.',
  options: STDIO_OPTIONS,
  examples: ['skillwire-stdio --skill-dir ~/my-skills'],
  run: serve,
} satisfies Command<typeof STDIO_OPTIONS>;

async function serve(values: Values<typeof STDIO_OPTIONS>): Promise<void> {
  const log = createStderrLog(values);
  const settings = settingsFrom({ ...skillOptions(values), cwd: workingDirectory(), env: process.env, log });
  await serveUntilStopped(log, async (stop) => {
    explainTerminal(log);
    const server = createServer(settings, []);
    const onLast = () => server.stop(stop.aborted);
    const pipes = { input: process.stdin, output: process.stdout };
    await serveStdio(server.handle, pipes, { stop, onLast, lastFlushMs: SHUTDOWN.lastFlushMs });
    await server.end();
  });
}
