/**
 * The legacy handshake, its modern counterpart `server/discover`, ping and cancelling.
 * Owns: how the server describes itself, and the line of the log about each client. Leaves alone: the eras
 * (protocol/eras.ts).
 */
import type { Log } from '../log.ts';
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
import { echo } from '../text.ts';
import { afterAnswers } from '../wait.ts';
import { CACHE_BRIEFLY, MOST_CLIENT_NAMES } from './limits.ts';

export interface ServerDescription {
  readonly server: Client;
  readonly capabilities: object;
  /** The text about this server that the client gives to its model. */
  instructions(peer: Peer): string;
  /** Called after each handshake. */
  onPeer(peer: Peer): void;
}

/** Log lines about clients: after each handshake, and with the first request of each name that comes without one. */
export function createClientReport(log: Log) {
  const report = ({ client, version }: Peer) => {
    const { name, version: release } = client ?? { name: 'without a name', version: '' };
    // After the answer, which is not to wait for it.
    void afterAnswers().then(() => log.info(`client: ${echo(`${name} ${release}`)}, protocol ${version}`));
  };
  const known = new Set<string>();
  return {
    onHandshake: report,
    onRequest(peer: Peer) {
      const { name = '' } = peer.client ?? {};
      if (known.size >= MOST_CLIENT_NAMES || known.has(name)) return;
      known.add(name);
      report(peer);
    },
  };
}

export function handshakeMethods({ server, capabilities, instructions, onPeer }: ServerDescription): readonly Method[] {
  const initialize: Method = {
    name: 'initialize',
    run({ protocolVersion: asked, clientInfo, capabilities: theirs }, { session }) {
      if (typeof asked !== 'string') throw invalidParams('protocolVersion must be text');
      const version = negotiate(asked);
      const handshake = { version, client: clientOf(clientInfo), ...declaredIn(theirs) };
      session.handshake = handshake;
      onPeer(handshake);
      return { protocolVersion: version, capabilities, serverInfo: server, instructions: instructions(handshake) };
    },
  };
  return [initialize, { name: 'ping', run: () => ({}) }];
}

export function discoverMethod({ capabilities, instructions }: ServerDescription): Method {
  return {
    name: 'server/discover',
    cache: CACHE_BRIEFLY,
    run: (_params, { peer }) => ({
      supportedVersions: MODERN_VERSIONS,
      capabilities,
      instructions: instructions(peer),
    }),
  };
}

/** The same in both eras. */
export const cancelled: NotificationHandler = {
  name: 'notifications/cancelled',
  run({ requestId }, session) {
    if (isId(requestId)) cancel(session, requestId);
  },
};
