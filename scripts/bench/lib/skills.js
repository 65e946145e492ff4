/**
 * Trees of skills to serve, shaped like public ones: SKILL.md of 3 KB, a description of 190 characters, on average two
 * files in a directory, every fifth skill with a directory of its own inside. Half of the texts hold a character beyond
 * Latin-1, as most real ones do: such a text takes two bytes per character once it is decoded.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The skill that is called: its SKILL.md is 6 KB. */
export const CALLED = 'skill-0';
const CALLED_BYTES = 6 * 1024;
const GROUP = 100;

/** Writes skills 0 to count-1 in groups of a hundred, and gives back the directory. */
export function makeSkills(directory, count) {
  for (let at = 0; at < count; at++) {
    const place = skillDirectory(directory, at);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'SKILL.md'), skillText(at));
    if (at % 5 === 0) {
      mkdirSync(join(place, 'scripts'));
      writeFileSync(join(place, 'scripts', 'run.sh'), 'echo done\n');
    } else {
      writeFileSync(join(place, 'reference.md'), `# Reference ${at}\n`);
    }
  }
  return directory;
}

export function skillDirectory(directory, at) {
  return join(directory, `group-${Math.floor(at / GROUP)}`, `skill-${at}`);
}

/** The SKILL.md of one skill; `mark` tells one version of it from another. */
export function skillText(at, mark = 'a') {
  const arrow = at % 2 === 0 ? '' : ' → then the next';
  const about = `Works on things of kind ${at}, version ${mark}. Use when the task speaks of kind ${at}, of its files or of its tools, ${'or of what is near '.repeat(4)}it${arrow}.`;
  const head = `---\nname: skill-${at}\ndescription: ${about}\nlicense: MIT\n---\n# Skill ${at}\n\n`;
  const line = `A line of instructions for the model, as long as such lines are${arrow}.\n`;
  if (at !== 0) return head + line.repeat(43);
  return (head + line.repeat(100)).slice(0, CALLED_BYTES - 1).concat('\n');
}

/** True when a listing names all skills. */
export function namesAll(text, count) {
  return new Set(text.match(/\bskill-\d+\b/g)).size === count;
}
