/**
 * Trees of skills to serve, shaped like public ones: SKILL.md of 3 KB, a description of 190 characters, on average two
 * files in a directory, every fifth skill with a directory inside. Half of the texts hold a character beyond Latin-1, as
 * most real ones do: such a text takes two bytes per character once it is decoded.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The skill that is called: its SKILL.md is 6 KB. */
export const CALLED = 'skill-0';
const CALLED_BYTES = 6 * 1024;

/** Writes skills 0 to count-1 in groups of a hundred, and gives back the directory. */
export function makeSkills(directory, count) {
  for (let at = 0; at < count; at++) {
    const place = join(directory, `group-${Math.floor(at / 100)}`, `skill-${at}`);
    mkdirSync(at % 5 === 0 ? join(place, 'scripts') : place, { recursive: true });
    writeFileSync(join(place, 'SKILL.md'), skillText(at));
    writeFileSync(join(place, at % 5 === 0 ? 'scripts/run.sh' : 'reference.md'), `# Reference ${at}\n`);
  }
  return directory;
}

export function skillText(at) {
  const arrow = at % 2 === 0 ? '' : ' → then the next';
  const about = `Works on things of kind ${at}. Use when the task speaks of kind ${at}, of its files or of its tools, ${'or of what is near '.repeat(4)}it${arrow}.`;
  const head = `---\nname: skill-${at}\ndescription: ${about}\nlicense: MIT\n---\n# Skill ${at}\n\n`;
  const line = `A line of instructions for the model, as long as such lines are${arrow}.\n`;
  if (at !== 0) return head + line.repeat(43);
  return (head + line.repeat(100)).slice(0, CALLED_BYTES - 1).concat('\n');
}

/**
 * The duties of a scan and nothing more: every directory listed, every SKILL.md read whole and held, and the identity of
 * each directory and file kept, by which a later scan would see what changed.
 */
export function scan(directory, skills = new Map(), directories = new Map()) {
  directories.set(directory, identityOf(statSync(directory)));
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) scan(path, skills, directories);
    if (entry.name !== 'SKILL.md') continue;
    const file = openSync(path);
    const identity = identityOf(fstatSync(file));
    const bytes = readFileSync(file);
    closeSync(file);
    const head = bytes.toString('utf8', 0, bytes.indexOf('\n---\n'));
    const [, name] = /^name: (.*)$/m.exec(head);
    const [, description] = /^description: (.*)$/m.exec(head);
    skills.set(name, { path, identity, bytes, name, description });
  }
  return skills;
}

/** The list of tools that says all of it. */
export function describe(skills) {
  const lines = [...skills.values()].map(
    ({ name, description }) =>
      `<skill><name>${name}</name><description>${description}</description><location>custom</location></skill>`,
  );
  const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  return { tools: [{ name: 'skill', description: lines.join('\n'), inputSchema }] };
}

// --- internal ---

const identityOf = ({ dev, ino, size, mtimeMs, ctimeMs }) => ({ dev, ino, size, mtimeMs, ctimeMs });
