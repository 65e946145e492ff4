/** OpenAI's chat completions, which most other hosts and libraries can be pointed at. */
import { sse, textOf } from './wire.js';

export const chat = {
  name: 'chat',
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    tools: (body.tools ?? []).map(({ function: tool }) => ({ name: tool?.name, description: tool?.description })),
    results: (body.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
  }),
  reply: ({ model, stream, stream_options: options }, action, response) => {
    const call = action.call && {
      index: 0,
      id: action.id,
      type: 'function',
      function: { name: action.call, arguments: JSON.stringify(action.args) },
    };
    const message = call
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: action.say };
    const finish = call ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const base = { id: `chat_${action.id}`, created: 1, model };
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason: finish }];
      return response.json({ ...base, object: 'chat.completion', choices, usage });
    }
    const chunk = (delta, finished = null) => ({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finished }],
    });
    const last = options?.include_usage ? [{ ...base, object: 'chat.completion.chunk', choices: [], usage }] : [];
    sse(response, [chunk(message), chunk({}, finish), ...last, '[DONE]']);
  },
};
