/**
 * js-yaml as it is bundled. Two of its files hide a `require` from bundlers: one to load esprima from wherever Node finds
 * it, for a tag that makes functions of text, and one for Buffer. A program in one file must not run code from another,
 * and front matter is loaded by js-yaml's safe schema, which has no such tag. So the tag is refused, and Buffer is Node's
 * global.
 */
import { readFileSync } from 'node:fs';

/** A plugin of esbuild. */
export const tameYaml = {
  name: 'tame-yaml',
  setup(build) {
    build.onLoad({ filter: /js-yaml[\\/]type[\\/]js[\\/]function\.js$/ }, () => ({ contents: REFUSED_FUNCTION }));
    build.onLoad({ filter: /js-yaml[\\/]type[\\/]binary\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(/^try \{[\s\S]*?^\} catch \(__\) \{\}$/m, 'NodeBuffer = Buffer;');
      if (contents === text) throw new Error(`${path} looks for Buffer in a new way`);
      return { contents };
    });
  },
};

const REFUSED_FUNCTION = `'use strict';
var Type = require('../../type');
module.exports = new Type('tag:yaml.org,2002:js/function', { kind: 'scalar', resolve: function () { return false; } });
`;
