/** Follows a URL, and reports failures, repairs, and changes of one value in its JSON. */
import { defined } from '../../core/defined.ts';
import { checksum } from '../../core/checksum.ts';
import type { Json } from '../../core/json.ts';
import { at } from '../webhooks/fields.ts';
import { CannotLook, type Follower, type Look, type News, type Standing } from './follower.ts';
import type { Group, What } from './list.ts';

const EVERY_MS = 30_000;
const WITHIN_MS = 10_000;
const MAX_BYTES = 1_048_576;
/** The maximum length of a value in a report. A change after this length is reported without the value. */
const VALUE_CHARS = 300;

/**
 * The result of a request. `value` is the beginning of a value's JSON text, and `whole` a checksum of the whole text. `changes`
 * counts the changes of the value, and is part of the ids of news.
 */
type Seen = {
  readonly etag?: string;
  readonly answers: string;
  readonly value?: string;
  readonly whole?: string;
  readonly changes: number;
  /** Whether the URL failed, and how often it has worked again. The number is part of the ids of news. */
  readonly fails?: true;
  readonly repairs?: number;
};

type Answer = {
  readonly answers: string;
  readonly fails: boolean;
  readonly etag?: string;
  readonly value?: string;
  readonly whole?: string;
};

export function urlFollower(
  { url, value: path }: Extract<What, { kind: 'url' }>,
  { level = 'error', by }: Pick<Group, 'level' | 'by'>,
): Follower {
  // An agent may follow only URLs of this machine, so a follower that an agent added follows no redirects.
  const redirect = by === undefined ? 'follow' : 'manual';
  return {
    look: async (state, signal) => {
      const before = state as unknown as Seen | undefined;
      const now = await ask({ url, path, redirect, signal }, before);
      const standing: readonly Standing[] = now.fails ? [downOf(url, level, now.answers)] : [];
      const changed = before?.value !== undefined && now.value !== undefined && now.whole !== before.whole;
      const changes = (before?.changes ?? 0) + (changed ? 1 : 0);
      const isRepaired = before?.fails === true && !now.fails;
      const repairs = (before?.repairs ?? 0) + (isRepaired ? 1 : 0);
      const again: readonly News[] = isRepaired ? [repairedOf(url, `again:${repairs}`, now.answers, before.answers)] : [];
      const values: readonly News[] = changed
        ? [
            {
              id: `${changes}:${now.whole}`,
              key: 'value',
              type: 'url.changed',
              severity: 'info',
              message:
                now.value === before.value
                  ? `${url}: ${path} has changed after its first ${VALUE_CHARS} characters`
                  : `${url}: ${path} is ${now.value}, it was ${before.value}`,
              data: { url, path: path ?? '', value: now.value ?? '', before: before.value ?? '' },
            },
          ]
        : [];
      const value = now.value ?? before?.value;
      const whole = now.value === undefined ? before?.whole : now.whole;
      return {
        standing,
        news: [...again, ...values],
        state: {
          answers: now.answers,
          changes,
          ...(now.fails ? { fails: true } : {}),
          ...(repairs === 0 ? {} : { repairs }),
          ...defined({ etag: now.etag, value, whole }),
        },
        summary: `${now.answers}${value === undefined ? '' : `, ${path} is ${value}`}`,
        againMs: EVERY_MS,
      } satisfies Look;
    },
  };
}

type Question = {
  readonly url: string;
  readonly path: string | undefined;
  readonly redirect: 'follow' | 'manual';
  readonly signal: AbortSignal;
};

async function ask({ url, path, redirect, signal }: Question, before: Seen | undefined): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, {
      redirect,
      signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
      headers: { accept: 'application/json, */*', ...(before?.etag === undefined ? {} : { 'if-none-match': before.etag }) },
    });
  } catch (error) {
    return failureOf(error, signal);
  }
  const { status, statusText, headers } = response;
  if (status === 304) {
    await response.body?.cancel();
    // Without a known ETag, the last answer may be a failure, which does not describe this answer.
    return { ...before, answers: before?.etag === undefined ? '304 Not Modified' : before.answers, fails: false };
  }
  const answers = `${status} ${statusText}`.trim();
  if (!response.ok && !(redirect === 'manual' && status < 400)) {
    await response.body?.cancel();
    return { answers, fails: true };
  }
  const etag = headers.get('etag') ?? undefined;
  let value: string | undefined;
  try {
    value = path === undefined ? await discarded(response) : await valueIn(response, path);
  } catch (error) {
    return failureOf(error, signal);
  }
  if (value === undefined) return { answers, fails: false, ...defined({ etag }) };
  const shown = value.slice(0, VALUE_CHARS).toWellFormed();
  return { answers, fails: false, value: shown, whole: checksum(value), ...defined({ etag }) };
}

async function discarded({ body }: Response): Promise<undefined> {
  await body?.cancel();
  return undefined;
}

async function valueIn({ body }: Response, path: string): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new CannotLook(`the answer is larger than ${MAX_BYTES / 1_048_576} MB`, { lasting: true });
    parts.push(part);
  }
  let json: Json;
  try {
    json = JSON.parse(Buffer.concat(parts).toString('utf8')) as Json;
  } catch {
    // A server that starts or fails may answer with an HTML page for a while, so this error is not `lasting`.
    throw new CannotLook('the answer is not JSON, so it has no values to follow');
  }
  const value = at(json, path);
  return value === undefined ? 'missing' : JSON.stringify(value);
}

const downOf = (url: string, severity: Standing['severity'], answers: string): Standing => ({
  key: 'down',
  fingerprint: answers,
  type: 'url.failed',
  severity,
  message: `${url} fails: ${answers}`,
  data: { url, answers },
});

/**
 * Makes the news that the URL works again, for agents that have read about the failure. For other agents, the notification about
 * the failure is withdrawn.
 */
const repairedOf = (url: string, id: string, answers: string, before: string): News => ({
  id,
  endOf: 'down',
  key: 'again',
  type: 'url.changed',
  severity: 'info',
  message: `${url} works again: ${answers}; before: ${before}`,
  data: { url, path: '', value: answers, before },
});

/**
 * Returns the failure of a URL whose answer is missing or incomplete. Throws `CannotLook` if this process ends, and for an answer
 * that is too large or not JSON.
 */
function failureOf(error: unknown, signal: AbortSignal): Answer {
  if (signal.aborted) throw new CannotLook('this process ends');
  if (error instanceof CannotLook) throw error;
  return { answers: reasonOf(error), fails: true };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `no answer (${String(error)})`;
  if (error.name === 'TimeoutError') return `no answer within ${WITHIN_MS / 1_000} s`;
  const { code, message } = (error.cause ?? {}) as Partial<NodeJS.ErrnoException>;
  // `terminated` means that the answer could not be read to its end. Bad compression causes the same error, so only the code
  // proves a broken connection.
  if (error.message === 'terminated' && /^(?:UND_ERR_|ECONN)/u.test(code ?? '')) return 'the connection broke off';
  return `no answer (${code ?? message ?? error.message})`;
}
