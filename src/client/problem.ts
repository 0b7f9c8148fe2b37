import type { Problem } from '../core/api.ts';

/**
 * What the server refused, or that it could not be reached. `code` is the problem's (`not_found`, `unauthorized` …), or
 * `unreachable` where no answer came, `not_earpiece` where something else answered.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** Of bad input: where it is. */
  readonly field: string | undefined;
  /** Names this answer in the server's log. */
  readonly instance: string | undefined;
  /** What Retry-After said. */
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
  return new ApiError(
    response.status,
    {
      code: 'not_earpiece',
      detail: `${response.url} answered ${response.status} without saying why; is this the address of an earpiece server?`,
      retryable: response.status >= 500,
    },
    more,
  );
}

export const unreachable = (url: string, cause: unknown): ApiError =>
  new ApiError(
    0,
    {
      code: 'unreachable',
      detail: `${url} cannot be reached; is earpiece serve running there?`,
      retryable: true,
    },
    { cause },
  );
