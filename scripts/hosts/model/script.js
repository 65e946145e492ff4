/**
 * What the fake model does: find the `skill` tool among what it is shown, load a skill with it, list the skills, end.
 * A host that hides MCP tools behind a search of its own is asked for them first, with the words its table row gives.
 */

export const SKILL = 'greeting';

/**
 * @param ours the tools that the server has listed so far, by the proxy's log
 * @param search how to ask this host for tools it has not shown: `{tool, names, args(name)}`, and `wrap(name, args)`
 *   where such a tool is not called by its own name
 */
export function playScript(ours, search) {
  return (seen, requests) => {
    if (seen.tools.length === 0) return { say: 'ok' };
    const done = new Set(requests.map(({ action }) => action?.step).filter(Boolean));
    const shown = matchTools(seen.tools, ours());
    const calls = [
      { step: 'skill', tool: shown.find(({ plain }) => plain === 'skill'), args: { name: SKILL } },
      { step: 'list', tool: shown.find(({ plain }) => plain === 'skills.list'), args: { query: SKILL } },
    ];
    for (const { step, tool, args } of calls) {
      if (done.has(step)) continue;
      if (tool && !tool.deferred) return { step, call: tool.name, namespace: tool.namespace, args };
      if (!search) continue;
      // What was asked for may come as a definition inside the answer, and need not be in the list of tools.
      const wrap = search.wrap ?? ((call, args) => ({ call, args }));
      if (done.has(`search ${step}`)) return { step, ...wrap(search.names[step], args) };
      return { step: `search ${step}`, call: search.tool, args: search.args(search.names[step]) };
    }
    return { step: 'done', say: 'done' };
  };
}

/** Which of the tools shown are ours: told by the beginning of the description, since hosts rewrite names. */
export function matchTools(shown, ours) {
  return shown.flatMap((tool) => {
    const own = ours.find(({ name, description }) => isSame(tool, name, description));
    if (!own) return [];
    return [{ ...tool, plain: own.name.replace(/^skills_/, 'skills.'), listed: own }];
  });
}

// --- internal ---

const START = 60;

function isSame(tool, name, description) {
  if (tool.description) return oneLine(tool.description).includes(oneLine(description).slice(0, START));
  return tool.name?.endsWith(name.replace(/[^A-Za-z0-9]/g, '_'));
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();
