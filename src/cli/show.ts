/**
 * `skillwire show`: one skill as an agent gets it, or its files.
 * Owns: why a skill in a directory of that name could not be loaded, which a person can mend and a model cannot.
 * Leaves alone: the text, and what is said of a name that means no skill or several: the `skill` tool gives both.
 */
import { basename, dirname } from 'node:path';
import type { ManifestFile, ManifestReading, Problem, Snapshot } from '../model.ts';
import { nameKey } from '../skills/names.ts';
import { echo, printable } from '../text.ts';
import { connectAs } from './client.ts';
import { createOutput, grouped, openOutput } from './output.ts';
import type { Values } from './parse.ts';
import { dataOf } from './skill-data.ts';
import { type View, withShown } from './view.ts';
import type { SHOW_OPTIONS } from './view-options.ts';

/** Gives the exit code. */
export async function show(values: Values<typeof SHOW_OPTIONS>, [name = '']: readonly string[]): Promise<number> {
  // The tool is asked, whether --tools has it or not.
  const shown = await withShown(values, (view) => load(name, values.files, view), { tools: ['skill'] });
  const output = openOutput(values);
  if (typeof shown === 'string') {
    if (values.json) output.json({ name, error: shown });
    createOutput(process.stderr, true).text(`${shown}\n`);
    return 1;
  }
  const { text, files, data } = shown;
  if (values.json) output.json({ ...data, ...(files ? { files } : { text }) });
  else if (files) output.lines(linesOf(files));
  else output.text(text);
  return 0;
}

// --- internal ---

/** A text is the reason for which there is nothing to show. */
async function load(name: string, withFiles: boolean, { skillwire }: View) {
  const client = await connectAs('skillwire', skillwire.handle);
  const { text, isError } = await client.call('skill', { name });
  const snapshot = await skillwire.registry.ready();
  const found = snapshot.names.resolve(name);
  if (isError || found.kind !== 'found') return [...notLoaded(name, snapshot), text].join('\n');
  const files = withFiles ? filesIn(await found.skill.files.manifest(new AbortController().signal)) : undefined;
  return typeof files === 'string'
    ? `The files of skill '${echo(name)}' cannot be listed: ${files}`
    : { text, files, data: dataOf(found) };
}

/** Why the skills in directories of that name are not there. */
function notLoaded(name: string, { names, problems }: Snapshot): readonly string[] {
  const key = nameKey(name.slice(name.lastIndexOf(':') + 1));
  const loaded = new Set(names.listed.map(({ skill }) => skill.file));
  const isMeant = ({ where }: Problem) => nameKey(basename(dirname(where))) === key && !loaded.has(where);
  return problems.filter(isMeant).map(({ where, what }) => `${printable(where)} is not loaded: ${printable(what)}`);
}

function filesIn(reading: ManifestReading): readonly ManifestFile[] | string {
  switch (reading.kind) {
    case 'whole':
      return reading.files === 'dynamic' ? 'its server makes them on demand' : reading.files;
    case 'unfit':
      return reading.files ?? reading.why;
    case 'gone':
      return 'it has just been deleted';
    case 'moving':
      return 'it is changing right now';
  }
}

/** Digest, size and path. Nothing is cut: a digest is for comparing. */
function linesOf(files: readonly ManifestFile[]): readonly string[] {
  const width = Math.max(0, ...files.map(({ size }) => grouped(size).length));
  return files.map(({ path, size, digest }) => `${digest}  ${grouped(size).padStart(width)}  ${printable(path)}`);
}
