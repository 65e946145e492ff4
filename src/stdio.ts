/**
 * The program `skillwire-stdio`: serves the skills of this machine on stdin and stdout.
 * Always true: nothing that it imports, types included, is in hub/ or transports/http/; it opens no network connection
 * and starts no process. Someone who vendors it can delete both folders.
 */
import { optionsHelp } from './cli/help.ts';
import { SERVE_WORDS, STDIO_OPTIONS } from './cli/options.ts';
import { checkedValues, parseArguments, UsageError, type Values } from './cli/parse.ts';
import { createStderrLog, explainTerminal, libraryOptions, runProgram, serveUntilStopped } from './cli/process.ts';
import { settingsFrom } from './config.ts';
import { LAST_MS } from './limits.ts';
import { createServer } from './server.ts';
import { serveStdio } from './transports/stdio.ts';
import { VERSION } from './version.ts';

const TITLE = 'skillwire-stdio: every agent skill on this machine behind one MCP server, on stdin and stdout.';

void runProgram(() => {
  const { given, words, rest } = parseArguments(process.argv.slice(2), STDIO_OPTIONS);
  const values = checkedValues(given, STDIO_OPTIONS);
  const wrong = [...words, ...rest].find((word, at) => at > 0 || !SERVE_WORDS.includes(word));
  if (wrong !== undefined) throw new UsageError(`unexpected argument "${wrong}"`);
  if (!values.help && !values.version) return serve(values);
  process.stdout.write(values.help ? `${TITLE}\n\n${optionsHelp(STDIO_OPTIONS)}\n` : `${VERSION}\n`);
  return undefined;
});

async function serve(values: Values<typeof STDIO_OPTIONS>): Promise<void> {
  const log = createStderrLog(values);
  const settings = settingsFrom({ ...libraryOptions(values, STDIO_OPTIONS), log });
  await serveUntilStopped(log, async (stop) => {
    explainTerminal(log);
    const server = createServer(settings, []);
    const { stdin: input, stdout: output } = process;
    await serveStdio(server.dispatcher, { input, output, stop, lastMs: LAST_MS, onLast: server.stop });
    await server.close();
  });
}
