/**
 * A client in this process: what a host that introduces itself by a certain name is answered.
 * Owns: the messages. Leaves alone: the answers, which are those that the same host gets over a pipe.
 */
import { createSession, type Handle } from '../index.ts';
import { encodeNotification, encodeRequest, LEGACY_VERSIONS } from '../protocol/index.ts';
import { VERSION } from '../version.ts';

/** A tool as a host is listed it, as far as it is looked at here. */
export interface ShownTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

/** The text of a tool's result, or of the error that answers a wrong call. */
interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

export interface LocalClient {
  readonly protocol: string;
  readonly instructions: string;
  listTools(): Promise<readonly ShownTool[]>;
  call(tool: string, args: object): Promise<CallResult>;
}

/** Shakes hands as that host. */
export async function connectAs(host: string, handle: Handle): Promise<LocalClient> {
  const session = createSession(() => {});
  let lastId = 0;
  const send = async (text: string) => {
    let answer = '';
    const reply = (message: object) => {
      answer = String(message);
    };
    await handle(session, text, { reply, notify: () => {} });
    return answer;
  };
  const request = async <T>(method: string, params: object): Promise<Answer<T>> =>
    JSON.parse(await send(encodeRequest(++lastId, method, params)));
  const clientInfo = { name: host, version: VERSION };
  const hello = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo };
  const { protocolVersion, instructions } = resultOf(await request<Greeting>('initialize', hello));
  await send(encodeNotification('notifications/initialized'));
  return {
    protocol: protocolVersion,
    instructions,
    listTools: async () => resultOf(await request<{ readonly tools: readonly ShownTool[] }>('tools/list', {})).tools,
    async call(name, args) {
      const answer = await request<Result>('tools/call', { name, arguments: args });
      if ('error' in answer) return { text: answer.error.message, isError: true };
      const { content, isError = false } = answer.result;
      return { text: content.map(({ text = '' }) => text).join('\n'), isError };
    },
  };
}

// --- internal ---

type Answer<T> = { readonly result: T } | { readonly error: { readonly message: string } };

function resultOf<T>(answer: Answer<T>): T {
  if ('error' in answer) throw new Error(answer.error.message);
  return answer.result;
}

interface Greeting {
  readonly protocolVersion: string;
  readonly instructions: string;
}

interface Result {
  readonly content: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}
