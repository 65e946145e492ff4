/**
 * The legacy handshake, its modern counterpart `server/discover`, ping and cancelling.
 * Owns: how the server describes itself, and the line of the log about each client. Leaves alone: the eras
 * (protocol/eras.ts).
 */
import type { Log } from '../log.ts';
import * as protocol from '../protocol/index.ts';
import { echo } from '../text.ts';
import { NO_CACHE } from './lists.ts';

export interface Introduction {
  readonly server: protocol.Client;
  readonly capabilities: object;
  /** The text about this server that the client gives to its model. */
  instructions(client: protocol.Client | undefined): string;
  readonly log: Log;
}

export function handshakeMethods({ server, capabilities, instructions, log }: Introduction) {
  const initialize: protocol.Method = {
    name: 'initialize',
    run({ protocolVersion: asked, clientInfo }, { session }) {
      if (typeof asked !== 'string') throw protocol.invalidParams('protocolVersion must be text');
      const client = protocol.clientOf(clientInfo);
      const version = protocol.negotiate(asked);
      session.handshake = { client, version, anyStructure: false };
      log.info(clientLine(session.handshake));
      return { protocolVersion: version, capabilities, serverInfo: server, instructions: instructions(client) };
    },
  };
  return [initialize, { name: 'ping', run: () => ({}) }];
}

export function discoverMethod({ capabilities, instructions, log }: Introduction): protocol.Method {
  return {
    name: 'server/discover',
    cache: NO_CACHE,
    run(_params, { peer }) {
      log.info(clientLine(peer));
      return { supportedVersions: protocol.MODERN_VERSIONS, capabilities, instructions: instructions(peer.client) };
    },
  };
}

/** The same in both eras. */
export const cancelled: protocol.NotificationHandler = {
  name: 'notifications/cancelled',
  run({ requestId }, session) {
    if (protocol.isId(requestId)) protocol.cancel(session, requestId);
  },
};

// --- internal ---

/** Shows a person the name by which the table in hosts.ts must have a client. */
function clientLine({ client, version }: protocol.Peer): string {
  return `client: ${client ? echo(`${client.name} ${client.version}`) : 'without a name'}, protocol ${version}`;
}
