/** The two kinds of answer that our own tools give. */
import type { ToolResult } from '../model.ts';

export function success(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A miss the model can mend: a result, not an exception. */
export function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
