/** The modules of src/ as text, with what they import: read by the same code as for `npm run audit`. */

export interface Module {
  /** From the top of the checkout: `src/protocol/json-rpc.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text without comments. */
  readonly code: string;
  readonly lines: number;
  /** Type imports and dynamic ones included: own files by path, packages and built-ins as written. */
  readonly imports: readonly string[];
}

interface Limit {
  readonly path: string;
  readonly name: string;
  readonly value: number;
  /** The comment above it. */
  readonly reason: string;
}

interface AuditGroup {
  readonly parts: readonly { readonly boundary: boolean; readonly paths: readonly string[] }[];
}

type Modules = ReadonlyMap<string, Module>;

// Seen from .test-build/test/harness. The scripts are JavaScript, so their types are said here.
const load = (name: string) => import(new URL(`../../../scripts/audit/${name}.js`, import.meta.url).href);
const { readModules, reach }: { readModules(): Modules; reach(modules: Modules, entry: string): readonly string[] } =
  await load('modules');
const { limits }: { limits(modules: Modules): readonly Limit[] } = await load('facts');
const { auditGroups }: { auditGroups(modules: Modules): readonly AuditGroup[] } = await load('boundaries');

const byPath = readModules();
/** Sorted by path. */
export const modules: readonly Module[] = [...byPath.values()];
/** The files that an entry imports, directly or not, and itself. */
export const reachedFrom = (entry: string) => reach(byPath, entry);
export const allLimits = limits(byPath);
/** Those in the text of one file. */
export const limitsIn = (path: string, text: string) =>
  limits(new Map([[path, { path, text, code: text, lines: 0, imports: [] }]]));
export const auditParts = auditGroups(byPath).flatMap(({ parts }) => parts);
