/**
 * Searches one log for words, newest records first. One answer reads a limited number of records and characters. The answer says
 * how far back the search went, and the next request continues there.
 */
import type { LogKey } from '../core/address.ts';
import { reasonIn } from '../core/cause.ts';
import type { Hit, SearchPage } from '../wire/api.ts';
import { formatKind } from '../core/notification.ts';
import { isType, notificationOf, type Stored } from '../core/records.ts';
import type { Inbox } from '../inbox/index.ts';
import type { Scope } from './authority.ts';
import { positionAt } from './in-time.ts';
import { Named } from './named.ts';
import type { Principal } from './tokens.ts';

export type SearchQuery = {
  readonly log: LogKey;
  readonly words: Words;
  /** The period in which a record was written, in epoch ms: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** The position before which the search begins. */
  readonly before?: number | undefined;
  readonly limit: number;
  readonly who: Principal;
  readonly wants: (record: Stored) => boolean;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

const MAX_RECORDS = 5_000;
const MAX_CHARS = 32_000_000;
const CHUNK = 100;

export async function search(inbox: Inbox, query: SearchQuery): Promise<SearchPage> {
  const { log, words, from, to, before, limit, who, wants, signal } = query;
  const head = await inbox.store.head();
  const items: Hit[] = [];
  const end = Math.min(before ?? head + 1, await positionAt(inbox, log, to));
  let upTo = Math.min(end - 1, head);
  let looked = 0;
  let chars = 0;
  let last: Stored | undefined;
  const page = (more: boolean): SearchPage => ({
    items,
    looked,
    lookedBackTo: last?.at ?? null,
    next: more && last !== undefined ? String(last.seq) : null,
  });
  while (!signal.aborted) {
    const records = await inbox.store.read({ log, upTo, limit: CHUNK, newestFirst: true });
    const sees = await new Named(inbox.store, records).seenBy(who);
    for (const record of records) {
      if (record.at < from) return page(false);
      last = record;
      looked++;
      const shown = wants(record) ? sees(record) : undefined;
      if (shown === undefined) continue;
      const said = saidIn(shown);
      chars += said?.text.length ?? 0;
      if (said !== undefined && (words.in(lines(said.text, said.also)) || words.are(said.id)))
        items.push(hitOf(record, said, words));
      if (items.length === limit || looked === MAX_RECORDS || chars > MAX_CHARS) return page(true);
    }
    if (records.length < CHUNK) return page(false);
    upTo = (last?.seq ?? 1) - 1;
    // A search may read thousands of records, so it lets other requests run between two reads.
    await new Promise(setImmediate);
  }
  return page(true);
}

/** Returns the time of the record at a position or before it, which shows how far back a search went. */
export async function timeAt(inbox: Inbox, at: number, { log, project }: Scope): Promise<number | null> {
  const within = log !== undefined ? { log } : project !== undefined ? { project } : {};
  const [record] = await inbox.store.read({ ...within, upTo: at, limit: 1, newestFirst: true });
  return record?.at ?? null;
}

/** The words of a search. A text matches if it contains all words, in any order and in any case. */
export class Words {
  readonly #words: readonly string[];

  constructor(text: string) {
    this.#words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  }

  get none(): boolean {
    return this.#words.length === 0;
  }

  in(text: string): boolean {
    const lower = text.toLowerCase();
    return this.#words.every((word) => lower.includes(word));
  }

  /** Whether the only word is this id. An id matches only as a whole. */
  are(id: string | null): boolean {
    return this.#words.length === 1 && this.#words[0] === id?.toLowerCase();
  }

  /** Returns the position of the first match of any word, or 0. */
  first(text: string): number {
    const lower = text.toLowerCase();
    const found = this.#words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    return found.length === 0 ? 0 : Math.min(...found);
  }
}

type SaidHere = { readonly name: string | null; readonly id: string | null; readonly text: string; readonly also?: string };

/**
 * Returns the text of a record that a person reads. The text of a carrier is left out, because the records of its notifications
 * already contain it.
 */
function saidIn({ body }: Stored): SaidHere | undefined {
  if (isType(body, 'chat_request')) return { name: body.author ?? null, id: null, text: body.content };
  if (isType(body, 'chat_response')) return { name: null, id: null, text: lines(body.message, body.reasoning, body.data) };
  if (isType(body, 'tool_call_request')) return { name: body.name, id: body.id, text: lines(body.name, body.arguments) };
  if (isType(body, 'tool_call_response')) return { name: null, id: body.id, text: body.content };
  if (isType(body, 'system_notification_queued')) {
    const notification = notificationOf(body);
    const kind = formatKind(notification.kind);
    const { id, message, instruction, data, origin } = notification;
    return { name: kind, id, text: lines(message, instruction, data), also: lines(kind, origin?.person, origin?.agent) };
  }
  if (isType(body, 'notification_closed')) return { name: body.outcome, id: body.ids[0] ?? null, text: reasonIn(body) };
  const { question } = body as { readonly question?: unknown };
  if (body.type === 'inquiry_request' && typeof question === 'string') return { name: null, id: null, text: question };
  return undefined;
}

const lines = (...parts: readonly unknown[]): string =>
  parts
    .filter((part) => part !== undefined && part !== null && part !== '')
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join('\n');

const BEFORE = 60;
const SHOWN = 200;

function hitOf({ seq, at, body }: Stored, { name, id, text }: SaidHere, words: Words): Hit {
  const from = Math.max(0, words.first(text) - BEFORE);
  const part = text
    .slice(from, from + SHOWN)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return {
    seq,
    at,
    type: body.type,
    conversation: body.conversation ?? null,
    name,
    id,
    text: `${from > 0 ? '…' : ''}${part.toWellFormed()}${text.length > from + SHOWN ? '…' : ''}`,
  };
}
