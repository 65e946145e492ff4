/** `skillwire/protocol`: JSON-RPC and MCP by hand, usable alone. Imports nothing outside this folder. */
export { type ChooseSession, createDispatcher, type Exchange, type Handle } from './dispatch.ts';
export {
  EncodedReply,
  EncodedResult,
  encode,
  encodeError,
  encodeNotification,
  encodeReply,
  encodeRequest,
  errorReply,
} from './encode.ts';
export {
  type Call,
  clientOf,
  declaredIn,
  type Era,
  LEGACY_VERSIONS,
  legacyEra,
  type Method,
  MODERN_VERSIONS,
  modernEra,
  type NotificationHandler,
  negotiate,
} from './eras.ts';
export {
  CODE,
  headerMismatch,
  internalError,
  invalidParams,
  invalidRequest,
  MCP_CODE,
  methodNotFound,
  missingCapability,
  parseError,
  RpcError,
} from './errors.ts';
export { createByteBuffer, createLineSplitter, type LineEvents, MAX_LINE } from './framing.ts';
export {
  type Decoded,
  decode,
  type Id,
  isId,
  isObject,
  type Message,
  type Notification,
  type Params,
  type Request,
  type Response,
} from './json-rpc.ts';
export {
  decodeHeader,
  encodeHeader,
  HEADERS,
  isLogged,
  isLogLevel,
  LOG_LEVELS,
  type LogLevel,
  META,
  metaOf,
  NAME_PARAMS,
  PARAM_HEADER_PREFIX,
  SHA256,
  SKILLS_EXTENSION,
} from './meta.ts';
export {
  type Cancellation,
  type Client,
  cancel,
  createSession,
  LazyAbortController,
  type Peer,
  type ReadHeader,
  type Session,
} from './session.ts';
