/** Checks the arguments of a tool call. The messages are for the author of the call: a model or a person. */
import * as v from 'valibot';
import { invalidParams } from '../protocol/index.ts';
import { oneLine, shorten } from '../text.ts';

/** `known`: the arguments that the tool takes, and what each is. Throws "invalid params". */
export function checkedArguments<T>(
  schema: v.GenericSchema<unknown, T>,
  args: unknown,
  known: Readonly<Record<string, string>>,
): T {
  const parsed = v.safeParse(schema, args);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  if (issue.type !== 'strict_object') throw invalidParams(issue.message);
  const key = String(issue.path?.[0]?.key);
  const what = Object.hasOwn(known, key) ? known[key] : undefined;
  if (what !== undefined) throw invalidParams(`${key} is required: ${what}`);
  const all = Object.keys(known).join(', ');
  throw invalidParams(`there is no argument "${shorten(oneLine(key), 60)}"; this tool takes ${all}`);
}
