/** Media types by file name. Only those that real skills contain; other files are text or binary by their bytes. */
import { posix } from 'node:path';
import { lazy } from '../lazy.ts';

export const DIRECTORY_TYPE = 'inode/directory';

/** Undefined for an unknown extension. */
export function typeOfName(path: string): string | undefined {
  return typesByEnding().get(posix.extname(path).toLowerCase());
}

/** The text of UTF-8 bytes, byte order mark included; undefined for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8().decode(bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}

/** One file as `resources/read` and embedded resources give it. */
export function contentOf(uri: string, path: string, bytes: Uint8Array): object {
  const text = textOf(bytes);
  const mimeType = typeOfName(path) ?? (text === undefined ? 'application/octet-stream' : 'text/plain');
  if (text !== undefined) return { uri, mimeType, text };
  const { buffer, byteOffset, byteLength } = bytes;
  return { uri, mimeType, blob: Buffer.from(buffer, byteOffset, byteLength).toString('base64') };
}

// --- internal ---

const utf8 = lazy(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }));

const typesByEnding = lazy(() => {
  const pairs = Object.entries(endings()).flatMap(([type, all]) => all.split(' ').map((one) => [one, type] as const));
  return new Map(pairs);
});

const endings = () => ({
  'text/markdown': '.md .markdown .mdx',
  'text/plain': '.txt .text .log .ini .cfg .conf .env .gitignore .rst .tex .diff .patch',
  'text/html': '.html .htm',
  'text/css': '.css .scss .less',
  'text/csv': '.csv',
  'text/tab-separated-values': '.tsv',
  'text/javascript': '.js .mjs .cjs .jsx',
  'text/x-typescript': '.ts .mts .cts .tsx',
  'text/x-python': '.py .pyi',
  'text/x-ruby': '.rb',
  'text/x-go': '.go',
  'text/x-rust': '.rs',
  'text/x-java': '.java .kt .kts .scala',
  'text/x-c': '.c .h .cc .cpp .hpp .cs',
  'text/x-php': '.php',
  'text/x-swift': '.swift',
  'text/x-lua': '.lua',
  'text/x-r': '.r',
  'text/x-powershell': '.ps1 .psm1',
  'application/x-sh': '.sh .bash .zsh .fish',
  'application/sql': '.sql',
  'application/json': '.json .map .ipynb',
  'application/jsonl': '.jsonl .ndjson',
  'application/yaml': '.yaml .yml',
  'application/toml': '.toml',
  'application/xml': '.xml .xsd .xsl',
  'application/graphql': '.graphql .gql',
  'application/pdf': '.pdf',
  'application/zip': '.zip .skill',
  'application/gzip': '.gz .tgz',
  'application/x-tar': '.tar',
  'application/wasm': '.wasm',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
  'image/png': '.png',
  'image/jpeg': '.jpg .jpeg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/svg+xml': '.svg',
  'image/x-icon': '.ico',
  'audio/mpeg': '.mp3',
  'audio/wav': '.wav',
  'video/mp4': '.mp4',
  'font/ttf': '.ttf',
  'font/otf': '.otf',
  'font/woff': '.woff',
  'font/woff2': '.woff2',
});
