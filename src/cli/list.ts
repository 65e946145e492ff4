/**
 * `skillwire list`: the skills that an agent is told of.
 * Leaves alone: which skills there are (catalog/).
 */
import type { ListedSkill, Problem } from '../model.ts';
import { counted } from '../text.ts';
import type { ListValues } from './commands.ts';
import { dataOf, type Output, openOutput, tableLines } from './output.ts';
import { complain } from './process.ts';
import { faultsIn, withView } from './view.ts';

export async function list(values: ListValues): Promise<void> {
  const { listed, faults } = await withView(values, (view) => {
    const { names } = view.snapshot;
    return { listed: values.all ? names.listed : names.visible, faults: faultsIn(view) };
  });
  const output = openOutput(values);
  if (values.json) output.json({ skills: listed.map((one) => ({ ...dataOf(one), shadowed: one.isShadowed })) });
  else if (listed.length > 0) output.lines(rowsOf(listed, output));
  if (!values.quiet) for (const remark of remarks(values, faults, listed.length === 0)) complain(remark);
}

// --- internal ---

function rowsOf(listed: readonly ListedSkill[], { paint, width }: Output): readonly string[] {
  const rows = listed.map(({ id, skill, isShadowed }) => [
    id,
    skill.provider,
    isShadowed ? `${skill.location}, shadowed` : skill.location,
    skill.description,
  ]);
  const [head = '', ...lines] = tableLines([['NAME', 'PROVIDER', 'LOCATION', 'DESCRIPTION'], ...rows], width);
  return [paint('bold', head), ...lines];
}

/** Where nothing is shown, filters or faults are why. */
function remarks({ hub, include, exclude }: ListValues, faults: readonly Problem[], isEmpty: boolean) {
  const see = `see skillwire doctor${hub ? ' --hub' : ''}`;
  if (!isEmpty) return faults.length > 0 ? [`${counted(faults.length, 'problem')}; ${see}`] : [];
  const isFiltered = include.length + exclude.length > 0;
  return [
    `nothing to list${isFiltered ? ' with these --include and --exclude' : ''}; ${see}`,
    ...faults.map(({ where, what, hint }) => `${where}: ${what}${hint ? `. ${hint}` : ''}`),
  ];
}
