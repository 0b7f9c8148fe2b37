/**
 * Serves the files of the console. The server reads the files of the folder at its start, and serves only these files, by their
 * exact names. So no request path can reach any other file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Context } from 'hono';
import type { Env } from './context.ts';
import { Encoded } from './encoded.ts';

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

type File = { readonly body: Encoded; readonly type: string; readonly fixed: boolean };

/**
 * Answers a request. Returns undefined for another method than GET or HEAD, and for a path that names neither a file nor a page.
 */
export type Console = (c: Context<Env>) => Response | undefined;

export function consoleFrom(folder: string | undefined, version: string): Console {
  const files = folder === undefined ? new Map<string, File>() : filesOf(folder);
  const index = files.get('/index.html');
  const words = wordsOf(version, index === undefined ? whyNone(folder) : HERE);
  return (c) => {
    const { path, method } = c.req;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const file = files.get(path);
    const accepts = c.req.header('accept-encoding') ?? '';
    if (file !== undefined) return answer(file, accepts);
    const browser = (c.req.header('accept') ?? '').includes('text/html');
    // All pages of the console are one file, which chooses its view by the URL.
    const page = browser && !/\.[a-z0-9]+$/iu.test(path);
    if (page && index !== undefined) return answer(index, accepts);
    // At `/`, other clients get a text. Browsers get the same text if the console is not built.
    return page || path === '/' ? told(words) : undefined;
  };
}

/** Caches must know that the answer depends on the header `accept`. */
const VARY = { vary: 'accept' };

function answer({ body, type, fixed }: File, accepts: string): Response {
  const { bytes, encoding } = body.in(accepts);
  const vary = [...(type.startsWith('text/html') ? ['accept'] : []), ...(body.squeezes ? ['accept-encoding'] : [])];
  return new Response(bytes, {
    headers: {
      'content-type': type,
      'cache-control': fixed ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...(vary.length === 0 ? {} : { vary: vary.join(', ') }),
    },
  });
}

const told = (words: string): Response =>
  new Response(words, { headers: { 'content-type': 'text/plain; charset=utf-8', ...VARY } });

function filesOf(folder: string): Map<string, File> {
  const files = new Map<string, File>();
  const read = (inside: string): void => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const name = `${inside}/${entry.name}`;
      const type = TYPES[extname(entry.name)];
      // A link could lead to any file, so links are not served.
      if (entry.isDirectory()) read(name);
      else if (entry.isFile() && type !== undefined)
        // The build puts a hash into the names of files in assets.
        files.set(name, { body: new Encoded(readFileSync(join(folder, name)), type), type, fixed: inside.startsWith('/assets') });
    }
  };
  try {
    read('');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return files;
}

const HERE = 'open this URL in a browser; to log in, run earpiece token login and open the printed URL';

const whyNone = (folder: string | undefined): string =>
  `none: ${folder === undefined ? 'the server was started without the console' : 'the console was not built'}`;

const wordsOf = (version: string, console: string): string =>
  `Earpiece ${version}: notifications for LLM agents

console  ${console}
API      /openapi.json describes the API; programs send Authorization: Bearer <token>; create a token with: earpiece token create
health   /healthz
`;
