/** What a host's own output and log files say against us: warnings and errors that name our server. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER } from './agents.js';

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_LINES = 12;
const FAULT =
  /\b(warn|warning|error|err|invalid|truncat\w*|exceed\w*|refus\w*|reject\w*|skipp\w*|too (long|large|many)|fail\w*)\b/i;
const ABOUT_US = new RegExp(`skillwire|mcp_+${SERVER}|["'\`\\[(:/ ]${SERVER}["'\`\\]):_. ]`, 'i');
// Our own lines, which hosts copy, are no complaint of theirs; nor is an event that says there was no error.
const HARMLESS = /skillwire: |Server stderr|MCP STDERR|"error":null/;

/** @param cache the paths below it hold words that are looked for, and are left out */
export function findComplaints(folder, cache) {
  const found = new Set();
  for (const file of logFiles(folder)) {
    for (const line of readFileSync(file, 'utf8').replaceAll(cache, '').split('\n')) {
      if (line.length < 2000 && FAULT.test(line) && ABOUT_US.test(line) && !HARMLESS.test(line)) found.add(line.trim());
    }
  }
  return [...found].slice(0, MAX_LINES);
}

function logFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /(\.log|\.txt)$/.test(name) && !name.endsWith('mcp.log'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() && statSync(path).size < MAX_BYTES);
}
