/** `skillwire/protocol`: JSON-RPC and MCP by hand, usable alone. Imports nothing outside this folder. */
export * from './dispatch.ts';
export * from './eras.ts';
export * from './errors.ts';
export * from './lines.ts';
export * from './session.ts';
export * from './wire.ts';
