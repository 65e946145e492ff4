/** Digests of what files contain: for trust, and for what clients are promised of a file. */

/** SHA-256 in hexadecimal. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  // Loaded on first use: most starts need no digest, and loading it would take them a tenth of their time.
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(bytes).digest('hex');
}
