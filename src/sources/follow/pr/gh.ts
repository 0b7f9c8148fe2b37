/** Sends requests to GitHub with the user's own `gh` and its sign-in, without a shell and without prompts. */
import { spawn } from 'node:child_process';
import { defined } from '../../../core/defined.ts';
import { clean } from '../../../handles/text.ts';
import { CannotLook } from '../follower.ts';

export type GhPlace = {
  readonly host: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
};

/** The answer to a request. `same` means that nothing has changed since the answer with this ETag. */
export type GhAnswer =
  | { readonly kind: 'same' }
  | { readonly kind: 'ok'; readonly etag?: string; readonly body: string }
  | { readonly kind: 'refused'; readonly status: number; readonly body: string };

const WITHIN_MS = 30_000;
const MAX_BYTES = 16 * 1_048_576;

/**
 * Sends a GET request to the API of GitHub, through `gh`. Throws `CannotLook` if every request would fail: without `gh`, without
 * sign-in or network, at a rate limit, or if GitHub's server has an error.
 */
export async function get(place: GhPlace, path: string, etag?: string): Promise<GhAnswer> {
  const tag = etag === undefined ? [] : ['-H', `If-None-Match: ${etag}`];
  const { out, said } = await gh(place, ['api', '-i', '--hostname', place.host, ...tag, path]);
  const head = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n([^]*?)\r?\n\r?\n/u.exec(out);
  if (head === null) throw noAnswer(place.host, said);
  const status = Number(head[1]);
  const headers = headersIn(head[2] ?? '');
  const body = out.slice(head[0].length);
  if (status === 304) return { kind: 'same' };
  const known = headers.get('etag');
  if (status < 300) return { kind: 'ok', body, ...defined({ etag: known }) };
  if (status === 401)
    throw new CannotLook(`GitHub refuses the sign-in (HTTP 401); sign in again: gh auth login --hostname ${place.host}`, {
      lasting: true,
    });
  const wait = limited(status, headers, body);
  if (wait !== undefined)
    throw new CannotLook(
      `GitHub's rate limit is exceeded${wait.until === undefined ? '' : `; the next request is at ${wait.until} UTC`}`,
      { againMs: wait.ms },
    );
  if (status >= 500) throw new CannotLook(`GitHub answers HTTP ${status}`);
  return { kind: 'refused', status, body };
}

/** `ms` is the time to wait. `until` is the time of day (UTC) at which GitHub says that the rate limit ends. */
type Wait = { readonly ms: number; readonly until?: string };

/** Returns the time to wait for an answer that reports a rate limit. Undefined for any other answer. */
function limited(status: number, headers: ReadonlyMap<string, string>, body: string): Wait | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers.get('retry-after'));
  if (Number.isFinite(after) && after > 0) return { ms: Math.min(after * 1_000, LONGEST_MS) };
  if (headers.get('x-ratelimit-remaining') === '0') {
    const reset = Number(headers.get('x-ratelimit-reset')) * 1_000;
    const ms = Math.min(LONGEST_MS, Math.max(FIRST_MS, reset - Date.now()));
    return reset > 0 && reset < MAX_TIME ? { ms, until: new Date(reset).toISOString().slice(11, 16) } : { ms: FIRST_MS };
  }
  return status === 429 || /rate limit/iu.test(body) ? { ms: FIRST_MS } : undefined;
}

/** The latest time that a `Date` can represent. Epoch ms. */
const MAX_TIME = 8.64e15;
const FIRST_MS = 60_000;
const LONGEST_MS = 60 * 60_000;

function noAnswer(host: string, said: string): CannotLook {
  if (isSignedOut(said))
    return new CannotLook(`gh is not signed in to ${host}; sign in: gh auth login --hostname ${host}`, { lasting: true });
  return new CannotLook(`gh got no answer from ${host}: ${said === '' ? 'gh printed no error' : said}`);
}

/** Whether `gh` is not signed in. `said` is the last line of `gh` on stderr. */
export const isSignedOut = (said: string): boolean => /gh auth login|authentication/iu.test(said);

const headersIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/\r?\n/u).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 1 ? [] : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const];
    }),
  );

export type GhRan = { readonly code: number | null; readonly out: string; /** The last line of stderr. */ readonly said: string };

/** Runs `gh`. Throws `CannotLook` if `gh` is not installed, cannot be started or takes too long, or if `signal` aborts. */
export function gh({ env = process.env, signal }: Omit<GhPlace, 'host'>, args: readonly string[], cwd?: string): Promise<GhRan> {
  const { promise, resolve, reject } = Promise.withResolvers<GhRan>();
  if (signal?.aborted) return Promise.reject(new CannotLook('this process ends'));
  const child = spawn('gh', [...args], {
    ...defined({ cwd }),
    env: { ...env, ...QUIET },
    // In a separate session of the operating system, `gh` has no terminal on which to ask for a password.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let why: CannotLook | undefined;
  const end = (reason: CannotLook): void => {
    why ??= reason;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  };
  const abort = (): void => end(new CannotLook('this process ends'));
  const timer = setTimeout(() => end(new CannotLook(`gh got no answer within ${WITHIN_MS / 1_000} s`)), WITHIN_MS);
  signal?.addEventListener('abort', abort, { once: true });
  const done = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  const out: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    out.push(chunk);
    // The beginning has the HTTP headers, and the end of a log says why a job failed, so the middle is dropped.
    while (bytes > MAX_BYTES && out.length > 1) bytes -= (out.splice(1, 1)[0] as Buffer).length;
  });
  child.stderr.on('data', (chunk: Buffer) => (errors = `${errors}${chunk.toString('utf8')}`.slice(-4_096)));
  child.once('error', (error) => {
    done();
    reject(
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? new CannotLook('gh, the command line of GitHub, is not installed; install gh from https://cli.github.com', {
            lasting: true,
          })
        : new CannotLook(`gh cannot be started: ${error.message}`),
    );
  });
  child.once('close', (code) => {
    done();
    if (why !== undefined) reject(why);
    else resolve({ code, out: Buffer.concat(out).toString('utf8'), said: lastLine(errors) });
  });
  return promise;
}

const QUIET = {
  GH_PROMPT_DISABLED: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  GH_NO_EXTENSION_UPDATE_NOTIFIER: '1',
  GH_SPINNER_DISABLED: '1',
  GH_PAGER: 'cat',
  NO_COLOR: '1',
  CLICOLOR_FORCE: undefined,
  GH_FORCE_TTY: undefined,
  GH_DEBUG: undefined,
};

const lastLine = (errors: string): string =>
  (
    clean(errors)
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '') ?? ''
  )
    .replaceAll(/(\w+:\/\/)[^@/\s]+@/gu, '$1…@')
    .slice(0, 300);
