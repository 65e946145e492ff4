/**
 * `node scripts/schemas.js DIR`: takes over the official schemas from a checkout of
 * github.com/modelcontextprotocol/modelcontextprotocol into test/fixtures/schemas: of each revision the results that we
 * give and all that they refer to, without descriptions.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { top } from './prepare.js';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const RESULTS = [
  'InitializeResult',
  'DiscoverResult',
  'ListToolsResult',
  'ListResourcesResult',
  'ListResourceTemplatesResult',
  'ListPromptsResult',
  'CallToolResult',
  'ReadResourceResult',
  'GetPromptResult',
];

const [from = '.'] = process.argv.slice(2);
const to = join(top, 'test', 'fixtures', 'schemas');
mkdirSync(to, { recursive: true });
copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
for (const revision of REVISIONS) {
  const whole = JSON.parse(readFileSync(join(from, 'schema', revision, 'schema.json'), 'utf8'));
  const place = whole.$defs ? '$defs' : 'definitions';
  const kept = new Map();
  const keep = (name) => {
    const definition = whole[place][name];
    if (kept.has(name) || !definition) return;
    kept.set(name, withoutDescriptions(definition));
    for (const [, other] of JSON.stringify(definition).matchAll(/"\$ref":"#\/[^/"]+\/([^"]+)"/g)) keep(other);
  };
  for (const name of RESULTS) keep(name);
  const definitions = Object.fromEntries([...kept].sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(join(to, `${revision}.json`), `${JSON.stringify({ $schema: whole.$schema, [place]: definitions })}\n`);
}

/** A description is text; a property of that name is a schema. */
function withoutDescriptions(value) {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key, one]) => key !== 'description' || typeof one !== 'string');
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutDescriptions(one)]));
}
