/**
 * Child processes: every one is started with the same small environment, measured from outside, and ended.
 * Always true: when this process exits, however it does, no child that it started is alive.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const alive = new Set();

process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/**
 * PATH, HOME and LANG only. Some variables of a developer's shell change what is measured: NODE_EXTRA_CA_CERTS alone
 * doubles the start of Node 20, for every server alike, and so hides the difference between them.
 */
export function startChild(node, args, { cwd, home, stdio = 'pipe' }) {
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' };
  const child = spawn(node, args, { cwd, env, stdio });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  // A server that died while it was being written to is reported by whoever waits for its answer.
  child.stdin?.on('error', () => {});
  return child;
}

/** Runs a command to its end with the whole environment (npm needs its proxy and cache settings). */
export function runCommand(command, args, { cwd, timeout = 180_000 }) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, timeout, stdio: ['ignore', 'ignore', 'pipe'] });
    alive.add(child);
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-2000);
    });
    child.once('error', fail);
    child.once('close', (code, signal) => {
      alive.delete(child);
      if (code === 0) done();
      else fail(new Error(`${command} ${args[0]} ended with ${code ?? signal}: ${reasonIn(log)}`));
    });
  });
}

/** Resolves when the child is gone. It is asked by closing its stdin, and killed when that does not help. */
export function endChild(child, patience = 3000) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    const killer = setTimeout(() => child.kill('SIGKILL'), patience);
    child.once('exit', () => {
      clearTimeout(killer);
      done();
    });
    if (child.stdin) child.stdin.end();
    else child.kill('SIGTERM');
  });
}

/** CPU time of all threads of a process so far, in microseconds. */
export function cpuMicros(pid) {
  try {
    // Nanoseconds on the processor, per thread; /proc/PID/stat counts in steps of 10 ms.
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    return times.reduce((sum, time) => sum + Number(time) / 1000, 0);
  } catch {
    return cpuTicks(pid) * 10_000;
  }
}

/** Resident memory of a process in MiB. */
export function memoryMiB(pid) {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Why a program ended, in one line of what it wrote: the error it names, else the last thing it said. */
export function reasonIn(log) {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /^(npm error |\w*Error\b)/.test(line)) ?? lines.at(-1) ?? 'it wrote nothing').slice(
    0,
    300,
  );
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// --- internal ---

/** A kernel without scheduler statistics: user and system time, in hundredths of a second. */
function cpuTicks(pid) {
  // The second field is the program's name in parentheses and may contain anything, so count from behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
