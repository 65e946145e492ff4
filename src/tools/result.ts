/** What the server's own tools have in common: their annotations, and the two forms of a text result. */
import type { ToolResult } from '../model.ts';

/** Codex asks its user for approval unless all of these are given. */
export const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A failure that the model can do something about: a result, not an exception. */
export function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
