/**
 * A fake model on loopback: it answers in whichever API it is asked, records what it was shown, and plays one script:
 * load a skill, list the skills, say "done". What a host hands its model, before and after a call, is then visible.
 * Owns: the HTTP server and the record. Leaves alone: the wire formats (the other files here), the script (script.js).
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { anthropic } from './anthropic.js';
import { chat } from './chat.js';
import { gemini } from './gemini.js';
import { responses } from './responses.js';

const DIALECTS = [anthropic, chat, responses, gemini];
// Hosts ask which models there are, and how large a prompt is, before they ask for an answer.
const SMALL_ANSWERS = [
  [/\/messages\/count_tokens$/, { input_tokens: 1 }],
  [/:countTokens$/, { totalTokens: 1 }],
  [/\/models$/, { object: 'list', data: [{ id: 'fake', object: 'model', owned_by: 'nobody', created: 1 }] }],
];

/**
 * @param decide what the model does next, given what it was shown: `{call, args}` or `{say}`
 * @returns the address, everything asked so far, and `close`
 */
export async function startModel(decide) {
  const requests = [];
  const server = createServer((request, response) => {
    response.json = (value, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    answer(request, response, requests, decide).catch((error) => {
      requests.push({ path: request.url, failure: String(error) });
      response.json({ error: { message: String(error) } }, 500);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

// --- internal ---

async function answer(request, response, requests, decide) {
  const { pathname: path } = new URL(request.url, 'http://localhost');
  const small = SMALL_ANSWERS.find(([pattern]) => pattern.test(path));
  const body = await readJson(request);
  if (small) return response.json(small[1]);
  const dialect = DIALECTS.find((one) => one.matches(path));
  if (!dialect) {
    requests.push({ path, method: request.method, unknown: true });
    return response.json({ error: { message: `no such path: ${path}` } }, 404);
  }
  const seen = { dialect: dialect.name, ...dialect.read(body), body };
  requests.push(seen);
  const action = { id: `call_${requests.length}`, ...decide(seen, requests) };
  seen.action = action;
  dialect.reply(body, action, response, path);
}

async function readJson(request) {
  const text = Buffer.concat(await request.toArray()).toString();
  return text === '' ? {} : JSON.parse(text);
}
