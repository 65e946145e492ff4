import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProfiles } from '../../src/methods/hosts.ts';

const AUTO = { names: 'auto', describe: 'auto', descriptionBudget: undefined } as const;
const clientOf = (name: string) => ({ name, version: '1' });

/** By their limits; names between bars. */
const CLIENTS: readonly (readonly [nameLimit: number | undefined, budget: number, names: string])[] = [
  [64, 2000, 'claude-code|ClaudeCode|claude-code (via mcp-remote 0.1.37)'],
  [64, 20_000, 'claude-ai|codex-mcp-client|Code - OSS|JetBrains-IU-copilot-intellij|JetBrains-IU/copilot-intellij|Zed'],
  [64, 20_000, 'claude-desktop|codex|windsurf-client|@librechat/api-client|goose-desktop|dev.warp.Warp-Stable'],
  [45, 20_000, 'cursor-vscode|Visual Studio Code|Visual Studio Code - Insiders|Visual-Studio-Code|@cline/core'],
  [45, 20_000, 'cursor|vscode|copilot-cli|gemini-cli-mcp-client-skillwire|qwen-code-mcp-client'],
  [45, 2000, 'Q DEV CLI'],
  [undefined, 20_000, 'mcp-inspector|mcp|zedland|'],
];

test('each client of the table gets its limits, in any case, with any separators and whatever it appends', () => {
  const profileOf = createProfiles(AUTO);
  for (const [nameLimit, budget, names] of CLIENTS)
    for (const name of names.split('|')) {
      const profile = profileOf(clientOf(name));
      assert.deepEqual(profile, { nameLimit, budget }, name);
      assert.equal(profileOf(clientOf(name.toUpperCase())), profile, 'one object, which can be a key');
    }
  assert.equal(profileOf(undefined), profileOf(clientOf('mcp')));
});

test('the options overrule the table', () => {
  for (const [what, options, client, nameLimit, budget] of [
    ['plain names', { names: 'plain' }, 'cursor-vscode', undefined, 20_000],
    ['safe names for the unknown', { names: 'safe' }, 'unknown', 64, 20_000],
    ['safe names keep a shorter limit', { names: 'safe' }, 'cursor-vscode', 45, 20_000],
    ['compact', { describe: 'compact' }, 'unknown', undefined, 2000],
    ['a budget', { descriptionBudget: 500 }, 'claude-code', 64, 500],
  ] as const)
    assert.deepEqual(createProfiles({ ...AUTO, ...options })(clientOf(client)), { nameLimit, budget }, what);
});
