/** The README's section on troubleshooting quotes what the program says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { modules } from '../harness/source.ts';

// Seen from .test-build/test/program.
const README = readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');

test('every message in the table of symptoms is one of the program', () => {
  const [section = ''] = /^## Troubleshooting$[\s\S]*?(?=^## )/m.exec(README) ?? [];
  const symptoms = [...section.matchAll(/^\| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm)].map(([, symptom = '']) => symptom);
  assert.ok(symptoms.length > 20, `${symptoms.length} symptoms`);
  const messages = symptoms
    .filter((symptom) => symptom.includes('says `'))
    .flatMap((symptom) => [...symptom.slice(symptom.indexOf('says `')).matchAll(/`([^`]+)`/g)])
    .map(([, message = '']) => message);
  assert.ok(messages.length > 10, `${messages.length} messages`);
  assert.deepEqual(
    messages.filter((message) => !modules.some(({ text }) => text.includes(message))),
    [],
  );
});

test('every link to a section of the README leads to one', () => {
  const anchors = [...README.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...README.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
  assert.deepEqual(
    links.filter((anchor) => !anchors.includes(anchor)),
    [],
  );
});
