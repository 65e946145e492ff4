/** A temporary directory with files, removed when the test ends: `makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') })`. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Tree {
  /** Absolute, without links. */
  readonly path: string;
  at(name: string): string;
  write(name: string, text: string | Uint8Array): string;
  link(name: string, target: string): void;
  remove(name: string): void;
}

export function makeTree(t: TestContext, files: Readonly<Record<string, string>> = {}): Tree {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'skillwire-')));
  // A program that is still running may write in between; a hook that fails would leave it running for ever.
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  const tree: Tree = {
    path,
    at: (name) => join(path, name),
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    link(name, target) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      symlinkSync(target, join(path, name));
    },
    remove: (name) => rmSync(join(path, name), { recursive: true, force: true }),
  };
  for (const [name, text] of Object.entries(files)) tree.write(name, text);
  return tree;
}

/** The text of a SKILL.md. */
export function skillText(name: string, description = `About ${name}`, body = `# ${name}\n`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
}

/** A home with installed plugins: `pluginFiles('docs:pdf', 'docs:xlsx')` has one plugin with two skills. */
export function pluginFiles(...ids: readonly string[]): Readonly<Record<string, string>> {
  const pairs = ids.map((id) => id.split(':') as [plugin: string, skill: string]);
  const plugins = Object.fromEntries(pairs.map(([plugin]) => [`${plugin}@market`, { installPath: plugin }]));
  const files = pairs.map(([plugin, skill]) => [
    `home/.claude/plugins/${plugin}/skills/${skill}/SKILL.md`,
    skillText(skill, `${skill} of ${plugin}`),
  ]);
  const installed = { 'home/.claude/plugins/installed_plugins.json': JSON.stringify({ version: 1, plugins }) };
  return { ...installed, ...Object.fromEntries(files) };
}
