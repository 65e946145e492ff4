/**
 * The response to one POST: JSON, or an event stream that ends with the reply.
 * Owns: which of the two it becomes. Leaves alone: the messages (protocol/), framing (event-stream.ts).
 * Always true: the response is JSON unless something comes before the reply or the reply takes long.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type EventStream, openEventStream } from './event-stream.ts';
import { accepts } from './requests.ts';
import { sendNothing, sendText } from './responses.ts';
import { isOver } from './send-queue.ts';

/** Which forms of a response the client accepts. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

export interface PostResponse {
  reply(text: string, status: number, headers?: OutgoingHttpHeaders): void;
  /** Sends a notification before the reply. A client that accepts no streams does not get it. */
  notify(text: string): void;
  /** Keeps the connection open while the reply takes long. */
  keepAlive(): void;
  /** Ends the response; without a reply it is 202 or an ended stream. */
  finish(): void;
}

/** Undefined when the client accepts neither form. */
export function acceptedForms(accept: string | undefined): AcceptedForms | undefined {
  const forms = { json: accepts(accept, 'application/json'), events: accepts(accept, 'text/event-stream') };
  return forms.json || forms.events ? forms : undefined;
}

export function createPostResponse(response: ServerResponse, { json, events }: AcceptedForms): PostResponse {
  let stream: EventStream | undefined;
  const open = (headers?: OutgoingHttpHeaders) => {
    stream ??= openEventStream(response, headers);
    return stream;
  };
  return {
    reply(text, status, headers) {
      if (isOver(response)) return;
      // A stream can only be 200, and every client reads JSON with another status.
      if (!stream && (json || status !== 200)) return sendText(response, status, text, headers);
      open(headers).reply(text);
      open().end();
    },
    notify(text) {
      if (events && !isOver(response)) open().send(text);
    },
    keepAlive() {
      if (events && !isOver(response)) open().keepAlive();
    },
    finish() {
      if (stream) stream.end();
      else sendNothing(response, 202);
    },
  };
}
