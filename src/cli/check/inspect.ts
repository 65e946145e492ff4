/**
 * One SKILL.md from reading to findings: applies every rule, mends if asked to, and places what was found.
 * Leaves alone: the rules, how a file is read (files.ts), mended (mend.ts) and replaced (replace-file.ts).
 */
import { basename, dirname, join } from 'node:path';
import { realPathOf } from '../../files/stats.ts';
import { messageOf } from '../../log.ts';
import { findHead } from '../../skills/front-matter.ts';
import { textOf } from '../../skills/media-types.ts';
import { SKILL_FILE } from '../../skills/roots.ts';
import { replaceFile } from '../replace-file.ts';
import { checkBody } from './body-rules.ts';
import { type CheckedFile, checkSize, readChecked } from './files.ts';
import { checkHead } from './head-rules.ts';
import { lineStarts } from './lines.ts';
import { mend } from './mend.ts';
import type { Finding, FixOption } from './rules.ts';

/** A finding and its place in a file; lines and columns count from 1. */
export interface PlacedFinding extends Finding {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

interface Inspection {
  readonly findings: readonly PlacedFinding[];
  /** How many findings were mended. */
  readonly mended: number;
}

export async function inspect(file: CheckedFile, fixes: readonly FixOption[]): Promise<Inspection> {
  const { path, home, name } = file;
  const found = (text: string, findings: readonly Finding[], mended = 0) => ({
    findings: placeAll(path, text, findings),
    mended,
  });
  const content = readChecked(file);
  if ('rule' in content) return found('', [content]);
  const { bytes, version } = content;
  const text = textOf(bytes);
  if (text === undefined) return found(bytes.toString(), [notText(bytes.toString())]);
  const around = [...checkFileName(name), ...(await checkSize(file))];
  const check = async (one: string) => [
    ...(await checkHead(one, basename(dirname(path)))),
    ...checkBody(one, findHead(one)?.body ?? 0, home),
  ];
  const first = await check(text);
  const result = await mend(text, first, fixes, check);
  // A link stays, and the file that it leads to is replaced.
  const replace = () => replaceFile({ path: realPathOf(join(home, name)), version }, result.text);
  const fault = result.count > 0 ? writeFault(replace) : [];
  if (fault.length > 0) return found(text, [...fault, ...around, ...first]);
  return found(result.text, [...around, ...result.findings], result.count);
}

/** The findings in the order of their places. Columns are in UTF-16 units, as in most editors. */
export function placeAll(path: string, text: string, findings: readonly Finding[]): readonly PlacedFinding[] {
  if (findings.length === 0) return [];
  const starts = lineStarts(text);
  // Editors do not count a byte order mark.
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  return findings
    .toSorted((a, b) => a.at - b.at)
    .map((finding) => {
      while ((starts[line] ?? Number.POSITIVE_INFINITY) <= finding.at) line++;
      const start = Math.max(mark, starts[line - 1] ?? 0);
      const column = Math.max(start, finding.at) - start + 1;
      return { ...finding, path, line, column };
    });
}

// --- internal ---

/** `text`: decoded with replacement characters. */
function notText(text: string): Finding {
  return { rule: 'encoding', at: text.indexOf('\ufffd'), message: 'it is not UTF-8' };
}

function checkFileName(name: string): readonly Finding[] {
  if (name === SKILL_FILE) return [];
  return [
    { rule: 'file-name', at: 0, message: `many clients look for ${SKILL_FILE}, in capitals, and overlook this file` },
  ];
}

function writeFault(write: () => void): readonly Finding[] {
  try {
    write();
    return [];
  } catch (error) {
    return [{ rule: 'access', at: 0, message: `cannot be written: ${messageOf(error)}` }];
  }
}
