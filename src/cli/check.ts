/**
 * `skillwire check`: checks SKILL.md files by the rules of Agent Skills, and mends what can be mended.
 * Owns: the exit code, and what is printed where. Leaves alone: the rules (check/rules.ts), which files there are
 * (check/files.ts), one file (check/inspect.ts), the format of the output (check/report.ts).
 * Always true: nothing is written without --fix or --fix-names.
 */
import { resolve } from 'node:path';
import { findChecked } from './check/files.ts';
import { inspect, type PlacedFinding, placeAll } from './check/inspect.ts';
import { countOf, reportData, reportLines } from './check/report.ts';
import type { Severity } from './check/rules.ts';
import { openOutput } from './output.ts';
import { workingDirectory } from './process.ts';
import type { CheckValues } from './view-options.ts';

/** Gives the exit code: 1 when there are errors, or with --strict warnings. */
export async function check(values: CheckValues, words: readonly string[]): Promise<number> {
  const { env } = process;
  const cwd = workingDirectory();
  const { files, closed } = await findChecked(words, cwd, values['follow-symlinks']);
  const fixes = (['fix', 'fix-names'] as const).filter((option) => values[option]);
  const findings: PlacedFinding[] = closed.flatMap(({ path, finding }) => placeAll(path, '', [finding]));
  let mended = 0;
  for (const file of files) {
    const inspection = await inspect(file, fixes);
    for (const finding of inspection.findings) findings.push(finding);
    mended += inspection.mended;
  }
  const report = { files: files.length, mended, findings };
  const format = values.json ? 'json' : values.format;
  // GitHub shows annotations whose paths start from the top of the repository.
  const base = format === 'github' && env.GITHUB_WORKSPACE ? resolve(env.GITHUB_WORKSPACE) : cwd;
  const output = openOutput(values);
  if (format === 'json') output.json(reportData(report, base));
  else output.lines(reportLines(report, format, base, (severity) => output.paint(COLOURS[severity], severity)));
  const isFailed = countOf(findings, 'error') > 0 || (values.strict && countOf(findings, 'warning') > 0);
  return isFailed ? 1 : 0;
}

// --- internal ---

const COLOURS = { error: 'red', warning: 'yellow', info: 'blue' } as const satisfies Record<Severity, string>;
