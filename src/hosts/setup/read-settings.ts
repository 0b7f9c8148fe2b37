/** Reads a settings file of an agent. The reason why a file cannot be read is a text for people. */
import { readLimited } from '../../input/index.ts';
import { MAX_BYTES } from './record.ts';

export function readSettings(file: string): { readonly text?: string; readonly problem?: string } {
  try {
    const bytes = readLimited(file, MAX_BYTES);
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return { problem: `${file} is not UTF-8; save the file as UTF-8 in your editor first` };
    return {
      problem: `${file} cannot be read (${code ?? message}); make it a readable file of at most 64 MiB, then run the command again`,
    };
  }
}
