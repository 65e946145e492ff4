/** From what was recorded about a host to one row of the table. */
import { BODY } from './home.js';
import { toolsListed } from './log.js';
import { matchTools } from './model/script.js';

export function judge(facts) {
  const { entries, requests, own, left, client } = facts;
  const asked = requests.filter(({ tools }) => tools?.length);
  const ours = toolsListed(entries);
  const shown = uniqueByName(asked.flatMap(({ tools }) => matchTools(tools, ours)));
  return {
    client,
    clientVersion: facts.clientVersion,
    protocol: facts.protocol,
    methods: facts.methods,
    capabilities: facts.capabilities,
    listed: ours.map(({ name, description }) => ({ name, length: description.length })),
    asked: asked.length > 0,
    shown: shown.map(describeShown),
    deferred: facts.host.search !== undefined && isDeferred(matchTools(asked[0]?.tools ?? [], ours)),
    results: resultsShown(requests, facts.called),
    instructions: instructionsShown(facts.instructions, requests),
    native: own.filter((skill) => requests.some(({ body }) => isShown(skill, body))).map(({ dir }) => dir),
    called: facts.called.map(({ name }) => name),
    errors: [...new Set(facts.errors)],
    startedIn: facts.startedIn,
    end: facts.end,
    left: left.map(({ command }) => command),
    verdict: verdict(facts, asked.length > 0),
  };
}

// --- internal ---

function verdict({ host, client, called, requests, outputs }, hasModel) {
  const late = outputs.find(({ timedOut }) => timedOut);
  const why = late ? ' (time over)' : `: ${lastLine(outputs)}`;
  if (!client) return `never connected${why}`;
  if (host.connectsOnly) return `connects; ${host.connectsOnly}`;
  if (!called.some(({ answer }) => JSON.stringify(answer ?? '').includes(BODY)))
    return `connected, loaded no skill${why}`;
  const readers = hasModel ? requests.flatMap(({ results = [] }) => results) : outputs.map(({ output }) => output);
  if (!readers.some((text) => text.includes(BODY))) return 'loaded a skill, but its text was not shown';
  if (late) return 'ok, but did not end';
  const failed = outputs.find(({ code }) => code !== 0);
  return failed ? `a command ended with ${failed.code}: ${failed.command}` : 'ok';
}

function lastLine(outputs) {
  const lines = outputs.flatMap(({ output }) => output.trim().split('\n'));
  return lines.at(-1)?.slice(0, 160) ?? '';
}

const isDeferred = (tools) => !tools.some(({ plain, deferred }) => plain === 'skill' && !deferred);

function instructionsShown(instructions, requests) {
  if (instructions === undefined) return 'none sent';
  const start = inJson(instructions.slice(0, 40));
  return requests.some(({ body }) => JSON.stringify(body ?? '').includes(start)) ? 'shown' : 'not shown';
}

/** A description anywhere, or a name among the tools; a name elsewhere may come from a listing of the project. */
function isShown({ name, description }, body = {}) {
  if (JSON.stringify(body).includes(description)) return true;
  return new RegExp(`${name}(?![\\w-])`).test(JSON.stringify(body.tools ?? ''));
}

const inJson = (text) => JSON.stringify(text).slice(1, -1);

function uniqueByName(tools) {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

/** Length at the model against length in the list; a host may also put words of its own in front. */
function describeShown({ name, namespace, description = '', listed, deferred }) {
  return {
    name: namespace ? `${namespace}/${name}` : name,
    listedAs: listed.name,
    length: description.length,
    of: listed.description.length,
    cut: description.length < listed.description.length,
    deferred: deferred === true,
  };
}

/** For each call: was the model handed the text, the structured part, or both? */
function resultsShown(requests, called) {
  const shown = {};
  for (const [index, { action }] of requests.entries()) {
    const argument = { skill: 'name', list: 'query' }[action?.step];
    if (!argument) continue;
    const text = requests
      .slice(index + 1)
      .find(({ results }) => results?.length > 0)
      ?.results.at(-1);
    const answer = called.find(({ arguments: args }) => args?.[argument])?.answer;
    if (text !== undefined && answer) shown[action.step] = partsShown(text, answer);
  }
  return shown;
}

function partsShown(text, { content, structuredContent }) {
  const start = content?.[0]?.text?.slice(0, 24);
  const kinds = [];
  if (start && [start, inJson(start), inJson(inJson(start))].some((one) => text.includes(one))) kinds.push('text');
  if (structuredContent && text.includes('installName')) kinds.push('structured');
  return kinds.join(' and ') || `neither: ${text.slice(0, 80)}`;
}
