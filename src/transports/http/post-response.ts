/**
 * The answer to one POST: JSON, or an event stream that ends with it.
 * Owns: which of the two it becomes. Leaves alone: what is said (protocol/), framing (events.ts).
 * Always true: it stays plain JSON as long as there is nothing to say before it and it does not take long.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type EventStream, openEventStream } from './event-stream.ts';
import { accepts, isOver, sendNothing, sendText } from './requests.ts';

/** What the client can take. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

export interface PostResponse {
  reply(text: string, status: number, headers?: OutgoingHttpHeaders): void;
  /** Something before the reply. A client that takes no streams does without it. */
  notify(text: string): void;
  /** Shows life to a client whose reply takes long. */
  keepAlive(): void;
  /** Nothing more will come; if nothing has, there was nothing to say. */
  finish(): void;
}

/** Undefined when the client takes neither form. */
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
      // A status other than 200 says more than a stream could, and every client reads JSON with it.
      if (!stream && (json || status !== 200)) return sendText(response, status, text, headers);
      open(headers).send(text);
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
