/**
 * The program `skillwire` and its commands.
 * Always true: stdout carries protocol messages or the output that was asked for, and nothing else.
 */
import { runProgram } from './cli/process.ts';
import { SERVE } from './cli/serve.ts';

void runProgram({
  name: 'skillwire',
  about: 'every agent skill on this machine behind one MCP server',
  main: SERVE,
  commands: async () => (await import('./cli/commands.ts')).COMMANDS,
});
