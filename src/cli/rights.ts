/** Deno starts a program without rights, and a right that it refuses would end this one with a stack trace. */

/** Under Deno: a refused right becomes one line that names the rights that are needed. */
export function explainRefusedRights(): void {
  if (process.versions.deno === undefined) return;
  const explain = (error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'NotCapable') throw error;
    process.stderr.write(`skillwire: Deno refuses: ${error.message.split('\n')[0]}. ${NEEDED}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', explain);
  process.on('unhandledRejection', explain);
}

// --- internal ---

const NEEDED =
  'It needs: deno run --allow-read --allow-env --allow-sys FILE (-A for HTTP, --hub and commands that write)';
