import type { Problem } from '../api.ts';

/**
 * The server's refusal, or a failure to reach the server. `code` is the code of the refusal (`not_found`, `unauthorized` …),
 * `unreachable` if no answer arrived, or `not_earpiece` if another program answered.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** Whether a retry may succeed later. */
  readonly retryable: boolean;
  /** The invalid field, for bad input. */
  readonly field: string | undefined;
  /** The name of this answer in the server's log. */
  readonly instance: string | undefined;
  /** The value of Retry-After, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    problem: Pick<Problem, 'code' | 'detail'> & Partial<Problem>,
    more: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(problem.detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.status = status;
    this.code = problem.code;
    this.retryable = problem.retryable ?? false;
    this.field = problem.field;
    this.instance = problem.instance;
    this.retryAfterMs = more.retryAfterMs;
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get('retry-after'));
  const more = { retryAfterMs: response.headers.has('retry-after') && seconds >= 0 ? seconds * 1_000 : undefined };
  if (response.headers.get('content-type')?.includes('application/problem+json')) {
    const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
    if (problem !== undefined && typeof problem.code === 'string') return new ApiError(response.status, problem, more);
  }
  await response.body?.cancel().catch(() => undefined);
  return notEarpiece(
    response,
    response.ok ? 'gave an unexpected answer' : `answered ${response.status} without an explanation`,
    more,
  );
}

export const notEarpiece = (
  { url, status }: Response,
  what: string,
  more: { retryAfterMs?: number | undefined; cause?: unknown } = {},
): ApiError =>
  new ApiError(
    status,
    {
      code: 'not_earpiece',
      detail: `${url} ${what}; check that this is the URL of an earpiece server`,
      retryable: status >= 500,
    },
    more,
  );

export const unreachable = (url: string, cause: unknown): ApiError =>
  new ApiError(0, { code: 'unreachable', detail: `${url} ${because(cause)}`, retryable: true }, { cause });

/** Describes the underlying cause of an error of `fetch`, which wraps the real error. */
function because(cause: unknown): string {
  const { code, message } = innermost(cause);
  if (message === 'unexpected redirect')
    return 'redirects to another URL, and the token is not sent to other URLs; write the other URL instead';
  if (/^ERR_SSL_|^EPROTO$/u.test(code)) return `does not speak TLS (${code}); write http:// instead`;
  if (/CERT|^UNABLE_TO_|^ERR_TLS_/u.test(code))
    return `is not trusted: the certificate is not valid (${code}); name the certificate of its authority in NODE_EXTRA_CA_CERTS`;
  if (code.startsWith('HPE_')) return `does not speak HTTP (${code}); if the server speaks TLS, write https:// instead`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `cannot be reached: the host name is unknown (${code}); correct the URL`;
  if (/TIMEOUT|^TimeoutError$/u.test(code))
    return 'did not answer in time; the server may be busy, or may not be an earpiece server';
  if (code === '' || code === 'ECONNREFUSED') return 'cannot be reached; is earpiece serve running there?';
  return `cannot be reached (${code}); is earpiece serve running there?`;
}

function innermost(error: unknown): { readonly code: string; readonly message: string } {
  let found = { code: '', message: '' };
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    found = { code: typeof code === 'string' ? code : at.name === 'TimeoutError' ? at.name : found.code, message: at.message };
  }
  return found;
}
