/**
 * A client in this process, on the `handle` of a server: for tests that stop the server in the middle of something.
 * For the program in a process of its own see program.ts.
 */
import { createSession, type EncodedReply, type Handle, type Session } from '../../src/protocol/index.ts';
import type { Answer, Json } from './program.ts';

export interface Peer {
  readonly session: Session;
  /** Every message of the server, notifications included, in order. */
  readonly received: readonly Answer[];
  /** Hands over one text; settles when all that it asked for is answered. */
  send(message: unknown): Promise<void>;
  sendRaw(text: string): Promise<void>;
  /** Sends a request with a fresh id and gives its answer. */
  request(method: string, params?: Json): Promise<Answer>;
  /** The text of a tool's answer. */
  call(tool: string, args?: Json): Promise<string>;
}

export function createPeer(handle: Handle): Peer {
  const received: Answer[] = [];
  const take = (message: string | EncodedReply) => void received.push(JSON.parse(String(message)));
  const session = createSession(take);
  let nextId = 1000;
  const peer: Peer = {
    session,
    received,
    sendRaw: (text) => handle(session, text, { reply: take, notify: take }),
    send: (message) => peer.sendRaw(JSON.stringify(message)),
    async request(method, params) {
      const id = nextId++;
      await peer.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
      return received.find((message) => message.id === id);
    },
    async call(tool, args = {}) {
      const { result } = await peer.request('tools/call', { name: tool, arguments: args });
      return result.content[0].text;
    },
  };
  return peer;
}

/** Holds something back until the test opens it. */
export interface Gate {
  /** Settles once the gate is open. */
  pass(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { pass: () => opened, open };
}
