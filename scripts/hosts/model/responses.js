/** OpenAI's responses API, which Codex and OpenAI Agents speak. Codex may put an MCP server's tools in a namespace. */
import { sse, textOf } from './wire.js';

export const responses = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),
  read: (body) => ({
    tools: (body.tools ?? []).flatMap((tool) => inNamespace(tool)),
    results: (Array.isArray(body.input) ? body.input : [])
      .filter(({ type }) => type === 'function_call_output' || type === 'tool_search_output')
      .map(({ output, tools }) => textOf(output ?? tools)),
  }),
  reply: ({ model, stream }, action, response) => {
    const item = action.call
      ? {
          type: 'function_call',
          id: `fc_${action.id}`,
          call_id: action.id,
          name: action.call,
          ...(action.namespace && { namespace: action.namespace }),
          arguments: JSON.stringify(action.args),
          status: 'completed',
        }
      : {
          type: 'message',
          id: `msg_${action.id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: action.say, annotations: [] }],
        };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    usage.input_tokens_details = { cached_tokens: 0 };
    usage.output_tokens_details = { reasoning_tokens: 0 };
    const done = { id: `resp_${action.id}`, object: 'response', created_at: 1, model, status: 'completed', usage };
    done.output = [item];
    if (!stream) return response.json(done);
    sse(response, [
      { type: 'response.created', response: { ...done, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: done },
    ]);
  },
};

function inNamespace(tool) {
  if (tool.type !== 'namespace') return [{ name: tool.name, description: tool.description }];
  return tool.tools.map(({ name, description, defer_loading: deferred }) => ({
    name,
    description,
    deferred,
    namespace: tool.name,
  }));
}
