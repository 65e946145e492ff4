/**
 * The legacy handshake, its modern counterpart `server/discover`, ping and cancelling.
 * Owns: how the server describes itself. Leaves alone: the eras (protocol/eras.ts).
 */
import {
  type Client,
  cancel,
  clientOf,
  declaredIn,
  invalidParams,
  isId,
  type Method,
  MODERN_VERSIONS,
  type NotificationHandler,
  negotiate,
  type Peer,
} from '../protocol/index.ts';
import { CACHE_BRIEFLY } from './cache-hints.ts';

export interface ServerDescription {
  readonly server: Client;
  readonly capabilities: object;
  /** The text about this server that the client gives to its model. */
  instructions(peer: Peer): string;
}

export function handshakeMethods({ server, capabilities, instructions }: ServerDescription): readonly Method[] {
  return [
    {
      name: 'initialize',
      run(params, { session }) {
        const { protocolVersion: asked, clientInfo, capabilities: theirs } = params;
        if (typeof asked !== 'string') throw invalidParams('protocolVersion must be text');
        const version = negotiate(asked);
        const handshake = { version, client: clientOf(clientInfo), ...declaredIn(theirs) };
        session.handshake = handshake;
        return {
          protocolVersion: version,
          capabilities,
          serverInfo: server,
          instructions: instructions(handshake),
        };
      },
    },
    { name: 'ping', run: () => ({}) },
  ];
}

export function discoveryMethods({ capabilities, instructions }: ServerDescription): readonly Method[] {
  return [
    {
      name: 'server/discover',
      cache: CACHE_BRIEFLY,
      run: (_params, { peer }) => ({
        supportedVersions: MODERN_VERSIONS,
        capabilities,
        instructions: instructions(peer),
      }),
    },
  ];
}

/** The same in both eras. */
export const cancelled: NotificationHandler = {
  name: 'notifications/cancelled',
  run({ requestId }, session) {
    if (isId(requestId)) cancel(session, requestId);
  },
};
