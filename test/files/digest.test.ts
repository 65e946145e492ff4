import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256Of } from '../../src/files/digest.ts';

test('a digest is that of FIPS 180-4, in hexadecimal', async () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(await sha256Of(Buffer.from('abc')), abc);
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  assert.equal(await sha256Of(new Uint8Array()), empty);
});
