/**
 * Makes text for a model from a process's bytes: valid UTF-8, without escape sequences, and with only the last state of a
 * progress bar.
 */
import { stripVTControlCharacters } from 'node:util';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Returns the text of these bytes. Incomplete characters at the beginning and the end are omitted. For binary data, returns a
 * note with the number of bytes.
 */
export function readable(bytes: Uint8Array): string {
  const whole = wholeCharacters(bytes);
  if (isBinary(whole)) return `[binary, ${whole.length.toLocaleString('en')} bytes]`;
  return clean(decoder.decode(whole));
}

export function clean(text: string): string {
  const plain = stripVTControlCharacters(withoutCommands(text)).replaceAll('\r\n', '\n');
  const lines = plain.includes('\r') || plain.includes('\b') ? plain.split('\n').map(overwritten).join('\n') : plain;
  // oxlint-disable-next-line no-control-regex -- the remaining control characters are invisible and may hide text
  return lines.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, '');
}

/**
 * Removes commands for the terminal, such as its title or a link, which begin with `ESC ]`. `stripVTControlCharacters` needs
 * quadratic time for a command without an end.
 */
const withoutCommands = (text: string): string =>
  text.includes(BEGINNING) ? text.replaceAll(COMMAND, '').replaceAll(BEGINNING, '') : text;
const BEGINNING = '\u001b]';
// oxlint-disable-next-line no-control-regex -- these characters begin and end a command
const COMMAND = /\u001b\][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)/gu;

/** Returns the text of a line after its last carriage return, with its backspaces applied. */
function overwritten(line: string): string {
  const last = line.replace(/\r+$/u, '');
  const text = last.slice(last.lastIndexOf('\r') + 1);
  if (!text.includes('\b')) return text;
  const left: string[] = [];
  for (const character of text) {
    if (character === '\b') left.pop();
    else left.push(character);
  }
  return left.join('');
}

/** Removes incomplete UTF-8 characters at the beginning and the end. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && start < bytes.length && isContinuation(bytes[start])) start += 1;
  // Four continuation bytes in a row cannot be the rest of a character, so the bytes are not UTF-8.
  if (start === 3 && isContinuation(bytes[3])) start = 0;
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= end - start; back++) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (length > back) end -= back;
    break;
  }
  return bytes.subarray(start, end);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Whether the first 8 KiB contain a NUL, or invalid UTF-8: more than 16 errors, and more than one error per ten bytes. */
function isBinary(bytes: Uint8Array): boolean {
  const head = wholeCharacters(bytes.subarray(0, 8192));
  if (head.includes(0)) return true;
  const broken = decoder.decode(head).split('\ufffd').length - 1;
  return broken > 16 && broken > head.length / 10;
}

/** Returns the last line with text, shortened to 200 characters. Undefined if no line has text. */
export function lastLineOf(text: string): string | undefined {
  const line = text
    .split('\n')
    .findLast((candidate) => candidate.trim() !== '')
    ?.trim();
  return line !== undefined && line.length > 200 ? `${[...line].slice(0, 199).join('')}…` : line;
}

/**
 * Whether an unfinished line looks like a question that waits for an answer. False in doubt, because a progress line must not
 * count as a question.
 */
export function looksLikePrompt(line: string): boolean {
  const text = line.trimEnd();
  if (text === '') return false;
  if (/\b(?:y(?:es)?\/n(?:o)?|password|passphrase)\b/iu.test(text) || /\bpress\b.*\b(?:key|enter|return)\b/iu.test(text))
    return true;
  return /[?:$❯›»]$/u.test(text) || /(?:^|[^=\-#>])(?:>{1,3}|#)$/u.test(text);
}
