/**
 * What a client is shown of the server's tools.
 * Owns: everything about a client that its list of tools depends on. Leaves alone: the table of clients
 * (host-profiles.ts), the list (tools.ts).
 */
import { type Peer, SKILLS_EXTENSION } from '../protocol/index.ts';
import { instructionsFor, ownToolNames, type ToolName } from '../tools/instructions.ts';
import { createProfiles, type HostOptions, type HostProfile } from './host-profiles.ts';
import { createNameTable } from './spelling.ts';

export interface ViewOptions extends HostOptions {
  /** The own tools that are served; `auto`: all, but to a client with the Skills extension only those that it needs. */
  readonly tools: 'auto' | readonly ToolName[];
}

export interface PeerView {
  /** Equal for equal views, and only for those. */
  readonly key: string;
  readonly host: HostProfile;
  /** The plain names of the tools that are not listed. */
  readonly omitted: readonly string[];
  readonly anyStructure: boolean;
}

export type Views = ReturnType<typeof createViews>;

export function createViews(options: ViewOptions) {
  const profileOf = createProfiles(options);
  const names = ownToolNames(options.tools);
  const { spell } = createNameTable('tool', new Map(names.map((name) => [name, name])), []);
  const viewFor = ({ client, extensions, anyStructure = false }: Peer): PeerView => {
    const host = profileOf(client);
    const omitted = options.tools === 'auto' && extensions.has(SKILLS_EXTENSION) ? DONE_BY_EXTENSION : [];
    return { key: `${host.key} ${omitted.length} ${anyStructure}`, host, omitted, anyStructure };
  };
  return {
    profileOf,
    viewFor,
    /** What the client's model is told, with the names of the own tools as the client is shown them. */
    instructionsFor(peer: Peer): string {
      const { host, omitted } = viewFor(peer);
      const shown = names.filter((name) => !omitted.includes(name));
      return instructionsFor(new Map(shown.map((name) => [name, spell(name, host.nameLimit)])));
    },
  };
}

// --- internal ---

// Searching is not part of the extension.
const DONE_BY_EXTENSION: readonly string[] = ['skill', 'skills.list', 'skills.read'];
