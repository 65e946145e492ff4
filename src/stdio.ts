/**
 * The program `skillwire-stdio`: serves the skills of this machine on stdin and stdout.
 * Always true: nothing that it imports, types included, is in hub/ or transports/http/; it opens no network connection
 * and starts no process. Someone who vendors it can delete both folders.
 */
import { stdioHelpText } from './cli/options.ts';
import { parseStdioCommand } from './cli/parse.ts';
import { createStderrLog, explainTerminal, runProgram, serveUntilStopped, workingDirectory } from './cli/process.ts';
import { settingsFrom } from './config.ts';
import { createServer } from './server.ts';
import { SHUTDOWN } from './shutdown.ts';
import { serveStdio } from './transports/stdio.ts';
import { VERSION } from './version.ts';

void runProgram(async () => {
  const command = parseStdioCommand(process.argv.slice(2));
  switch (command.kind) {
    case 'help':
      process.stdout.write(stdioHelpText());
      break;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      break;
    case 'serve': {
      const log = createStderrLog(command.log);
      const cwd = workingDirectory();
      await serveUntilStopped(log, async (stop) => {
        explainTerminal(log);
        const server = createServer(settingsFrom({ ...command.options, cwd, env: process.env, log }), []);
        const onLast = () => server.stop(stop.aborted ? SHUTDOWN.stoppedCallsMs : SHUTDOWN.lastCallsMs);
        const pipes = { input: process.stdin, output: process.stdout };
        await serveStdio(server.handle, pipes, { stop, onLast, lastFlushMs: SHUTDOWN.lastFlushMs });
        await server.end();
      });
    }
  }
});
