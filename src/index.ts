/** `skillwire`: the server as a library, and what an embedder needs beside it. */
export type { Refreshed, Registry } from './catalog/registry.ts';
export type { SkillwireOptions } from './config.ts';
export { createLog, type Level, type Log } from './log.ts';
export type * from './model.ts';
export { type Call, createSession, type Exchange, type Session } from './protocol/index.ts';
export { createSkillwire, type ServeHttpOptions, type Skillwire } from './skillwire.ts';
export { VERSION } from './version.ts';
