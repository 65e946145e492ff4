/** One skill as the commands for people give it: as data for programs, and in words. */
import type { ListedSkill, Skill } from '../index.ts';

/** `name` is the one that loads it. Programs rely on these members: a change of one is a new version. */
export function dataOf({ id, skill }: ListedSkill) {
  const { provider, location, plugin, description, directory, file } = skill;
  const from = plugin && `${plugin.name}@${plugin.marketplace}`;
  return { name: id, provider, location, plugin: from, description, directory, file };
}

/** "claude, project"; of a directory that was named on the command line "custom". */
export function originOf({ provider, location, plugin }: Pick<Skill, 'provider' | 'location' | 'plugin'>): string {
  if (plugin) return `plugin ${plugin.name}@${plugin.marketplace}`;
  return provider === location ? provider : `${provider}, ${location}`;
}
