/**
 * Starting and ending other people's programs: every one has a time limit, a process group and a mark in its
 * environment, so that whatever it leaves behind can be found and ended too (Linux; elsewhere only the group is ended).
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MARK = 'SKILLWIRE_HOSTS_RUN';
const MAX_OUTPUT = 4 * 1024 * 1024;
const running = new Set();
const marks = new Set();

/** Telemetry, updates and model lists go nowhere: port 9 is closed. Programs that do not read these variables are not held. */
export const LOOPBACK_ONLY = {
  HTTPS_PROXY: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
};

/** An environment by which a process and everything it starts can be found again. */
export const marked = (env, mark) => ({ ...env, [MARK]: ours(mark) });

// Two runs on one machine must not end each other's processes.
const ours = (mark) => `${process.pid} ${mark}`;

/** Starts a program in its own process group. `mark` is what `leftBehind` looks for. */
export function start(command, args, { cwd, env, mark = 'install', stdio = ['ignore', 'pipe', 'pipe'] }) {
  const child = spawn(command, args, { cwd, env: marked(env, mark), stdio, detached: true });
  running.add(child);
  marks.add(mark);
  child.on('close', () => running.delete(child));
  return child;
}

/** Runs a program until it ends or its time is over; never rejects. */
export function runToEnd(command, args, { limit, ...options }) {
  return new Promise((resolve) => {
    const began = Date.now();
    let output = '';
    let timedOut = false;
    const child = start(command, args, options);
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child, 'SIGKILL');
    }, limit);
    const done = (code) => {
      clearTimeout(timer);
      resolve({ code, output, timedOut, ms: Date.now() - began });
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        if (output.length < MAX_OUTPUT) output += chunk;
      });
    }
    child.on('error', (error) => {
      output += error.message;
      done(-1);
    });
    // 'close' would wait for grandchildren that keep the pipe open; they are looked for afterwards.
    child.on('exit', (code, signal) => setTimeout(done, 200, code ?? signal));
  });
}

export function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

/** Processes that carry this mark, whoever started them: `{pid, command}`. */
function leftBehind(mark) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        if (!environment.includes(`${MARK}=${ours(mark)}`)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
        // A process that has ended and waits for its parent has no command line.
        return command ? [{ pid: Number(pid), command }] : [];
      } catch {
        return []; // it ended while we looked, or belongs to somebody else
      }
    });
}

/** The same, after a second in which they may still end by themselves. */
export async function staysBehind(mark) {
  for (let tries = 0; tries < 10 && leftBehind(mark).length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return leftBehind(mark);
}

export function endLeftBehind(mark) {
  for (const { pid } of leftBehind(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
    }
  }
}

export function endAll() {
  for (const child of running) endGroup(child, 'SIGKILL');
  for (const mark of marks) endLeftBehind(mark);
}
