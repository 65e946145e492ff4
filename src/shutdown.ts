/**
 * How long each step of the end may take. One table, because the steps lie inside each other: after a signal the
 * upstream calls and the upstream servers' own end fit into the time for the last responses, and that into the time until
 * the process exits. Supervisors usually send SIGKILL five to ten seconds after SIGTERM.
 */
export const SHUTDOWN = {
  /** After a signal: calls that still wait for an upstream server fail. */
  stoppedCallsMs: 1500,
  /** An upstream process whose stdin was closed gets a signal. */
  upstreamExitMs: 1000,
  /** After a signal: HTTP connections are closed, whatever is still unanswered on them. */
  lastResponsesMs: 2500,
  /** After a signal: the process exits. */
  exitMs: 3000,
  /** After the client has closed its end of the pipe, the same as stoppedCallsMs; it may still read the last responses. */
  lastCallsMs: 10_000,
  /** After the client has closed its end of the pipe: it may take no byte of the last responses for this long. */
  lastFlushMs: 10_000,
} as const;
