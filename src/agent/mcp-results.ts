/**
 * Converts an MCP tool's result for the model. Text that is too long is cut in the middle, and the whole text is written to a
 * file. Images and audio are written to files too. Only the user can read these files. The next write deletes files that are
 * older than a day.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../core/json.ts';
import { randomIds } from '../inbox/index.ts';
import { makeFolders } from '../input/folders.ts';
import type { ToolOutcome } from '../handles/tool.ts';

type Content = {
  readonly type: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly data?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: { readonly text?: string; readonly uri?: string; readonly blob?: string; readonly mimeType?: string };
};
export type CallResult = {
  readonly content?: readonly Content[];
  readonly structuredContent?: Json;
  readonly isError?: boolean;
};

export type ResultLimits = {
  /** The maximum number of characters of a result that the model reads. */
  readonly maxChars: number;
  /** The folder for longer results, images and audio. */
  readonly folder: string;
};

const KEEP_MS = 24 * 3_600_000;

export function outcomeOf({ content = [], structuredContent, isError = false }: CallResult, limits: ResultLimits): ToolOutcome {
  const parts = content.map((block) => textOf(block, limits.folder)).filter((text) => text.trim() !== '');
  // A server should also send structured content as text, but some servers do not.
  const said = content.some(({ type, text }) => type === 'text' && (text ?? '').trim() !== '');
  if (!said && structuredContent !== undefined) parts.unshift(JSON.stringify(structuredContent));
  return { content: shortened(parts.join('\n'), limits), isError };
}

function shortened(text: string, { maxChars, folder }: ResultLimits): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const left = (text.length - 2 * half).toLocaleString('en');
  const where = kept(folder, 'txt', text);
  return [
    text.slice(0, half).toWellFormed(),
    `[… ${left} of ${text.length.toLocaleString('en')} characters are left out here; ${where === undefined ? 'the whole text could not be kept' : `the whole text is in ${where}`} …]`,
    text.slice(-half).toWellFormed(),
  ].join('\n');
}

function textOf(block: Content, folder: string): string {
  const { type, text, mimeType, data, resource } = block;
  if (type === 'text') return text ?? '';
  if (type === 'resource' && resource?.text !== undefined) return resource.text;
  if (type === 'resource_link') return `[resource ${block.uri ?? ''}${block.name === undefined ? '' : ` (${block.name})`}]`;
  const base64 = data ?? resource?.blob;
  const what = [type, mimeType ?? resource?.mimeType, resource?.uri].filter((word) => word !== undefined).join(' ');
  if (base64 === undefined) return `[${what}]`;
  const bytes = Buffer.from(base64, 'base64');
  const where = kept(folder, endingOf(mimeType ?? resource?.mimeType), bytes);
  return `[${what}, ${bytes.length.toLocaleString('en')} bytes${where === undefined ? '' : `: ${where}`}]`;
}

const endingOf = (mimeType: string | undefined): string => /\/([a-z0-9]{1,8})\b/.exec(mimeType ?? '')?.[1] ?? 'bin';

/** Writes a file and returns its path. Returns undefined if the write fails, so that a full disk does not fail the call. */
function kept(folder: string, ending: string, whole: string | Buffer): string | undefined {
  try {
    makeFolders(folder);
    sweep(folder);
    const path = join(folder, `${randomIds.make('r')}.${ending}`);
    writeFileSync(path, whole, { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return undefined;
  }
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { force: true });
  }
}
