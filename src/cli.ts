/**
 * The program `skillwire` and its commands.
 * Always true: stdout carries protocol messages or the output that was asked for, and nothing else.
 */
import { COMMANDS } from './cli/commands.ts';
import { runProgram } from './cli/process.ts';

void runProgram({
  name: 'skillwire',
  about: 'every agent skill on this machine behind one MCP server',
  commands: COMMANDS,
});
