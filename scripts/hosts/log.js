/** Reads what proxy.js and http-proxy.js wrote: who the client said it was, what it asked, what it was told. */
import { existsSync, readFileSync } from 'node:fs';

const META = 'io.modelcontextprotocol/';

/** All entries so far, oldest first; a log that was never begun is empty. */
export function readLog(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last line may be half written while the host is running.
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/** The tools of every `tools/list` so far, as this client was told them. */
export function toolsListed(entries) {
  const tools = new Map();
  for (const { from, message } of entries) {
    if (from === 'server') for (const tool of message?.result?.tools ?? []) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

export function summarize(entries) {
  const exchanges = pair(entries);
  // A bridge may have tried the server before with a session of its own; the last one is the one that is used.
  const hello = exchanges.findLast(({ method }) => method === 'initialize');
  const modern = exchanges.find(({ params }) => params?._meta?.[`${META}protocolVersion`])?.params._meta;
  const client = hello?.params.clientInfo ?? modern?.[`${META}clientInfo`] ?? {};
  return {
    client: client.name,
    clientVersion: client.version,
    protocol: hello ? hello.answer?.result?.protocolVersion : modern?.[`${META}protocolVersion`],
    methods: countBy(exchanges.map(({ method }) => method)),
    capabilities: hello?.params.capabilities ?? modern?.[`${META}clientCapabilities`],
    instructions: exchanges.find(({ answer }) => answer?.result?.instructions)?.answer.result.instructions,
    called: exchanges
      .filter(({ method }) => method === 'tools/call')
      .map(({ params, answer }) => ({ ...params, answer: answer?.result ?? answer?.error })),
    errors: exchanges
      .filter(({ answer }) => answer?.error)
      .map(({ method, answer }) => `${method}: ${answer.error.message}`),
    startedIn: entries.find(({ event }) => event === 'start')?.cwd,
    end: entries.filter(({ event }) => event && event !== 'start').map(describeEvent),
  };
}

// --- internal ---

/** Requests and notifications of the client, each request with its answer. Ids begin anew when the server is started anew. */
function pair(entries) {
  const exchanges = [];
  let open = new Map();
  for (const { event, from, message } of entries) {
    if (event === 'start') open = new Map();
    if (from === 'client' && message.method) {
      const exchange = { method: message.method, params: message.params, answer: undefined };
      exchanges.push(exchange);
      open.set(message.id, exchange);
    }
    if (from === 'server' && message?.id !== undefined && !message.method) {
      const exchange = open.get(message.id);
      if (exchange) exchange.answer = message;
    }
  }
  return exchanges;
}

const describeEvent = ({ event, code }) => (event === 'exit' ? `exit ${code}` : event);

function countBy(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
