/**
 * The program. The only file that touches the process: its streams, signals, environment and exit code.
 * Always true: stdout carries protocol or the output that was asked for, nothing else; ending is quiet and exits 0.
 */
import { helpText, parseCommand, UsageError } from './cli/options.ts';
import { serve } from './cli/serve.ts';
import { printable } from './text.ts';
import { VERSION } from './version.ts';

// Whoever closes our output has seen enough: no reason for a stack trace.
process.stdout.on('error', () => {});

void main().catch((error) => {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`skillwire: ${printable(error.message)}; see skillwire --help\n`);
  process.exitCode = 2;
});

async function main(): Promise<void> {
  const command = parseCommand(process.argv.slice(2));
  switch (command.kind) {
    case 'help':
      process.stdout.write(helpText());
      break;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      break;
    case 'serve':
      await serve(command);
      break;
    case 'doctor': {
      const { doctor } = await import('./cli/doctor.ts');
      await doctor(command);
      break;
    }
    case 'trust': {
      const { trustProject } = await import('./cli/trust.ts');
      await trustProject();
    }
  }
}
