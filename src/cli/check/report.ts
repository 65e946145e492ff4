/**
 * The findings of a check as they are printed: as lines for people and editors, as annotations of GitHub, as JSON.
 * Always true: text from outside is escaped, and cannot be taken for a command to the runner.
 */
import { relative, sep } from 'node:path';
import { isBelow } from '../../files/stats.ts';
import { printable } from '../../text.ts';
import type { PlacedFinding } from './inspect.ts';
import { RULES, type Severity } from './rules.ts';

interface CheckReport {
  readonly files: number;
  readonly mended: number;
  readonly findings: readonly PlacedFinding[];
}

/** `base`: the directory that paths are relative to. `paint`: may colour a severity. */
export function reportLines(
  report: CheckReport,
  format: 'text' | 'github',
  base: string,
  paint: (severity: Severity) => string,
): readonly string[] {
  const lines = report.findings.map((finding) => {
    const { line, column, rule, message } = finding;
    const { severity } = RULES[rule];
    const file = shownPath(finding.path, base);
    if (format === 'text')
      return `${printable(`${file}:${line}:${column}`)} ${paint(severity)} ${printable(message)} [${rule}]`;
    return `::${COMMANDS[severity]} file=${property(file)},line=${line},col=${column}::${data(message)}`;
  });
  return [...lines, summaryOf(report)];
}

/** The form of version 1. Members may be added to it; a change of those that are there makes it version 2. */
export function reportData(report: CheckReport, base: string) {
  return {
    files: report.files,
    errors: countOf(report.findings, 'error'),
    warnings: countOf(report.findings, 'warning'),
    infos: countOf(report.findings, 'info'),
    mended: report.mended,
    findings: report.findings.map(({ path, line, column, rule, message, fix }) => ({
      file: shownPath(path, base),
      line,
      column,
      level: RULES[rule].severity,
      rule,
      message,
      ...(fix === undefined ? {} : { fix: fix.by }),
    })),
  };
}

export function countOf(findings: readonly PlacedFinding[], severity: Severity): number {
  return findings.filter(({ rule }) => RULES[rule].severity === severity).length;
}

// --- internal ---

/** The workflow commands of GitHub. */
const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const satisfies Record<Severity, string>;

/** Line breaks, which end a command, are escapes already. */
const data = (text: string) => printable(text).replaceAll('%', '%25');
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function shownPath(path: string, base: string): string {
  const shown = (isBelow(path, base) ? relative(base, path) || '.' : path).replaceAll(sep, '/');
  // A line that begins with `::` or `##[` is a command to the runners of GitHub and Azure.
  return /^[:#]/.test(shown) ? `./${shown}` : shown;
}

function summaryOf(report: CheckReport): string {
  const { files, mended, findings } = report;
  const some = (count: number, what: string) => `${count} ${what}${count === 1 || what === 'info' ? '' : 's'}`;
  if (files === 0 && findings.length === 0) return 'No SKILL.md was found.';
  const counts = (['error', 'warning', 'info'] as const).map((severity) =>
    some(countOf(report.findings, severity), severity),
  );
  const open = (['fix', 'fix-names'] as const).flatMap((option) => {
    const count = findings.filter(({ fix }) => fix?.by === option).length;
    return count === 0 ? [] : [`--${option} would mend ${count}`];
  });
  const parts = [counts.join(', '), ...(mended === 0 ? [] : [`${mended} mended`]), ...open];
  return `${some(files, 'file')} checked: ${parts.join('; ')}`;
}
