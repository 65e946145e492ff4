/**
 * The program `skillwire`: parses the command line and runs the command.
 * Always true: stdout carries protocol messages or the output that was asked for, and nothing else.
 */
import { helpText } from './cli/options.ts';
import { parseCommand } from './cli/parse.ts';
import { runProgram } from './cli/process.ts';
import { serve } from './cli/serve.ts';
import { VERSION } from './version.ts';

void runProgram(async () => {
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
});
