/** `skillwire`: the server as a library, and what an embedder needs beside it. */
export type { Refreshed, Registry } from './catalog/registry.ts';
export type { SkillwireOptions } from './config.ts';
export { createLog, type Level, type Log } from './log.ts';
export type {
  Contribution,
  ListedSkill,
  Problem,
  Prompt,
  Resolution,
  Resource,
  Skill,
  Snapshot,
  Source,
  Template,
  Tool,
  UpstreamState,
  UpstreamStatus,
} from './model.ts';
export { type Call as ToolCall, createSession, type Exchange, type Handle, type Session } from './protocol/index.ts';
export { createMemorySkill } from './skills/memory.ts';
export { createSkillwire, type ServeHttpOptions, type Skillwire } from './skillwire.ts';
export type { Listening } from './transports/http/listener.ts';
export type { AccessLogEntry } from './transports/http/router.ts';
export { VERSION } from './version.ts';
