/**
 * `logging/setLevel`, by which a legacy client asks for log messages. Modern clients ask in each request.
 * Owns: which sessions get the messages that belong to no request. Leaves alone: those of a request, which leave with
 * its response (protocol/dispatch.ts), and how many there may be (the sources).
 */
import type { LogMessage, Source } from '../model.ts';
import {
  encodeNotification,
  invalidParams,
  isLogged,
  isLogLevel,
  LOG_LEVELS,
  type Method,
  type Session,
} from '../protocol/index.ts';

export function setLevelMethod(sources: readonly Source[]): Method {
  /** Those that have set a level. */
  const sessions = new Set<Session>();
  function send(message: LogMessage): void {
    const text = encodeNotification('notifications/message', message);
    for (const session of sessions) if (isLogged(message.level, session.logLevel)) session.send(text, true);
  }
  function follow(): void {
    const level = LOG_LEVELS.find((one) => [...sessions].some(({ logLevel }) => logLevel === one));
    for (const source of sources) source.followLog?.(level, send);
  }
  return {
    name: 'logging/setLevel',
    run({ level }, { session }) {
      if (!isLogLevel(level)) throw invalidParams(`level must be one of ${LOG_LEVELS.join(', ')}`);
      session.logLevel = level;
      if (!sessions.has(session)) session.ended.addEventListener('abort', () => sessions.delete(session) && follow());
      sessions.add(session);
      follow();
      return {};
    },
  };
}
