/**
 * What `skillwire doctor` reports: what was looked at and found, what is wrong, what hosts are sent, the states of servers.
 * Owns: what counts as something to mend. Leaves alone: finding out (server.ts), the words (doctor-text.ts).
 * Always true: the report contains no secrets; a fault is in it once.
 */
import type { Settings } from '../config.ts';
import type { Problem, Snapshot, UpstreamStatus } from '../index.ts';
import { explainNone } from '../skills/absent.ts';
import { createPluginFinder } from '../skills/plugins.ts';
import { findRoots, type Root } from '../skills/roots.ts';
import { toolListsOf } from './tool-lists.ts';
import { isConnecting, type View } from './view.ts';

export type Report = Awaited<ReturnType<typeof examine>>;

/** `mistakes`: of the command line. */
export async function examine(view: View, settings: Settings, mistakes: readonly Problem[]) {
  const { skillwire, milliseconds } = view;
  const { snapshot, toMend, problems, upstreams } = await findFaults(skillwire, settings, mistakes);
  const { listed, problems: names } = snapshot.names;
  const { plugins, roots } = placesOf(snapshot, settings);
  const toolLists = await toolListsOf(skillwire.handle, settings);
  return { toMend, skills: listed.length, milliseconds, roots, plugins, names, toolLists, problems, upstreams };
}

// --- internal ---

/** What is wrong, and how many things there are to mend. It reads every file of every skill. */
async function findFaults(skillwire: View['skillwire'], settings: Settings, mistakes: readonly Problem[]) {
  const found = await skillwire.examine();
  const snapshot = await skillwire.registry.ready();
  const upstreams = skillwire.status();
  const told = new Set([...snapshot.names.problems.map(keyOf), ...upstreams.map(problemKeyOf)]);
  const explained = new Set(found.filter(({ what }) => CAUSES.test(what)).map(({ where }) => where));
  const isNew = (problem: Problem) =>
    !told.has(keyOf(problem)) && !(EFFECT.test(problem.what) && explained.has(problem.where));
  const problems = [...mistakes, ...explainNone(snapshot, settings), ...found.filter(isNew).map(judged)];
  const toMend = problems.filter(({ mild }) => !mild).length + upstreams.filter(isInTrouble).length;
  return { snapshot, problems, upstreams, toMend };
}

const keyOf = ({ where, what }: Problem) => `${where}\n${what}`;

/** A server that cannot be started is a Problem too, in these words; its state says the same. */
const problemKeyOf = ({ from, name, reason }: UpstreamStatus) => `${from}\nserver "${name}": ${reason}`;

// A skill with one of these faults is also left out of `skills/list`, which is a Problem of its own.
const CAUSES = /^(?:front matter is not valid YAML|name "[\s\S]*" is not 1 to 64 )/;
const EFFECT = /^is not in skills\/list,/;

// What a server lists is not in the user's hands: the log warns of it, but there is nothing to mend. A list that failed
// is trouble of the server, and a filter is the user's.
const isOfServer = ({ where, what }: Problem) => /^server [^:]*$/.test(where) && !/^\S+ failed\b/.test(what);
const judged = (problem: Problem): Problem => (isOfServer(problem) ? { ...problem, mild: true } : problem);

/** One that is still connecting is slow, which need not be a fault. */
const isInTrouble = (status: UpstreamStatus) => !['ready', 'disabled'].includes(status.state) && !isConnecting(status);

/** Where skills were looked for, with the names of those that were found there, and what gave them. */
function placesOf({ names }: Snapshot, settings: Settings) {
  const { roots: pluginRoots, states } = settings.skipPlugins ? NO_PLUGINS : createPluginFinder(settings)();
  const all = [...findRoots(settings), ...pluginRoots].map(placeOf);
  const places = new Map(all.map((place) => [`${place.directory}\n${place.provider}`, place]));
  const plugins = states.map((state) => ({ ...state, skills: 0 }));
  for (const { id, skill } of names.listed) {
    const { root: directory, provider, location, plugin } = skill;
    const key = `${directory}\n${provider}`;
    const place = places.get(key) ?? placeOf({ directory, provider, location });
    places.set(key, place);
    place.names.push(id);
    for (const one of plugins) if (one.name === plugin?.name && one.marketplace === plugin.marketplace) one.skills += 1;
  }
  return { plugins, roots: [...places.values()] };
}

const NO_PLUGINS = { roots: [], states: [] };

function placeOf({ directory, provider, location }: Pick<Root, 'directory' | 'provider' | 'location'>) {
  const names: string[] = [];
  return { directory, provider, location, names };
}
