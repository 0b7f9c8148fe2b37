/**
 * Makes tools that read and write files. With `files`, the tools follow the files that the agent has read: if another program
 * changes such a file, the agent is notified. The agent's own writes cause no notification. The tools do not see files that the
 * agent reads or writes in a shell.
 */
import { open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { withoutNulls } from '../core/defined.ts';
import type { Json } from '../core/json.ts';
import { makeFolders } from '../input/folders.ts';
import type { FilesSource } from '../sources/files/index.ts';
import type { Tool, ToolOutcome } from '../handles/tool.ts';

export type FileToolsOptions = {
  /** The folder to which relative paths refer. */
  readonly root: string;
  /** Follows the files that the tools read. Without this option, no file is followed. */
  readonly files?: Followed | undefined;
};

type Followed = Pick<FilesSource, 'noteRead' | 'withOwnWrite' | 'about'>;

export function fileTools({ root, files = unfollowed }: FileToolsOptions): readonly Tool[] {
  return [readFile(root, files), writeFileTool(root, files)];
}

const unfollowed: Followed = {
  noteRead: async () => {},
  withOwnWrite: async (_path, write) => write(),
  about: (path) => `file:${path}`,
};

/** The maximum size of a file that the tool reads. */
const MAX_BYTES = 20 * 1_048_576;
/** The maximum number of lines in one result. */
const MAX_LINES = 2_000;
const MAX_CHARS = 50_000;

const readFile = (root: string, files: Followed): Tool => ({
  name: 'read_file',
  description:
    'Reads a text file. You are notified when another program changes the file later. A long file is read in parts: the answer says how to continue.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Absolute, or relative to the working folder.' },
      from: { type: 'integer', description: 'First line, from 1. Default 1.' },
      lines: { type: 'integer', description: `How many lines. Default and maximum ${MAX_LINES}.` },
    },
    required: ['path'],
    additionalProperties: false,
  },
  async execute(args): Promise<ToolOutcome> {
    const { path, from = 1, lines = MAX_LINES } = withoutNulls(args as Readonly<Record<string, Json>>);
    if (typeof path !== 'string' || path === '') return wrong(`path must be the path of a file, got ${show(path)}`);
    if (!isCount(from)) return wrong(`from must be a line number of at least 1, got ${show(from)}`);
    if (!isCount(lines)) return wrong(`lines must be a whole number above 0, got ${show(lines)}`);
    const absolute = resolve(root, path);
    const read = await bytesOf(absolute, path);
    if ('wrong' in read) return wrong(read.wrong);
    const { bytes } = read;
    if (bytes.subarray(0, 8_192).includes(0)) return wrong(`${path} is not a text file: some of its ${bytes.length} bytes are 0`);
    await files.noteRead(absolute, bytes);
    const text = bytes.toString('utf8');
    const part = partOf(text, from, Math.min(lines, MAX_LINES));
    // A part does not show the agent the changes in the rest of the file, so the notifications about the file stay open.
    const isWhole = text === '' || text === part || text === `${part}\n`;
    return { content: part, ...(isWhole ? { knows: [files.about(absolute)] } : {}) };
  },
});

const writeFileTool = (root: string, files: Followed): Tool => ({
  name: 'write_file',
  description: 'Writes a whole text file: creates it, or replaces its content. Creates missing folders.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Absolute, or relative to the working folder.' },
      content: { type: 'string' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  async execute(args): Promise<ToolOutcome> {
    const { path, content } = args as Readonly<Record<string, Json>>;
    if (typeof path !== 'string' || path === '') return wrong(`path must be the path of a file, got ${show(path)}`);
    if (typeof content !== 'string') return wrong(`content must be a text, got ${show(content)}`);
    const absolute = resolve(root, path);
    try {
      await files.withOwnWrite(absolute, async () => {
        makeFolders(dirname(absolute), 0o777);
        await writeFile(absolute, content);
      });
    } catch (error) {
      return wrong(`${path} cannot be written: ${reasonOf(error)}`);
    }
    // A write does not show the agent the earlier changes of other programs, so the notifications about these changes stay open.
    return { content: `Written: ${path}, ${Buffer.byteLength(content).toLocaleString('en')} bytes.` };
  },
});

async function bytesOf(absolute: string, path: string): Promise<{ readonly bytes: Buffer } | { readonly wrong: string }> {
  try {
    const found = await stat(absolute);
    if (found.isDirectory()) return { wrong: `${path} is a folder` };
    if (!found.isFile()) return { wrong: `${path} is not a regular file` };
    if (found.size > MAX_BYTES)
      return {
        wrong: `${path} has ${found.size.toLocaleString('en')} bytes, more than read_file reads; read the file with another program`,
      };
    const file = await open(absolute, 'r');
    try {
      return { bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { wrong: `${path} cannot be read: ${reasonOf(error)}` };
  }
}

/** Returns at most `lines` lines of the text, and a line about the rest. */
function partOf(text: string, from: number, lines: number): string {
  if (text === '') return '(the file is empty)';
  const all = text.split('\n');
  // A line end at the end of the text does not start a new line.
  if (all.at(-1) === '') all.pop();
  if (from > all.length) return `(the last line of the file is ${all.length.toLocaleString('en')})`;
  const shown: string[] = [];
  let chars = 0;
  for (const line of all.slice(from - 1, from - 1 + lines)) {
    if (shown.length > 0 && chars + line.length > MAX_CHARS) break;
    shown.push(line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS).toWellFormed()}…` : line);
    chars += line.length + 1;
  }
  const last = from - 1 + shown.length;
  const body = shown.join('\n');
  if (from === 1 && last === all.length) return body;
  const rest = last < all.length ? `; continue with from: ${last + 1}` : '';
  return `${body}\n[lines ${from.toLocaleString('en')}–${last.toLocaleString('en')} of ${all.length.toLocaleString('en')}${rest}]`;
}

const isCount = (value: Json): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1;

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const said: Readonly<Record<string, string>> = {
    ENOENT: 'the path does not exist',
    EACCES: 'access is not permitted',
    EPERM: 'access is not permitted',
    EISDIR: 'the path is a folder',
    ENOTDIR: 'a part of the path is not a folder',
    EEXIST: 'a part of the path is not a folder',
    ELOOP: 'the links in the path form a loop',
    ENOSPC: 'no space is left on the disk',
    EROFS: 'the file system is read-only',
  };
  return said[code ?? ''] ?? (error instanceof Error ? error.message : String(error));
}

function show(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? '(missing)';
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

const wrong = (content: string): ToolOutcome => ({ content, isError: true });
