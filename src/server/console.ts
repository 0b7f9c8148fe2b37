/**
 * The console's files. What is served is what was in the folder when the server started, by exact name: there is no path
 * from a request to a file that is not in this list.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Context } from 'hono';
import type { Env } from './context.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/** The page may load from here and nowhere else, runs no inline script and is shown in no frame. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type File = { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string; readonly fixed: boolean };

/** Undefined: there is no such file and no page of that path. */
export type Console = (c: Context<Env>) => Response | undefined;

export function consoleFrom(folder: string | undefined): Console {
  const files = folder === undefined ? new Map<string, File>() : filesOf(folder);
  const index = files.get('/index.html');
  return (c) => {
    const { path, method } = c.req;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const file = files.get(path);
    if (file !== undefined) return answer(file);
    // A page of the console's own, which finds its place by the address.
    const page = !/\.[a-z0-9]+$/iu.test(path) && (c.req.header('accept') ?? '').includes('text/html');
    if (!page) return undefined;
    return index === undefined ? missing(folder) : answer(index);
  };
}

const answer = ({ bytes, type, fixed }: File): Response =>
  new Response(bytes, {
    headers: { 'content-type': type, 'cache-control': fixed ? 'public, max-age=31536000, immutable' : 'no-cache' },
  });

function filesOf(folder: string): Map<string, File> {
  const files = new Map<string, File>();
  const read = (inside: string): void => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const name = `${inside}/${entry.name}`;
      const type = TYPES[extname(entry.name)];
      // A link could lead anywhere: it is neither.
      if (entry.isDirectory()) read(name);
      else if (entry.isFile() && type !== undefined)
        // The build puts a hash into the names of what is in assets.
        files.set(name, { bytes: new Uint8Array(readFileSync(join(folder, name))), type, fixed: inside.startsWith('/assets') });
    }
  };
  try {
    read('');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return files;
}

const missing = (folder: string | undefined): Response =>
  new Response(
    `This is an Earpiece server. ${folder === undefined ? 'It was started without its console.' : 'Its console was not built.'}\nThe API is described at /openapi.json.\n`,
    { headers: { 'content-type': 'text/plain; charset=utf-8' } },
  );
