/** `skillwire/protocol`: JSON-RPC and MCP by hand, usable alone. Imports nothing outside this folder. */
export * from './dispatch.ts';
export * from './encode.ts';
export * from './eras.ts';
export * from './errors.ts';
export * from './framing.ts';
export * from './json-rpc.ts';
export * from './meta.ts';
export * from './session.ts';
