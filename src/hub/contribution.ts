/** What the upstream servers bring to the catalogue, made of their listings. */
import type { Contribution } from '../model.ts';
import { promptsOf } from './upstream/prompts.ts';
import { resourcesOf, templatesOf } from './upstream/resources.ts';
import { skillsOf } from './upstream/skills.ts';
import { toolsOf } from './upstream/tools.ts';
import type { Upstream } from './upstream/upstream.ts';

export function contributionOf(all: readonly Upstream[]): Contribution {
  return {
    skills: skillsOf(all),
    tools: toolsOf(all),
    resources: resourcesOf(all),
    templates: templatesOf(all),
    prompts: promptsOf(all),
  };
}
