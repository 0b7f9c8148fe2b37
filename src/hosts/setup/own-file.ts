/** Plans a file that belongs to Earpiece as a whole, such as a plugin in the agent's plugin folder. */
import type { Part } from './setup.ts';

/** Matches the first line of every plugin file that an installation of any version writes. */
const OURS = /^\/\/ Earpiece: /u;

export const isOwnFile = (text: string | undefined): boolean => OURS.test(text ?? '');

export const ownFilePart = (file: string, content: string): Part => ({
  file,
  what: 'the plugin of Earpiece',
  add: (text) =>
    text.trim() === '' || isOwnFile(text)
      ? { kind: 'text', text: content }
      : {
          kind: 'problem',
          problem: { file, message: 'was not written by Earpiece; move the file away, then run the command again' },
        },
  remove: (text) => ({ kind: 'text', text: isOwnFile(text) ? '' : text }),
});
