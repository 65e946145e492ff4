/** The conversations of test/transcripts, over every transport. */
import { startProgram } from '../harness/program.ts';
import { type Connect, type Transport, testTranscripts } from '../harness/transcript.ts';
import { connectHttp, connectSse } from '../harness/web-connection.ts';

/** The built program on its pipes. */
const connectStdio: Connect = async (t, tree) => {
  // The watcher is quicker, but the timer is the truth: it decides how long a list_changed may take here.
  const program = startProgram(t, { tree, args: ['--refresh-interval', '500'] });
  let taken = 0;
  return {
    send: (text) => program.sendRaw(`${text}\n`),
    receive() {
      taken++;
      return program.receive();
    },
    stop: () => void program.child.kill('SIGTERM'),
    async close() {
      await program.end();
      return [...program.received.slice(taken), ...program.noise];
    },
  };
};

const transports: readonly Transport[] = [
  { name: 'stdio', kinds: ['legacy', 'modern', 'both', 'pipe'], connect: connectStdio },
  { name: 'http', kinds: ['legacy', 'modern', 'both'], connect: connectHttp },
  { name: 'sse', kinds: ['legacy', 'modern', 'both'], connect: connectSse },
];

testTranscripts(transports);
