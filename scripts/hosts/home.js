/**
 * A home directory that no host has seen before, with a project in it, so that nothing of this machine is read.
 * One skill with a name of its own lies in each directory that some host is known to read: the names that turn up at the
 * model, though skillwire serves none of them, are the skills that the host loads by itself.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SKILL } from './model/script.js';

const IN_HOME = ['.agents', '.claude', '.codex', '.config/agents', '.config/opencode', '.gemini', '.qwen', '.copilot'];
const IN_PROJECT = ['.agents', '.claude', '.codex', '.opencode', '.gemini', '.qwen', '.github'];
const IN_BOTH = ['.agent', '.cline', '.continue', '.grok', '.cursor', '.kode'];

/** A sentence that is only in the body of the skill: who shows it has loaded the skill. */
export const BODY = 'Say good morning in seven languages.';

/** @returns `own`: the marker skills, as `{name, description, dir}` */
export function makeHome(folder, files) {
  const home = join(folder, 'home');
  const project = join(home, 'project');
  const own = [
    ...[...IN_HOME, ...IN_BOTH].map((dir) => [`own-home-${label(dir)}`, join('~', dir, 'skills'), home]),
    ...[...IN_PROJECT, ...IN_BOTH].map((dir) => [`own-project-${label(dir)}`, join(dir, 'skills'), project]),
  ];
  for (const [name, dir, base] of own) {
    writeSkill(join(base, dir.replace('~/', '')), name, marker(name), 'Nothing.');
  }
  mkdirSync(join(project, '.git'), { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFile(join(home, path), content);
  return { own: own.map(([name, dir]) => ({ name, description: marker(name), dir })) };
}

/** The skills that skillwire serves: one that is loaded, and as many others as asked for. */
export function makeSkills(folder, count) {
  writeSkill(folder, SKILL, 'Greets people. Use when somebody says hello.', BODY);
  for (let i = 1; i < count; i++) {
    const name = `example-${String(i).padStart(3, '0')}`;
    const text = `Example number ${i}, with a description as long as most are: it says what the skill does, in one or two `;
    writeSkill(
      folder,
      name,
      `${text}sentences, and then when to use it, which is what a model needs to choose.`,
      'Do it.',
    );
  }
}

// --- internal ---

const marker = (name) => `The skill ${name} marks a directory.`;

const label = (dir) =>
  dir
    .replace(/^~\//, '')
    .replace(/\/skills$/, '')
    .replace(/^\./, '')
    .replace('/', '-');

function writeSkill(root, name, description, body) {
  writeFile(
    join(root, name, 'SKILL.md'),
    `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n${body}\n`,
  );
}

function writeFile(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}
