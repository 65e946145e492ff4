/** Skills that exist in memory only, for tests of what is made of skills. */
import type { Location, Plugin, Skill } from '../../src/model.ts';

let made = 0;

/** `owner`: `claude`, `claude@global`, `server@mcp`, or for a plugin `plugin@marketplace`. Each call gives another place. */
export function sketch(owner: string, name: string, more: Partial<Skill> = {}): Skill {
  made += 1;
  const [first = '', scope = first === 'custom' ? 'custom' : 'project'] = owner.split('@');
  const isLocation = ['project', 'global', 'custom', 'mcp'].includes(scope);
  const plugin: Plugin | undefined = isLocation ? undefined : { name: first, marketplace: scope };
  const directory = more.directory ?? `/r/${made}`;
  return {
    name,
    description: `About ${name}`,
    provider: plugin ? 'claude' : first,
    location: plugin ? 'plugin' : (scope as Location),
    plugin,
    root: '/r',
    directory,
    file: `${directory}/SKILL.md`,
    identity: String(made),
    files: {} as Skill['files'],
    ...more,
  };
}

/** Equal seeds give equal numbers from 0 to 1, so that a failure can be seen again. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
