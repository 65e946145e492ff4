/**
 * A fake model on loopback: it answers in whichever API it is asked, keeps what it was shown, and plays one script: load
 * a skill, list the skills, say "done". Of a host that hides MCP tools behind a search of its own it asks for them first,
 * with the words that its row of the table gives.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { SKILL } from '../programs.js';

/**
 * `ours`: the tools that skillwire lists. `search`: `{ find, use? }`: the call that asks the host for them, and what calls
 * a tool that was found but is not shown. Gives `{ url, requests, close }`; a request is `{ text, tools, action }`: what
 * the model was sent, the tools in it, what it did.
 */
export async function startModel(ours, search) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const { pathname: path } = new URL(request.url, 'http://localhost');
    const text = Buffer.concat(await request.toArray()).toString();
    const json = (value, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const [, api] = APIS.find(([pattern]) => pattern.test(path)) ?? [];
    if (!api) return json({ error: { message: `no such path: ${path}` } }, 404);
    const { model, stream, tools = [] } = JSON.parse(text);
    const seen = { text, tools: toolsIn(tools) };
    seen.action = { id: `call_${requests.length}`, model, ...decide(seen.tools, requests, ours, search) };
    requests.push(seen);
    const { whole, events } = api(seen.action);
    if (stream || path.includes('stream')) sendEvents(response, events);
    else json(whole);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close };
}

/** Which of the tools shown are ours: told by the beginning of the description, since hosts rewrite names. */
export function matchTools(shown, ours) {
  const oneLine = (text) => text.replace(/\s+/g, ' ').trim();
  return shown.flatMap((tool) => {
    const own = ours.find(({ description }) => oneLine(tool.description).includes(oneLine(description).slice(0, 60)));
    return own ? [{ ...tool, listed: own }] : [];
  });
}

// --- internal ---

/** Each API wraps tools in another way: what has a name and a description is one. Codex groups them in a namespace. */
function toolsIn(value, namespace) {
  if (typeof value !== 'object' || value === null) return [];
  const { type, name, description } = value;
  if (type !== 'namespace' && name && typeof description === 'string') return [{ name, description, namespace }];
  return Object.values(value).flatMap((inner) => toolsIn(inner, type === 'namespace' ? name : namespace));
}

function decide(tools, requests, ours, search) {
  if (tools.length === 0) return { say: 'ok' };
  const steps = [
    ...(search ? [search.find] : []),
    { plain: 'skill', args: { name: SKILL } },
    { plain: 'skills.list', args: { query: SKILL } },
  ];
  const step = steps[requests.filter(({ action }) => action.call).length] ?? { say: 'done' };
  if (!step.plain) return step;
  const tool = matchTools(tools, ours).find(({ listed }) => listed.name === step.plain);
  if (tool) return { call: tool.name, namespace: tool.namespace, args: step.args };
  return search?.use?.(step.plain, step.args) ?? { say: 'done' };
}

/** As much of each API as hosts need. An action is `{ id, model, call, args, namespace? }` or `{ id, model, say }`. */
const APIS = [
  [/\/messages$/, anthropic],
  [/\/chat\/completions$/, chat],
  [/\/responses$/, responses],
  [/:(stream)?generateContent$/i, gemini],
];

function anthropic({ id, model, call, args, say }) {
  const block = call ? { type: 'tool_use', id, name: call, input: args } : { type: 'text', text: say };
  const empty = call ? { ...block, input: {} } : { ...block, text: '' };
  const json = { type: 'input_json_delta', partial_json: JSON.stringify(args) };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const whole = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [block], usage, stop_reason };
  const events = [
    { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta: call ? json : { type: 'text_delta', text: say } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  ];
  return { whole, events };
}

/** OpenAI's older API, which most others can be pointed at. */
function chat({ id, model, call, args, say }) {
  const asked = { index: 0, id, type: 'function', function: { name: call, arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', ...(call ? { content: null, tool_calls: [asked] } : { content: say }) };
  const finish_reason = call ? 'tool_calls' : 'stop';
  const base = { id: `chat_${id}`, created: 1, model };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunk = (delta, reason) => {
    return { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] };
  };
  const whole = { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage };
  return { whole, events: [chunk(message, null), { ...chunk({}, finish_reason), usage }, '[DONE]'] };
}

/** OpenAI's newer one. */
function responses({ id, model, call, args, say, namespace }) {
  const status = 'completed';
  const called = { type: 'function_call', id: `fc_${id}`, call_id: id, name: call, namespace, status };
  const content = [{ type: 'output_text', text: say, annotations: [] }];
  const item = call
    ? { ...called, arguments: JSON.stringify(args) }
    : { type: 'message', id: `msg_${id}`, role: 'assistant', status, content };
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details };
  const whole = { id: `resp_${id}`, object: 'response', created_at: 1, model, status, usage, output: [item] };
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ];
  return { whole, events };
}

function gemini({ call, args, say }) {
  const parts = [call ? { functionCall: { name: call, args } } : { text: say }];
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const candidates = [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }];
  const whole = { candidates, usageMetadata };
  return { whole, events: [whole] };
}

/** An event with a `type` is named by it, as Anthropic and OpenAI do. */
function sendEvents(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) {
    const name = event.type ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  response.end();
}
