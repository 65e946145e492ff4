/**
 * The program `skillwire` and its commands.
 * Always true: stdout carries protocol messages or the output that was asked for, and nothing else.
 */
import { runCommand } from './cli/command.ts';
import { COMMANDS } from './cli/commands.ts';
import { runProgram } from './cli/process.ts';

const ABOUT = 'every agent skill on this machine behind one MCP server';

void runProgram(() => runCommand(ABOUT, COMMANDS, process.argv.slice(2)));
