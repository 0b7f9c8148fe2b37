import { EarpieceError } from '../../core/errors.ts';
import { Late } from '../insist.ts';
import { frozenError } from '../moving/marks.ts';
import type { Address } from './address.ts';

/** Codes of JetStream's errors. */
const WRONG_LAST: ReadonlySet<number> = new Set([10_071, 10_164]);
const NOT_FOUND: ReadonlySet<number> = new Set([10_037, 10_014]);
/** The streams need more servers than the cluster has now. While a cluster starts, its servers join one after the other. */
const TOO_FEW = 10_005;
/** The streams need several servers, but this server belongs to no cluster. */
const NO_CLUSTER = 10_074;
/** The stream does not exist, or the server has not restored the stream yet. */
export const NO_STREAM = 10_059;
/**
 * The codes of a server that has no leader or no listener, or that still restores its streams. A leader answers 10063 if it
 * cannot apply a message because it must first copy other messages. The message may be stored.
 */
const AWAY: ReadonlySet<number> = new Set([TOO_FEW, 503, 10_008, 10_009, 10_023, 10_063, 10_118, NO_STREAM, 10_014]);
/** The message is larger than the stream accepts. The stream of a frozen store, the source of a move, accepts no message. */
const TOO_LARGE = 10_054;
const NOT_ENABLED: ReadonlySet<number> = new Set([10_039, 10_076]);
/** A server whose storage is full answers 10023 to each message. */
const FULL: ReadonlySet<number> = new Set([10_023, 10_047, 10_077, 10_122, 10_110]);
/** While a disk fills up, a server may answer with the error of the failed write. This error has no code. */
const NO_SPACE = /no space left on device/u;

const codeOf = (error: unknown): number => {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'number' ? code : 0;
};

/** Whether the call failed because another writer was first. */
export const isBeaten = (error: unknown): boolean => WRONG_LAST.has(codeOf(error));
export const isMissing = (error: unknown): boolean => NOT_FOUND.has(codeOf(error));

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** Whether no answer arrived. The server may have carried out the request nevertheless. */
const isLoss = (error: unknown): boolean =>
  error instanceof Late ||
  [
    'TimeoutError',
    'ConnectionError',
    'RequestError',
    'NoRespondersError',
    'ClosedConnectionError',
    'JetStreamNotEnabled',
  ].includes(nameOf(error)) ||
  /ECONNREFUSED|ECONNRESET|CONNECTION_REFUSED|connection refused|TIMEOUT|heartbeats missed/u.test(
    error instanceof Error ? error.message : '',
  );

/** Whether the call may have failed because its stream does not exist. A server answers no direct request for such a stream. */
export const mayLackStream = (error: unknown): boolean =>
  codeOf(error) === NO_STREAM ||
  (error instanceof Error && error.message.includes('no responders')) ||
  nameOf(error) === 'JetStreamNotEnabled';

/** Returns the error for a stream that is missing although the store was opened with it. */
export const withoutStream = ({ name }: Address, stream: string, cause: unknown): EarpieceError =>
  new EarpieceError(
    'store_unavailable',
    `${name} has no stream ${stream}: the stream was deleted, or the server is still starting; restore the stream with nats stream restore, or try again`,
    { cause, data: { store: name }, retryable: true },
  );

/** Finds the error with which the server refuses a subject. The driver wraps this error into other errors. */
function violation(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one.name === 'PermissionViolationError') return one;
  return undefined;
}

const isWithoutTls = (error: unknown): boolean => error instanceof Error && error.message.includes("does not support 'tls'");

export const isPassing = (error: unknown): boolean =>
  violation(error) === undefined && !isWithoutTls(error) && (isLoss(error) || AWAY.has(codeOf(error)));

/**
 * Turns an error of the driver or the server into an `EarpieceError`. Returns other errors unchanged. No message contains the
 * password.
 */
export function explain(error: unknown, { name, replicas }: Address, waitedMs: number): unknown {
  if (error instanceof EarpieceError) return error;
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  const said = `${line}${codeOf(error) === 0 ? '' : `, ${codeOf(error)}`}`;
  const options = { cause: error, data: { store: name } };
  const refused = (why: string): EarpieceError => new EarpieceError('store_refused', `${name} ${why}`, options);
  if (codeOf(error) === TOO_LARGE) return frozenError(name, error);
  if (NOT_ENABLED.has(codeOf(error)))
    return refused(`runs without JetStream (${said}): start the server with -js, or enable JetStream for this account`);
  if (codeOf(error) === TOO_FEW)
    return refused(`has too few servers for its replicas (${said}): start more servers, or lower the parameter replicas`);
  if (codeOf(error) === NO_CLUSTER)
    return refused(
      `belongs to no cluster, but replicas=${replicas} needs ${replicas} servers (${said}): leave replicas out of the URL, or start a cluster of at least ${replicas} servers`,
    );
  const refusal = violation(error);
  if (refusal !== undefined)
    return refused(
      `refuses access to this user (${refusal.message.split('\n', 1)[0]}): permit earpiece.>, $JS.API.> and _INBOX.>`,
    );
  if (isWithoutTls(error)) return refused(`has no TLS (${said}): configure TLS on the server, or write nats:// in the URL`);
  if (FULL.has(codeOf(error)) || NO_SPACE.test(line))
    return new EarpieceError(
      'store_full',
      `${name} cannot be written (${said}): free some space, or raise the limits of the stream`,
      {
        ...options,
        retryable: true,
      },
    );
  // A server that is starting also causes these errors.
  if (nameOf(error) === 'JetStreamNotEnabled' || nameOf(error) === 'NoRespondersError')
    return new EarpieceError(
      'store_unavailable',
      `${name} gave no answer of JetStream for ${Math.round(waitedMs)} ms (${said}): start the server with -js, or enable JetStream for this account. If the server has just started, try again`,
      { ...options, retryable: true },
    );
  if (isPassing(error))
    return new EarpieceError(
      'store_unavailable',
      `${name} did not complete the call within ${Math.round(waitedMs)} ms (${said}): start the server, correct the URL, or try again`,
      { ...options, retryable: true },
    );
  if (nameOf(error) === 'AuthorizationError' || nameOf(error) === 'UserAuthenticationExpiredError')
    return refused(`refuses this user (${said}): correct the user and the password in the URL`);
  return error instanceof Error && codeOf(error) > 0 ? refused(`refuses the request (${said}): see the server log`) : error;
}
