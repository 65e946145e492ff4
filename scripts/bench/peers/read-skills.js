/** What a minimal skill server does about its skills: reads every SKILL.md once, lists name and description. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function readSkills(root) {
  const skills = new Map();
  for (const entry of readdirSync(root, { recursive: true })) {
    if (!entry.endsWith('SKILL.md')) continue;
    const text = readFileSync(join(root, entry), 'utf8');
    const name = /^name: (.*)$/m.exec(text)[1];
    skills.set(name, { name, description: /^description: (.*)$/m.exec(text)[1], text });
  }
  return skills;
}

export function describeSkills(skills) {
  const list = [...skills.values()].map(
    ({ name, description }) => `<skill><name>${name}</name><description>${description}</description></skill>`,
  );
  return `Loads a skill.\n<available_skills>\n${list.join('\n')}\n</available_skills>`;
}
