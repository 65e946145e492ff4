/** `skillwire doctor`: the report on this machine, for people or as data. */
import { settingsFrom } from '../config.ts';
import { optionFaults } from './all-options.ts';
import { examine } from './doctor-report.ts';
import { textOf } from './doctor-text.ts';
import { openOutput } from './output.ts';
import { viewOptions, withView } from './view.ts';
import type { ViewValues } from './view-options.ts';

/** Gives the exit code: 1 when there is something to mend. */
export async function doctor(values: ViewValues): Promise<number> {
  const settings = settingsFrom(viewOptions(values));
  const report = await withView(values, (view) => examine(view, settings, optionFaults(values)));
  const output = openOutput(values);
  if (values.json) output.json(report);
  else output.lines(textOf(report, values.hub, output));
  return report.toMend === 0 ? 0 : 1;
}
