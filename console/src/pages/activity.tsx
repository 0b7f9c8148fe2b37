/** Charts of notifications: how many were queued, how many wait, how long delivery took, and their cost. */
import { useEffect, type ReactElement } from 'react';
import { brief, Chart, niceTime, Ranking } from '../parts/charts.tsx';
import { Command } from '../parts/copy.tsx';
import { Empty, Problem, Skeleton } from '../parts/empty.tsx';
import { change, to, type Query } from '../route.ts';
import { serverNow, span } from '../state/clock.ts';
import { listen } from '../state/live.ts';
import { useLoaded } from '../state/loaded.ts';
import { useProjects } from '../state/projects.ts';
import { client } from '../state/server.ts';
import { soon } from '../state/soon.ts';
import { word } from '../state/text.ts';
import { LEVELS } from '../words.ts';

const RANGES = [
  { value: '1h', says: 'the last hour', ms: 3_600_000, bucketMs: 120_000 },
  { value: '24h', says: 'the last day', ms: 86_400_000, bucketMs: 1_800_000 },
  { value: '7d', says: 'the last week', ms: 7 * 86_400_000, bucketMs: 6 * 3_600_000 },
] as const;

export function ActivityPage({ query }: { readonly query: Query }): ReactElement {
  const range = RANGES.find(({ value }) => value === query['range']) ?? RANGES[0];
  const project = query['project'] ?? '';
  const { all, own } = useProjects();
  const activity = useLoaded(`${range.value} ${project}`, (signal) => {
    // The period ends at a whole bucket, so that the bars do not move as time passes.
    const end = Math.ceil(serverNow() / range.bucketMs) * range.bucketMs;
    return client.activity({
      from: end - range.ms,
      to: end,
      bucketMs: range.bucketMs,
      ...(project === '' ? {} : { project }),
      signal,
    });
  });
  const { again } = activity;
  useEffect(() => {
    const asking = soon(async () => again(), 5_000);
    const end = listen(() => asking.ask());
    return () => {
      end();
      asking.end();
    };
  }, [again]);
  const filter = (next: { readonly range?: string; readonly project?: string }): void => {
    const { range: r = range.value, project: p = project } = next;
    change(to.activity({ range: r, ...(p === '' ? {} : { project: p }) }));
  };
  const reply = activity.value;
  const scope = project === '' ? {} : { project };
  const behind = (at: number, more: Readonly<Record<string, string | number>> = {}): string =>
    to.notifications({ ...scope, from: at, to: at + range.bucketMs, ...more });
  const delivered = reply?.buckets.map(({ at }) => behind(at, { by: 'delivered' })) ?? [];
  const within = ({ from, to: until }: { readonly from: number; readonly to: number }): string =>
    to.notifications({ ...scope, from, to: until, by: 'delivered' });
  const columns = reply?.buckets.map(({ at }) => ({ at, href: behind(at, { by: 'queued' }) })) ?? [];
  const levels = (which: 'queued' | 'delivered' | 'waiting'): { name: string; className: string; values: number[] }[] =>
    LEVELS.map((level) => ({
      name: level,
      className: `fill-${level}`,
      values: reply?.buckets.map((bucket) => bucket[which][level]) ?? [],
    }));
  const sum = (which: 'queued' | 'delivered' | 'waiting', at: number): number =>
    LEVELS.reduce((all_, level) => all_ + (reply?.buckets[at]?.[which][level] ?? 0), 0);
  const queued = columns.reduce((total, _, at) => total + sum('queued', at), 0);
  const waiting = columns.length === 0 ? 0 : sum('waiting', columns.length - 1);
  // Some waiting or delivered notifications may have been queued before the period, so the true number may be higher.
  const others = queued - waiting - (reply?.delivery.count ?? 0);
  const nothing = reply !== undefined && reply.kinds.length === 0 && reply.buckets.every((_, at) => sum('waiting', at) === 0);
  return (
    <div className="page activity">
      <header className="page-head">
        <h1>Activity</h1>
        <div className="filters">
          <select aria-label="Project" value={project} onChange={(event) => filter({ project: event.target.value })}>
            <option value="">every project</option>
            {all.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <select aria-label="Time" value={range.value} onChange={(event) => filter({ range: event.target.value })}>
            {RANGES.map(({ value, says }) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </div>
      </header>
      {activity.problem !== null && <Problem text={activity.problem} again={again} />}
      {reply === undefined && activity.problem === null && <Skeleton rows={4} label="reading the activity" />}
      {nothing && (
        <Empty title={`No notifications in ${range.says}`}>
          <p>To see numbers here, queue a notification:</p>
          <Command
            text={`earpiece send --to ${word(`${project === '' ? own : project}/coder`)} "the staging database is back"`}
          />
        </Empty>
      )}
      {reply !== undefined && !nothing && (
        <>
          <dl className="numbers">
            <Figure name="queued" says={brief(queued)} href={to.notifications({ ...scope, from: reply.from, to: reply.to })} />
            <Figure name="waiting now" says={brief(waiting)} href={to.notifications({ ...scope, state: 'open' })} />
            <Figure
              name="delivered"
              says={brief(reply.delivery.count)}
              href={reply.delivery.count === 0 ? null : within(reply)}
            />
            <Figure
              name="time to delivery, median"
              says={timeSays(reply.delivery.p50Ms)}
              href={reply.delivery.count === 0 ? null : within(reply)}
            />
            <Figure
              name="time to delivery, 95 %"
              says={timeSays(reply.delivery.p95Ms)}
              href={reply.delivery.count === 0 ? null : within(reply)}
            />
            <Figure name="tokens for notifications" says={brief(reply.tokens)} href={reply.tokens === 0 ? null : within(reply)} />
          </dl>
          {others > 0 && (
            <p className="muted others">
              {`Neither waiting nor delivered: at least ${brief(others)} of the queued notifications. Each of them was only counted in a summary, expired, or ended in another way. `}
              <a href={to.notifications({ ...scope, from: reply.from, to: reply.to, state: 'closed' })}>
                Show the closed notifications
              </a>
            </p>
          )}
          <Chart
            label="Waiting, by level"
            kind="area"
            columns={columns.map((column) => ({ at: column.at, href: behind(column.at, { by: 'waiting' }) }))}
            series={levels('waiting')}
            says={String}
          />
          <Chart label="Queued, by level" kind="stacked" columns={columns} series={levels('queued')} says={String} />
          <Chart
            label="Queued and delivered"
            kind="side"
            columns={columns}
            series={[
              { name: 'queued', className: 'fill-queued', values: columns.map((_, at) => sum('queued', at)) },
              {
                name: 'delivered',
                className: 'fill-delivered',
                values: columns.map((_, at) => sum('delivered', at)),
                hrefs: delivered,
              },
            ]}
            says={String}
          />
          <Chart
            label="Time to delivery"
            kind="side"
            columns={columns.map(({ at }, n) => ({ at, href: delivered[n] ?? '' }))}
            series={[
              {
                name: 'median',
                className: 'fill-queued',
                values: reply.buckets.map(({ delivery }) => shown(delivery.p50Ms)),
              },
              {
                name: '95 %',
                className: 'fill-delivered',
                values: reply.buckets.map(({ delivery }) => shown(delivery.p95Ms)),
              },
            ]}
            says={span}
            scale={niceTime}
          />
          <Chart
            label="Tokens spent on notifications"
            kind="stacked"
            columns={columns.map(({ at }, n) => ({ at, href: delivered[n] ?? '' }))}
            series={[{ name: 'tokens', className: 'fill-queued', values: reply.buckets.map(({ tokens }) => tokens) }]}
            says={brief}
          />
          <Ranking
            label="Kinds"
            rows={reply.kinds.slice(0, 12).map((kind) => ({
              name: kind.kind,
              href: to.notifications({
                ...scope,
                from: reply.from,
                to: reply.to,
                kind: kind.kind,
                ...(kind.queued === 0 ? { by: 'delivered' } : {}),
              }),
              value: kind.queued,
              says: `${kind.queued} queued, ${kind.delivered} delivered, ${brief(kind.tokens)} tokens`,
            }))}
          />
          {reply.truncated && (
            <p className="muted">
              The period has more notifications than one answer can count. The numbers count only the newest notifications.
            </p>
          )}
        </>
      )}
    </div>
  );
}

const timeSays = (ms: number | null): string => (ms === null ? '–' : span(ms));
/** Returns the value for the chart: 0 without a time, otherwise at least 1 ms, because the chart draws no bar for 0. */
const shown = (ms: number | null): number => (ms === null ? 0 : Math.max(1, ms));

const Figure = ({
  name,
  says,
  href,
}: {
  readonly name: string;
  readonly says: string;
  readonly href: string | null;
}): ReactElement => (
  <div>
    <dt>{name}</dt>
    <dd>{href === null ? says : <a href={href}>{says}</a>}</dd>
  </div>
);
