/**
 * What is loaded right after the handshake: the tools, because their list is what clients ask for first.
 * Leaves alone: all other methods, which are loaded later (service.ts), and when (loading.ts).
 */
import type { Registry } from './catalog/registry.ts';
import { createRefreshReport } from './catalog/report.ts';
import type { Settings } from './config.ts';
import { createShowTo } from './methods/own-skills.ts';
import { createTools } from './methods/tools.ts';
import type { Views } from './methods/views.ts';
import { createOwnTools } from './tools/table.ts';

export type FirstList = ReturnType<typeof createFirstList>;

export function createFirstList(settings: Settings, views: Views, registry: Registry) {
  const { tools: wanted, cwd, log } = settings;
  registry.onRefresh(createRefreshReport(log));
  const showTo = createShowTo(settings);
  return { showTo, tools: createTools(registry, createOwnTools(wanted, registry, cwd, log), showTo, views) };
}
