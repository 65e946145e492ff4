import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSnapshot } from '../../src/catalog/snapshot.ts';
import type { Contribution, Snapshot } from '../../src/model.ts';
import { createFilter } from '../../src/skills/filter.ts';
import { sketch } from '../harness/sketch.ts';

const act = { run: () => ({ content: [] }), get: () => ({}), read: () => ({}), matches: () => true };
const tool = (server: string) => ({ ...act, server, definition: { name: `${server}:echo`, inputSchema: {} } });
const resource = (server: string) => ({ ...act, server, definition: { name: 'notes', uri: 'file:///notes' } });
const EVERYTHING: Contribution = {
  skills: [sketch('claude', 'pdf'), sketch('codex', 'git'), sketch('up@mcp', 'deploy')],
  tools: [tool('up'), tool('other')],
  prompts: [{ ...act, server: 'up', definition: { name: 'up:ask' } }],
  resources: [resource('up')],
  templates: [{ ...act, server: 'up', definition: { name: 'log', uriTemplate: 'log:///{day}' } }],
};

/** What is there, as one list of words. */
const namesIn = ({ names, tools, prompts, resources, templates }: Snapshot) =>
  [
    ...names.listed.map(({ id }) => id),
    ...[...tools, ...prompts].map(({ definition }) => definition.name),
    ...resources.keys(),
    ...templates.map(({ definition }) => definition.uriTemplate),
  ].join(' ');

const build = (contributions: readonly Contribution[], include: string[] = [], exclude: string[] = []) =>
  buildSnapshot(contributions, createFilter({ include, exclude }), new Map());

const OF_UP = 'up:ask file:///notes log:///{day}';
const FILTERED: readonly (readonly [promise: string, include: string[], exclude: string[], kept: string])[] = [
  ['without patterns everything is there', [], [], `pdf git up:deploy up:echo other:echo ${OF_UP}`],
  ['a server means its items of all kinds', ['up'], [], `up:deploy up:echo ${OF_UP}`],
  ['a glob is matched with names without their server', ['e*'], [], 'up:echo other:echo'],
  ['excludes win, for resources and templates too', ['*'], ['up', 'git'], 'pdf other:echo'],
  ['@ means a provider of this machine and no server', ['@codex', '@up'], [], 'git'],
];
for (const [promise, include, exclude, kept] of FILTERED)
  test(`filters: ${promise}`, async () => assert.equal(namesIn(await build([EVERYTHING], include, exclude)), kept));

test('equal contributions give equal snapshots, with the problems of every step; each URI is there once, the first', async () => {
  const skills = [sketch('claude', 'x'), sketch('codex', 'x')];
  const resources = [resource('up'), resource('other')];
  const problems = [{ where: '/a', what: 'is bad' }];
  const input: readonly Contribution[] = [{ problems, resources }, { skills }, { awaited: ['Late'] }];
  const include = ['x', 'up', 'y:z', '@late', 'custom', '', 'late:z', 'la*:z', 'z'];
  const [a, b] = [await build(input, include), await build(input, include)];
  assert.deepEqual({ ...a, names: a.names.listed }, { ...b, names: b.names.listed });
  // The server `late` has nothing listed yet: the last three patterns may match something of it later.
  const reported = '/a,filter "y:z",filter "@late",filter "custom",filter ""';
  assert.equal(a.problems.map(({ where }) => where).join(), reported);
  assert.equal([...a.uris.keys()].join(), 'skill://claude/x,skill://codex/x');
  assert.equal((await build(input)).resources.get('file:///notes')?.server, 'up');
});
