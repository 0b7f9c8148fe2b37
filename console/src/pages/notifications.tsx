/** The list of notifications, filtered by kind, level, state, time and words. The points of the charts are links to this page. */
import { useEffect, useState, type ReactElement } from 'react';
import { farSays, Marked } from '../parts/finding.tsx';
import { Empty, Problem, Skeleton } from '../parts/empty.tsx';
import { Icon, LevelShape } from '../parts/icons.tsx';
import { Ago, When } from '../parts/time.tsx';
import { TimeFields } from '../parts/times.tsx';
import { change, numberIn, to, type Query } from '../route.ts';
import { serverNow } from '../state/clock.ts';
import { generation, listen } from '../state/live.ts';
import { ASK_AGAIN_MS, mayPass, messageOf } from '../state/loaded.ts';
import { client } from '../state/server.ts';
import { soon } from '../state/soon.ts';
import { firstOf } from '../state/text.ts';
import { spanSays, timesIn, typedOf, type Times } from '../state/times.ts';
import type { Level, NotificationView } from '../types.ts';
import { GRAVEST, LEVELS, progressSays, senderSays } from '../words.ts';

const PAGE = 50;
const REFRESH_MS = 1_000;

type Found = {
  readonly items: readonly NotificationView[];
  readonly next: string | null;
  readonly lookedBackTo?: number | undefined;
  readonly loading: boolean;
  readonly problem: string | null;
};

export function NotificationsPage({ query }: { readonly query: Query }): ReactElement {
  const key = JSON.stringify(query);
  const [found, setFound] = useState<Found>({ items: [], next: null, loading: true, problem: null });
  const [before, setBefore] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    setBefore(null);
    setFound({ items: [], next: null, loading: true, problem: null });
  }, [key]);
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (before !== null) setFound((was) => ({ ...was, loading: true }));
    look(JSON.parse(key) as Query, before, end.signal).then(
      ({ items, next, lookedBackTo }) => {
        if (end.signal.aborted) return;
        setFound((was) => ({
          items: before === null ? items : [...was.items, ...items],
          next,
          lookedBackTo,
          loading: false,
          problem: null,
        }));
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        setFound((was) => ({ ...was, loading: false, problem: messageOf(error) }));
        if (mayPass(error)) timer = setTimeout(() => setRound((n) => n + 1), ASK_AGAIN_MS);
      },
    );
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [key, before, round]);
  useEffect(() => generation.watch(() => setRound((n) => n + 1)), []);
  // Only a list of the newest notifications is loaded again after new records. A search and a longer list stay unchanged.
  const words = query['q'];
  const first = before === null && words === undefined;
  useEffect(() => {
    if (!first) return undefined;
    const asking = soon(async () => setRound((n) => n + 1), REFRESH_MS);
    const end = listen(() => asking.ask());
    return () => {
      end();
      asking.end();
    };
  }, [first]);
  const said = saidOf(query);
  const choose =
    (name: 'state' | 'level') =>
    (value: string): void => {
      const { [name]: _, ...rest } = query;
      change(to.notifications({ ...rest, ...(value === '' ? {} : { [name]: value }) }));
    };
  return (
    <div className="page notifications">
      <header className="page-head">
        <h1>
          <a
            className="quiet back always"
            href={to.activity(query['project'] === undefined ? {} : { project: query['project'] })}
            aria-label="Back to activity"
          >
            <Icon name="back" />
          </a>
          Notifications
        </h1>
        <Search key={`${words} ${query['from']} ${query['to']}`} words={words ?? ''} query={query} />
      </header>
      <div className="filters narrowed">
        <Choice name="State" of={['open', 'closed']} all="open and closed" value={query['state']} onChoose={choose('state')} />
        <Choice name="Level" of={GRAVEST} all="every level" value={query['level']} onChoose={choose('level')} />
      </div>
      {said.length > 0 && (
        <ul className="chips" aria-label="filters">
          {said.map(({ name, says }) => (
            <li key={name}>
              <button
                type="button"
                className="small"
                onClick={() => {
                  const { [name]: _, ...rest } = query;
                  const { from: _from, to: _to, by: _by, ...timeless } = rest;
                  change(to.notifications(name === 'from' ? timeless : rest));
                }}
                aria-label={`Clear ${says}`}
              >
                <span className="words">{says}</span> <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {found.problem !== null && <Problem text={found.problem} />}
      {found.loading && found.items.length === 0 && <Skeleton rows={5} label="reading notifications" />}
      {words !== undefined && (
        <p className="finding-far" role="status">
          {farSays({ ...found, more: found.next !== null, lookedBackTo: found.lookedBackTo ?? null, timed: isTimed(query) })}
        </p>
      )}
      {!found.loading && found.items.length === 0 && found.problem === null && found.next !== null && words === undefined && (
        <p className="muted">None of the newest notifications passes these filters, but older notifications may.</p>
      )}
      {!found.loading && found.items.length === 0 && found.problem === null && found.next === null && (
        <NoneFound filtered={Object.keys(query).length > 0} />
      )}
      <ul className="rows">
        {found.items.map((n) => (
          <li key={`${n.log} ${n.id} ${n.conversation}`}>
            <a
              className="row notification"
              data-row=""
              href={to.conversation(n.log, n.takenBy ?? n.conversation ?? 'main', n.id)}
            >
              <LevelShape level={n.level} />
              <b className="kind words">{n.kind}</b>
              <span className="message words">
                {n.count > 1 && <b>{`${n.count}× `}</b>}
                {n.subscriber === null && <span className="muted">{`${senderSays(n)} · `}</span>}
                <Marked text={firstOf(n.message) ?? n.message} words={words ?? ''} />
              </span>
              <span className="muted words">{n.log}</span>
              <span className="muted">{progressSays(n)}</span>
              <span className="muted">{isTimed(query) ? <When at={n.at} /> : <Ago at={n.at} />}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.next !== null && (
        <button type="button" disabled={found.loading} onClick={() => setBefore(found.next)}>
          {found.loading ? 'reading …' : words !== undefined || found.items.length === 0 ? 'Look further back' : 'Show more'}
        </button>
      )}
    </div>
  );
}

const NoneFound = ({ filtered }: { readonly filtered: boolean }): ReactElement =>
  filtered ? (
    <Empty title="No notification passes these filters">
      <button type="button" onClick={() => change(to.notifications())}>
        Clear the filters
      </button>
    </Empty>
  ) : (
    <Empty title="No notification has been queued yet">
      <p>Every notification that is queued for an agent is listed here.</p>
    </Empty>
  );

const Choice = ({
  name,
  of,
  all,
  value = '',
  onChoose,
}: {
  readonly name: string;
  readonly of: readonly string[];
  readonly all: string;
  readonly value: string | undefined;
  readonly onChoose: (value: string) => void;
}): ReactElement => (
  <select aria-label={name} value={of.includes(value) ? value : ''} onChange={(event) => onChoose(event.target.value)}>
    <option value="">{all}</option>
    {of.map((each) => (
      <option key={each} value={each}>
        {each}
      </option>
    ))}
  </select>
);

const timesOf = ({ from, to: until }: Query): Times => ({ from: numberIn(from), until: numberIn(until) });
const isTimed = ({ from, to: until }: Query): boolean => from !== undefined || until !== undefined;

/** Searches all stored notifications, not only those on the page. */
function Search({ words, query }: { readonly words: string; readonly query: Query }): ReactElement {
  const [typed, setTyped] = useState(words);
  const [times, setTimes] = useState(typedOf(timesOf(query)));
  return (
    <form
      className="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const { from, until } = timesIn(times, timesOf(query));
        const by = from === null && until === null ? null : query['by'];
        change(to.notifications({ ...query, q: typed.trim(), from, to: until, by }));
      }}
    >
      <input
        type="search"
        aria-label="Words to find in all notifications"
        placeholder="Words, then Enter"
        maxLength={200}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <TimeFields value={times} onChange={setTimes} />
      <button type="submit">Search</button>
    </form>
  );
}

type Asked = {
  readonly items: readonly NotificationView[];
  readonly next: string | null;
  readonly lookedBackTo?: number | undefined;
};

async function look(query: Query, before: string | null, signal: AbortSignal): Promise<Asked> {
  const level = LEVELS.find((each): each is Level => each === query['level']);
  const state = query['state'] === 'open' || query['state'] === 'closed' ? query['state'] : 'all';
  const by = BY.find((each) => each === query['by']);
  const text = (name: 'project' | 'log' | 'kind' | 'q'): Query => (query[name] === undefined ? {} : { [name]: query[name] });
  const { from, until } = timesOf(query);
  return client.notifications({
    state,
    limit: PAGE,
    signal,
    ...(level === undefined ? {} : { level }),
    ...(by === undefined ? {} : { by }),
    ...text('project'),
    ...text('log'),
    ...text('kind'),
    ...text('q'),
    ...(from === null ? {} : { from }),
    ...(until === null ? {} : { to: until }),
    ...(before === null ? {} : { before }),
  });
}

const BY = ['queued', 'delivered', 'waiting'] as const;

function saidOf(query: Query): { name: string; says: string }[] {
  const { by } = query;
  return [
    ...['project', 'log', 'kind', 'q'].flatMap((name) =>
      query[name] === undefined ? [] : [{ name, says: name === 'q' ? `“${query[name]}”` : `${name} ${query[name]}` }],
    ),
    ...(isTimed(query) ? [{ name: 'from', says: `${by ?? 'queued'} ${spanSays(timesOf(query), serverNow())}` }] : []),
  ];
}
