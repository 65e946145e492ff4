/** The Anthropic messages API, as much of it as Claude Code and its like need. */
import { parts, sse, textOf } from './wire.js';

export const anthropic = {
  name: 'anthropic',
  matches: (path) => path.endsWith('/messages'),
  read: (body) => ({
    tools: (body.tools ?? []).map(({ name, description, defer_loading: deferred }) => ({
      name,
      description,
      deferred,
    })),
    results: parts(body.messages)
      .filter((part) => part.type === 'tool_result')
      .map((part) => textOf(part.content)),
  }),
  reply: ({ model, stream }, action, response) => {
    const block = action.call
      ? { type: 'tool_use', id: action.id, name: action.call, input: action.args }
      : { type: 'text', text: action.say };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${action.id}`, type: 'message', role: 'assistant', model, content: [block], usage };
    message.stop_reason = action.call ? 'tool_use' : 'end_turn';
    if (!stream) return response.json(message);
    const delta = action.call
      ? { type: 'input_json_delta', partial_json: JSON.stringify(action.args) }
      : { type: 'text_delta', text: action.say };
    const empty = action.call ? { ...block, input: {} } : { ...block, text: '' };
    sse(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: message.stop_reason }, usage },
      { type: 'message_stop' },
    ]);
  },
};
