/** What the server's own tools have in common: their annotations, their arguments, the form of their results. */
import * as v from 'valibot';
import { lazy } from '../lazy.ts';
import type { ToolResult } from '../model.ts';
import { invalidParams } from '../protocol/index.ts';
import { echo } from '../text.ts';

/** Codex asks its user for approval unless all of these are given. */
export const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** One argument: the check of its value, and beside it the JSON Schema of the same that clients are shown. */
interface Argument {
  check(): v.GenericSchema;
  readonly schema: object;
}

type Arguments = Readonly<Record<string, Argument>>;

/** A text that is not blank. `message`: for a value that is missing, blank, not text or too long. */
export function requiredText(most: number, message: string, description: string, tooLong = message) {
  return {
    check: () => v.pipe(v.string(message), v.maxLength(most, tooLong), v.regex(/\S/, message)),
    schema: { type: 'string', minLength: 1, maxLength: most, pattern: '\\S', description },
  };
}

/** The JSON Schema of an object that has these members and no others. */
export function objectSchema(members: Readonly<Record<string, unknown>>, required = Object.keys(members)) {
  return {
    type: 'object',
    properties: members,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** The input of a tool that takes these arguments, of which it must get the first ones. The check is made at the first call. */
export function inputOf<R extends Arguments, O extends Arguments>(required: R, optional: O) {
  const entries = () => ({
    ...mapped(required, (one) => one.check()),
    ...mapped(optional, (one) => v.optional(one.check())),
  });
  return {
    check: lazy(() => v.strictObject(entries() as Checks<R> & OptionalChecks<O>)),
    schema: objectSchema(
      mapped({ ...required, ...optional }, (one) => one.schema),
      Object.keys(required),
    ),
  };
}

/** Throws "invalid params", with a message for the author of the call: a model or a person. */
export function checkedArguments<T extends v.ObjectEntries>(
  input: { check(): v.StrictObjectSchema<T, undefined> },
  args: unknown,
): v.InferOutput<v.StrictObjectSchema<T, undefined>> {
  const check = input.check();
  const parsed = v.safeParse(check, args);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  if (issue.type !== 'strict_object') throw invalidParams(issue.message);
  const key = String(issue.path?.[0]?.key);
  const missing = Object.hasOwn(check.entries, key) ? check.entries[key] : undefined;
  if (missing) throw invalidParams(v.safeParse(missing, undefined).issues?.[0].message ?? `${key} is required`);
  throw invalidParams(`there is no argument "${echo(key)}"; this tool takes ${Object.keys(check.entries).join(', ')}`);
}

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A failure that the model can do something about: a result, not an exception. */
export function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

// --- internal ---

type Checks<T extends Arguments> = { readonly [K in keyof T]: ReturnType<T[K]['check']> };
type OptionalChecks<T extends Arguments> = {
  readonly [K in keyof T]: v.OptionalSchema<ReturnType<T[K]['check']>, undefined>;
};

function mapped<T>(args: Arguments, change: (one: Argument) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(args).map(([name, one]) => [name, change(one)]));
}
