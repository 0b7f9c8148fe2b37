/** Loads one conversation: its history page by page, new records, and waiting notifications. */
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Stored } from '../../../src/core/records.ts';
import { ApiError } from '../../../src/wire/client/index.ts';
import type { NotificationView } from '../types.ts';
import { useCell } from './cell.ts';
import { generation, listen } from './live.ts';
import { ASK_AGAIN_MS, back, mayPass, messageOf } from './loaded.ts';
import { applied, as, concerns, learn, NOTHING_KNOWN, settled, type Known } from './notes.ts';
import { client } from './server.ts';
import { soon } from './soon.ts';

export type Talk = {
  readonly loading: boolean;
  readonly problem: string | null;
  readonly again: () => void;
  /** Whether the server does not know the conversation. */
  readonly unknown: boolean;
  /** The loaded records, oldest first. */
  readonly records: readonly Stored[];
  readonly known: Known;
  /** Whether older records exist. */
  readonly earlier: boolean;
  readonly loadingEarlier: boolean;
  /** Loads at most `limit` older records. */
  readonly loadEarlier: (limit?: number) => void;
  /** The position from which all records are loaded; null means from the beginning. */
  readonly from: number | null;
};

type State = Pick<Talk, 'loading' | 'problem' | 'unknown' | 'records' | 'known' | 'loadingEarlier'> & {
  readonly before: string | null;
};

const PAGE = 150;
const LISTED = 200;
/** The maximum number of pages of open notifications, which is enough for the default limit of a conversation. */
const OPEN_PAGES = 10;
const START: State = {
  loading: true,
  problem: null,
  unknown: false,
  records: [],
  known: NOTHING_KNOWN,
  before: null,
  loadingEarlier: false,
};

export function useTalk(log: string, conversation: string): Talk {
  const [state, setState] = useState(START);
  const round = useCell(generation);
  const [tries, setTries] = useState(0);
  const failed = state.problem !== null;
  useEffect(() => (failed ? back(() => setTries((n) => n + 1)) : undefined), [failed]);
  const before = useRef<string | null>(null);
  before.current = state.before;
  /** The number of the newest load of this conversation. Answers to the requests of earlier loads are dropped. */
  const reading = useRef(0);

  useEffect(() => {
    reading.current++;
    let over = false;
    /**
     * Records of all the agent's conversations that arrived during requests for lists, because the lists may be older than these
     * records.
     */
    let meanwhile: readonly Stored[] = [];
    let listing = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState(START);
    const address = `${log}#${conversation}`;
    // A page of history may also contain records of the conversation from which this conversation was forked. The stream contains
    // only new records.
    const add = (more: readonly Stored[], listed: readonly NotificationView[] = [], history = false): void => {
      if (over) return;
      setState((now) => {
        const own = history ? more : more.filter((record) => concerns(record, conversation));
        const records = merged(now.records, own);
        // A list may be older than records from the stream, so those records are applied again.
        const known =
          listed.length === 0
            ? applied(now.known, more, conversation)
            : applied(learn(now.known, listed, conversation), merged(merged(now.records, meanwhile), more), conversation);
        return { ...now, records, known };
      });
    };
    const listOpen = async (): Promise<{ readonly items: readonly NotificationView[]; readonly whole: boolean }> => {
      const items: NotificationView[] = [];
      let before: string | null = null;
      for (let page = 0; page < OPEN_PAGES && !over; page++) {
        const reply: Awaited<ReturnType<typeof client.notifications>> = await client.notifications({
          log,
          conversation,
          state: 'open',
          limit: LISTED,
          ...(before === null ? {} : { before }),
        });
        items.push(...reply.items);
        before = reply.next;
        if (before === null) return { items, whole: true };
      }
      return { items, whole: false };
    };
    const settle = ({ items, whole }: Awaited<ReturnType<typeof listOpen>>, head: number): void => {
      if (over || !whole) return;
      const open = new Set(items.map(({ id }) => id));
      setState((now) => ({ ...now, known: settled(now.known, open, head) }));
    };
    let newest = 0;
    // The records do not show the counts of folded notifications, nor notifications that other conversations have taken.
    // Therefore, the list of open notifications is loaded again.
    const relist = soon(async () => {
      const head = newest;
      if (!listing) meanwhile = [];
      const open = await listOpen();
      add([], open.items);
      settle(open, head);
    }, 250);
    const end = listen((records) => {
      const mine = records.filter((record) => record.log === log);
      if (mine.length === 0) return;
      newest = mine.at(-1)?.seq ?? newest;
      meanwhile = [...meanwhile, ...mine];
      add(mine);
      if (mine.some(({ body }) => as(body, 'system_notification_folded') !== undefined || 'action' in body)) relist.ask();
    });
    void (async () => {
      try {
        const page = await client.records(address, { newest: true, limit: PAGE });
        const [open, recent] = await Promise.all([listOpen(), client.notifications({ log, conversation, limit: LISTED })]);
        add(page.items, [...open.items, ...recent.items], true);
        settle(open, page.head);
        listing = false;
        if (!over) setState((now) => ({ ...now, loading: false, before: page.next, unknown: false }));
      } catch (error) {
        if (over) return;
        const unknown = error instanceof ApiError && error.status === 404;
        setState((now) => ({ ...now, loading: false, unknown, problem: unknown ? null : messageOf(error) }));
        if (mayPass(error)) timer = setTimeout(() => setTries((n) => n + 1), ASK_AGAIN_MS);
      }
    })();
    return () => {
      over = true;
      clearTimeout(timer);
      end();
      relist.end();
    };
  }, [log, conversation, round, tries]);

  return useMemo(
    () => ({
      ...state,
      again: () => setTries((n) => n + 1),
      earlier: state.before !== null,
      from: state.before === null ? null : Number(state.before),
      loadEarlier: (limit = PAGE) => {
        const from = before.current;
        if (from === null) return;
        const mine = reading.current;
        const tell = (change: (now: State) => State): void => setState((now) => (mine === reading.current ? change(now) : now));
        tell((now) => ({ ...now, loadingEarlier: true }));
        client.records(`${log}#${conversation}`, { before: Number(from), limit }).then(
          (page) =>
            tell((now) => {
              const records = merged(page.items, now.records);
              // The records are applied from the oldest on, because later records close notifications that earlier records have
              // queued. A notification of this page that is not known to be open is closed.
              const known = applied(now.known, records, conversation);
              const last = page.items.at(-1)?.seq ?? 0;
              const open = new Set([...now.known.notes].flatMap(([id, note]) => (note.state === 'closed' ? [] : [id])));
              return { ...now, records, known: settled(known, open, last), before: page.next, loadingEarlier: false };
            }),
          (error: unknown) => {
            // Until the retry, the page shows that it is loading, and keeps its lines and its scroll position.
            if (mayPass(error)) setTimeout(() => tell((now) => ({ ...now, loadingEarlier: false })), ASK_AGAIN_MS);
            else tell((now) => ({ ...now, loadingEarlier: false, problem: messageOf(error) }));
          },
        );
      },
    }),
    [state, log, conversation],
  );
}

/** Merges two ordered lists, with each record once. */
function merged(a: readonly Stored[], b: readonly Stored[]): readonly Stored[] {
  if (b.length === 0) return a;
  const last = a.at(-1);
  if (last !== undefined && (b[0]?.seq ?? 0) > last.seq) return [...a, ...b];
  return [...new Map([...a, ...b].map((record) => [record.seq, record])).values()].toSorted((x, y) => x.seq - y.seq);
}
