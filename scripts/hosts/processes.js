/**
 * Starting and ending other people's programs: every one has a time limit, a process group and a mark in its
 * environment, so that whatever it leaves behind can be found and ended too (Linux; elsewhere only the group is ended).
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MARK = 'SKILLWIRE_HOSTS_RUN';
const MAX_OUTPUT = 4 * 1024 * 1024;
const running = new Set();

/** Starts a program in its own process group. `mark` is what `leftBehind` looks for. */
export function start(command, args, { cwd, env, mark = 'install', stdio = ['ignore', 'pipe', 'pipe'] }) {
  const child = spawn(command, args, { cwd, env: { ...env, [MARK]: mark }, stdio, detached: true });
  running.add(child);
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
export function leftBehind(mark) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        if (!environment.includes(`${MARK}=${mark}`)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
        // A process that has ended and waits for its parent has no command line.
        return command ? [{ pid: Number(pid), command }] : [];
      } catch {
        return []; // it ended while we looked, or belongs to somebody else
      }
    });
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
}
