/**
 * Lets commands with `--server <url>` use a running server instead of the database. The variable `EARPIECE_TOKEN` contains the
 * token, so that the token does not appear in command lines or the shell's history.
 */
import { createClient, type ApiError, type Client, type CloudEventInput, type StreamOptions } from '../wire/client/index.ts';
import { formatAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import type { EmittedReply, NotificationView, QueuedReply, ReceiptReply, StoryItem, TokenInfo } from '../wire/api.ts';
import { EarpieceError, type ErrorCode } from '../core/errors.ts';
import type { Emitted, Event, Handled } from '../core/event.ts';
import type { Item } from '../core/items.ts';
import { parseKind, type Deliver, type NotificationId, type NotificationInput } from '../core/notification.ts';
import type { ReceiptName } from '../core/receipts.ts';
import type { Stored } from '../core/records.ts';
import { readConfig, type Config } from '../config/index.ts';
import { defined } from '../core/defined.ts';
import type { Lifted, Queued, Why } from '../inbox/index.ts';
import { addressIn, untilStopped, type Scope } from './context.ts';
import { EXIT } from './exit.ts';
import { complain, plain } from './terminal.ts';
import { VERSION } from './version.ts';
import { waited, type Waited } from './waited.ts';

/** The client for a server, the configuration with the project of the token, and the kind of the token. */
export type Remote = { readonly client: Client; readonly config: Config; readonly kind: TokenInfo['kind'] | undefined };

/**
 * Runs `work` against the server. An error of the server becomes an `EarpieceError`, so the command ends with the exit code of
 * that error.
 */
export async function remotely<T>(url: string, work: (remote: Remote) => Promise<T>): Promise<T> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/u.test(parsed.protocol) || parsed.pathname !== '/' || parsed.search !== '')
    throw new EarpieceError(
      'bad_argument',
      `--server ${JSON.stringify(url.slice(0, 80))} is not the URL of a server; write e.g. http://127.0.0.1:4747`,
    );
  if (parsed.username !== '' || parsed.password !== '')
    throw new EarpieceError(
      'bad_argument',
      `--server contains a name or a password, which would be ignored; write ${parsed.origin}, and put the token into EARPIECE_TOKEN`,
    );
  const token = process.env['EARPIECE_TOKEN']?.trim();
  if (!token)
    throw new EarpieceError(
      'bad_argument',
      '--server needs a token in EARPIECE_TOKEN; to create a token on the machine of the server: earpiece token create --kind project --name <name>',
    );
  if (!/^[\x21-\x7e]{1,200}$/u.test(token))
    throw new EarpieceError(
      'bad_argument',
      'EARPIECE_TOKEN contains characters that no token has (blanks, line breaks, letters outside ASCII); set the variable to the output of earpiece token create',
    );
  const { config } = readConfig({ cwd: process.cwd(), env: process.env });
  const client = createClient({ url: parsed.origin, token, timeoutMs: TIMEOUT_MS });
  let there: string | undefined;
  try {
    const session = await sessionOf(client);
    there = session.version;
    // An agent name without a project belongs to the project of the token, and not to the project of the working folder.
    const { project, kind } = session;
    return await work({ client, kind, config: project === undefined ? config : { ...config, project } });
  } catch (error) {
    throw isApiError(error) ? ours(error, there) : error;
  }
}

/** The maximum time until the headers of a response arrive. */
const TIMEOUT_MS = 20_000;

type Session = {
  readonly version: string;
  readonly project: string | undefined;
  readonly kind: TokenInfo['kind'] | undefined;
};

/**
 * Returns the server's version, the token's kind, and the project of the token if the token is for one project. Throws `upstream`
 * if another program answers.
 */
async function sessionOf(client: Client): Promise<Session> {
  const { version, who }: { readonly version?: unknown; readonly who?: Partial<TokenInfo> | null } = await client.session();
  if (typeof version === 'string' && typeof who === 'object' && who !== null)
    return { version, project: who.project ?? undefined, kind: who.kind };
  throw new EarpieceError('upstream', `${client.url} answers, but is not an earpiece server; check the URL`);
}

const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError';

const OURS: Readonly<Record<string, ErrorCode>> = {
  unauthorized: 'upstream',
  forbidden: 'upstream',
  rate_limited: 'upstream',
  unreachable: 'upstream',
  not_earpiece: 'upstream',
  internal: 'upstream',
  stopping: 'upstream',
  too_many_streams: 'upstream',
};
/** The error codes with which an older or newer server answers a request that it does not know. */
const UNKNOWN_THERE: ReadonlySet<string> = new Set(['no_such_route', 'method_not_allowed', 'bad_argument']);
const PASSED_ON: ReadonlySet<string> = new Set([
  'bad_address',
  'bad_notification',
  'bad_event',
  'bad_argument',
  'not_found',
  'nobody_there',
  'store_unavailable',
  'store_refused',
  'store_corrupt',
  'store_full',
  'conflict',
  'timeout',
  'upstream',
] satisfies ErrorCode[]);

function ours(error: ApiError, there: string | undefined): EarpieceError {
  const other = there !== undefined && there !== VERSION && UNKNOWN_THERE.has(error.code);
  return new EarpieceError(
    PASSED_ON.has(error.code) ? (error.code as ErrorCode) : (OURS[error.code] ?? 'bad_argument'),
    `${error.code === 'unauthorized' ? 'EARPIECE_TOKEN: ' : ''}${error.message}${other ? ` (the server is earpiece ${plain(there)}, and this command is earpiece ${VERSION})` : ''}`,
    { cause: error, retryable: error.retryable },
  );
}

/** Queues a notification, and waits for its receipt if the caller asks for the receipt. */
export async function send(
  { client, config }: Remote,
  { to: text, ...input }: NotificationInput & { readonly to: string | undefined },
  until?: { readonly receipt: ReceiptName; readonly timeoutMs: number },
): Promise<{ readonly queued: Queued; readonly to: Address; readonly waited: Waited | undefined }> {
  const to = addressIn(config, text);
  const reply = await client.queue({ ...input, to: formatAddress(to) });
  tellLowered(input.level, reply.loweredTo);
  return { queued: queuedOf(reply), to, waited: until && (await wait(client, reply, until)) };
}

/**
 * Returns the agents that the server has seen in a project. Returns undefined if this token may not list agents, if the agents do
 * not fit on one page, or if the server does not answer.
 */
export async function agentsSeen({ client, kind }: Remote, project: string): Promise<ReadonlySet<string> | undefined> {
  if (kind !== 'project' && kind !== 'admin') return undefined;
  const page = await client.agents({ project, limit: 200 }).catch(() => undefined);
  if (page === undefined || page.next !== null) return undefined;
  return new Set(page.items.filter(({ lastContactAt }) => lastContactAt !== null).map(({ agent }) => agent));
}

const queuedOf = ({ kind, id, into, to }: QueuedReply): Queued =>
  kind === 'folded'
    ? { kind, id: id as NotificationId, into: (into ?? id) as NotificationId, to }
    : { kind, id: id as NotificationId, to };

const ASK_EVERY_MS = 30_000;
const AGAIN_MS = 500;

async function wait(
  client: Client,
  { id, to }: QueuedReply,
  { receipt: until, timeoutMs }: { readonly receipt: ReceiptName; readonly timeoutMs: number },
): Promise<Waited> {
  const logs = [...new Set(to.map((each) => each.split('#')[0] ?? ''))];
  const deadline = performance.now() + timeoutMs;
  let last: ReceiptReply | undefined;
  for (const log of logs) {
    for (;;) {
      const left = deadline - performance.now();
      try {
        last = await client.receipt(id, { log, until, withinMs: Math.max(0, Math.min(ASK_EVERY_MS, left)) });
      } catch (error) {
        // The notification is already queued, so the wait continues even if the server restarts.
        if (!isApiError(error)) throw error;
        if (error.retryable && left > AGAIN_MS) {
          await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? AGAIN_MS));
          continue;
        }
        return {
          receipt: 'queued',
          code: EXIT.waited.code,
          said: `; the server could not say whether the notification is ${until}: ${error.message}`,
        };
      }
      if (last.reached) break;
      if (last.settled || deadline - performance.now() <= 0) return waited(last, { until, timeoutMs });
    }
  }
  return waited(last, { until, timeoutMs });
}

export async function resume(
  { client }: Remote,
  to: Address,
  { person, message }: { readonly person: string; readonly message?: string },
): Promise<readonly Lifted[]> {
  const { lifted } = await client.resume(formatAddress(to), {
    author: person,
    ...(message === undefined ? {} : { message }),
  });
  return lifted.map(({ log, id, conversation, message: said, person: by, since, notified }) => ({
    log: log as LogKey,
    id: id as NotificationId,
    conversation: conversation as ConversationId | null,
    message: said,
    person: by,
    since,
    notified,
  }));
}

/** Emits events on the server, in order, and reports the result of each. */
export async function* emit({ client }: Remote, events: readonly Event[]): AsyncIterable<Emitted> {
  const { cloudEventOf } = await import('../sources/webhooks/cloud-event.ts');
  for (const batch of batchesOf(events.map((event) => ({ event, json: cloudEventOf(event) as CloudEventInput })))) {
    const reply = await client.emit(batch.map(({ json }) => json));
    for (const [i, { event }] of batch.entries()) {
      const { heard, loweredTo } = reply.events[i] ?? { heard: [], loweredTo: null };
      tellLowered(event.severity, loweredTo);
      yield { event, heard: heard.map(heardOf) };
    }
  }
}

/**
 * The maximum number of events in one request. A server accepts 1,000 events, but a server with a slow disk may need more than
 * `TIMEOUT_MS` for 1,000 events.
 */
const MOST_EVENTS = 100;
const MOST_CHARS = 1_000_000;

function batchesOf<T extends { readonly json: CloudEventInput }>(all: readonly T[]): T[][] {
  const batches: T[][] = [];
  let chars = MOST_CHARS;
  for (const each of all) {
    const { length } = JSON.stringify(each.json);
    const last = batches.at(-1);
    if (last === undefined || last.length === MOST_EVENTS || chars + length > MOST_CHARS) {
      batches.push([each]);
      chars = length;
    } else {
      last.push(each);
      chars += length;
    }
  }
  return batches;
}

/**
 * Reports that the server has lowered the level. Reports nothing for an older server, which does not return the lowered level.
 */
function tellLowered(asked: string | undefined, loweredTo: string | null | undefined): void {
  if (asked !== undefined && loweredTo != null)
    complain(`the token in EARPIECE_TOKEN allows at most level ${loweredTo}, so ${asked} is lowered to ${loweredTo}`);
}

function heardOf({ subscriber, kind, ids, because }: EmittedReply['events'][number]['heard'][number]): Handled {
  if (kind === 'skipped') return { subscriber, kind, because: because ?? '' };
  if (kind === 'withdrew') return { subscriber, kind, ids };
  const known = kind === 'folded' || kind === 'duplicate' ? kind : 'queued';
  return { subscriber, kind: known, id: ids[0] ?? '' };
}

/** Yields open notifications, newest first, from all pages. */
export async function* open({ client }: Remote, scope: Scope): AsyncIterable<{ log: LogKey; item: Item }> {
  for (let before: string | undefined; ;) {
    const page = await client.notifications({ ...scope, state: 'open', limit: 200, ...defined({ before }) });
    for (const view of page.items) yield { log: view.log as LogKey, item: itemOf(view) };
    if (page.next === null) return;
    before = page.next;
  }
}

export async function why({ client }: Remote, id: string, log: LogKey | undefined): Promise<Why> {
  const story = await client.why(id, log).catch((error: unknown) => {
    // The server's own message names an HTTP route, but a person at the command line needs a command.
    throw isApiError(error) && error.code === 'not_found' ? notThere(client, id, log, error) : error;
  });
  return { log: story.log as LogKey, id: story.id as NotificationId, items: story.items.map((item) => whyItem(item)) };
}

const notThere = ({ url }: Client, id: string, log: LogKey | undefined, cause: ApiError): EarpieceError =>
  new EarpieceError(
    'not_found',
    `there is no notification ${JSON.stringify(id.slice(0, 80))}${log === undefined ? '' : ` for ${log}`}; earpiece log --all --server ${url} lists the existing notifications`,
    { cause },
  );

const whyItem = ({ notification, verdict, steps, now }: StoryItem): Why['items'][number] => ({
  item: itemOf(notification),
  verdict,
  receipt: notification.receipt,
  steps: steps.map(({ detail, call, ...step }) => ({ ...step, ...given({ detail, call }) })),
  now: now.map(({ conversation, decision }) => ({ conversation: conversation as ConversationId, decision })),
});

/** Reads the newest records, oldest first, and the head of the log at the first read. */
export async function newest(
  { client }: Remote,
  { conversation, ...scope }: Scope,
  limit: number,
): Promise<{ readonly records: readonly Stored[]; readonly head: number }> {
  let records: Stored[] = [];
  let head: number | undefined;
  for (let before: number | undefined; records.length < limit;) {
    const page = await client.log({
      ...scope,
      newest: true,
      limit: Math.min(500, limit - records.length),
      ...defined({ before }),
    });
    head ??= page.head;
    records = [...page.items.filter(({ body }) => conversation === undefined || body.conversation === conversation), ...records];
    if (page.next === null) break;
    before = Number(page.next);
  }
  return { records, head: head ?? 0 };
}

/** Yields new records until Ctrl+C, over as many connections as needed. */
export function follow({ client }: Remote, query: StreamOptions): AsyncGenerator<Stored, void, undefined> {
  return client.stream({
    ...query,
    signal: untilStopped(),
    onState: (state) => {
      if (state.kind === 'away') complain(`${state.error.message}; trying again`);
    },
  });
}

/** Converts the server's view of a notification to the parts of an item that a person sees. */
function itemOf(view: NotificationView): Item {
  const { person, sender, action, instruction, key, outcome, takenBy, closedAt, markedBy } = view;
  const origin = person === null && sender === null ? undefined : { depth: 0, ...given({ person, agent: sender }) };
  const subscriber =
    view.subscriber === null
      ? undefined
      : {
          id: view.subscriber,
          event: { type: view.kind, source: '', severity: view.level, time: view.at },
          group: 1,
        };
  return {
    id: view.id as NotificationId,
    audience: (view.conversation ?? '') as ConversationId,
    notification: {
      id: view.id as NotificationId,
      kind: parseKind(view.kind),
      level: view.level,
      message: view.message,
      expiresAt: view.expiresAt,
      ...given({ action, instruction, key, deliver: view.deliver as Deliver | null, data: view.data }),
      ...defined({ origin, subscriber }),
    },
    seq: view.seq,
    at: view.at,
    state: view.state,
    offers: view.offers,
    gate: view.gate,
    read: view.receipt === 'read',
    observed: view.receipt === 'observed',
    count: view.count,
    lastAt: view.lastAt,
    differs: [],
    history: [],
    ...given({ outcome: outcome as Item['outcome'] | null, takenBy: takenBy as ConversationId | null, closedAt, markedBy }),
  };
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> };
const given = <T extends object>(of: T): Given<T> =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== null && value !== undefined)) as Given<T>;
