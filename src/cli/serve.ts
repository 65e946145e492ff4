/**
 * `skillwire serve`: one client on stdin and stdout, or many clients over HTTP.
 * Owns: the choice of the transport. Leaves alone: signals and exit (process.ts), what is served (skillwire.ts).
 */
import { messageOf } from '../log.ts';
import { createSkillwire, type ServeHttpOptions, type Skillwire } from '../skillwire.ts';
import { type AllValues, allOptions } from './commands.ts';
import { UsageError } from './parse.ts';
import { createStderrLog, explainTerminal, serveUntilStopped } from './process.ts';

export async function serve(values: AllValues): Promise<void> {
  const log = createStderrLog(values);
  const { transport } = values;
  await serveUntilStopped(log, async (stop) => {
    if (transport === 'stdio') explainTerminal(log);
    const skillwire = createSkillwire({ ...allOptions(values), log });
    const { stdin: input, stdout: output } = process;
    if (transport === 'stdio') return skillwire.serveStdio({ input, output }, stop);
    const listening = await listen(skillwire, {
      announce: transport,
      // An IPv6 address may have the brackets that it has in a URL.
      host: values.host.replace(/^\[(.*)\]$/, '$1'),
      port: values.port,
      allowHosts: values['allow-host'],
      allowOrigins: values['allow-origin'],
      noAuth: values['no-auth'],
      token: process.env.SKILLWIRE_TOKEN,
    });
    log.info(`listening on ${listening.url}`);
    if (!stop.aborted) await new Promise((stopped) => stop.addEventListener('abort', stopped));
    await listening.close();
  });
}

// --- internal ---

/** Others would be let in by mistake, or the system refuses the address: either way other options are needed. */
async function listen(skillwire: Skillwire, where: ServeHttpOptions) {
  try {
    return await skillwire.serveHttp(where);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
