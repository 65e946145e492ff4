/**
 * The library, opened for its first reader: digests need node:crypto, and loading that would be a tenth of the time
 * this program takes to start.
 */
import type { SkillFiles } from '../model.ts';
import type { Library } from './contents.ts';

export function createDesk(): Library {
  let opened: Promise<Library> | undefined;

  return {
    filesOf(directory) {
      const files = async (): Promise<SkillFiles> => {
        opened ??= import('./contents.ts').then(({ createLibrary }) => createLibrary());
        return (await opened).filesOf(directory);
      };
      return {
        manifest: async (signal) => (await files()).manifest(signal),
        read: async (path, signal) => (await files()).read(path, signal),
        list: async (path, signal) => (await files()).list(path, signal),
        version: async (path) => (await files()).version(path),
      };
    },
  };
}
