/** What the dialects of the fake model share. */

/** Sends a list of events as one event stream; an event with a `type` is named by it, as Anthropic and OpenAI do. */
export function sse(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) {
    if (event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** All content parts of a list of messages; a message that is only text has none. */
export const parts = (messages = []) => messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));

/** The text of a tool result, which may be text itself or a list of parts. */
export function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  return content.map((part) => (typeof part?.text === 'string' ? part.text : JSON.stringify(part))).join('\n');
}
