/** What tools are called with, checked at the edge. A schema's messages are for whoever wrote the call. */
import * as v from 'valibot';
import { invalidParams } from '../protocol/index.ts';
import { oneLine, shorten } from '../text.ts';

/** The arguments as the schema has them; JSON-RPC's "invalid params" when they are not. */
export function checkedArguments<T>(schema: v.GenericSchema<unknown, T>, args: unknown, allowed: readonly string[]): T {
  const parsed = v.safeParse(schema, args);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const key = String(issue.path?.[0]?.key);
  if (issue.type !== 'strict_object') throw invalidParams(issue.message);
  if (allowed.includes(key)) throw invalidParams(`${key} is required`);
  throw invalidParams(`there is no argument "${shorten(oneLine(key), 60)}"; this tool takes ${allowed.join(', ')}`);
}
