/**
 * Makes random histories of a log. The histories use few ids, conversations and carriers, so that records often affect each
 * other.
 */
import type { Arbitrary } from 'fast-check';
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { Draft } from '../../core/records.ts';
import {
  closed,
  confirmed,
  conversation,
  extended,
  folded,
  forked,
  ids,
  LOG,
  observed,
  offered,
  OTHER,
  queued,
  read,
  refused,
  redacted,
  released,
  result,
  said,
  succeeded,
} from './drafts.ts';
import type { FastCheck } from './fast-check.ts';

export const IDS = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'];
export const CONVERSATIONS = ['x', 'y', 'z'];
export const KEYS = ['k1', 'k2'];

export type Step = { readonly tick: number } & (
  | { readonly kind: 'append'; readonly log: LogKey; readonly drafts: readonly Draft[] }
  | { readonly kind: 'prune'; readonly keepMs: number }
);

/** Makes drafts. `fresh` names the carrier of a new offer, and `past` the carrier of an earlier offer. */
type Made = (carriers: { fresh: () => string; past: (n: number) => string }) => Draft | readonly Draft[];

/** By how much the clock may move before a step, in ms. 0 stops the clock, and a negative number sets it back. */
const TICKS = [0, 1, 10, 100, -50];

export function stepsOf(fc: FastCheck, { prune }: { prune: boolean }): Arbitrary<Step[]> {
  const draft = draftOf(fc);
  const queueing = queuedOf(fc);
  const tick = fc.constantFrom(...TICKS);
  const append = fc.record({
    kind: fc.constant('append' as const),
    tick,
    log: fc.constantFrom(LOG, LOG, LOG, OTHER),
    // An append usually has one draft, because one refused draft makes the store refuse the whole append.
    made: fc.oneof(
      { weight: 2, arbitrary: fc.tuple(draft) },
      { weight: 1, arbitrary: fc.array(draft, { minLength: 2, maxLength: 3 }) },
    ),
  });
  /** A history begins with notifications, because most other drafts are refused without them. */
  const first = fc.record({
    kind: fc.constant('append' as const),
    tick,
    log: fc.constant(LOG),
    made: fc.array(queueing, { minLength: 3, maxLength: 8 }),
  });
  const pruning = fc.record({ kind: fc.constant('prune' as const), tick, keepMs: fc.constantFrom(0, 0, 100) });
  const rest = fc.array(prune ? fc.oneof({ weight: 8, arbitrary: append }, { weight: 1, arbitrary: pruning }) : append, {
    minLength: 5,
    maxLength: 40,
    size: 'max',
  });
  return fc.tuple(first, rest).map(([start, steps]) => {
    let made = 0;
    const fresh = (): string => `c${made++}`;
    const past = (n: number): string => `c${Math.max(0, made - 1 - n)}`;
    return [start, ...steps].map((step): Step => {
      if (step.kind === 'prune') return step;
      const { made: drafts, ...rest } = step;
      // An append may queue an id only once. Another test covers the refusal.
      const queuedIds = new Set<string>();
      return {
        ...rest,
        drafts: drafts
          .flatMap((make) => make({ fresh, past }))
          .filter((one) => {
            if (!one.type.startsWith('system_notification_')) return true;
            const { id } = one as { id: string };
            return queuedIds.has(id) ? false : queuedIds.add(id);
          }),
      };
    });
  });
}

function queuedOf(fc: FastCheck): Arbitrary<Made> {
  return fc
    .record({
      id: fc.constantFrom(...IDS),
      level: fc.constantFrom('info', 'warning', 'error', 'critical', 'critical'),
      action: fc.constantFrom('pause' as const, undefined, undefined, undefined),
      key: fc.option(fc.constantFrom(...KEYS), { nil: undefined }),
      to: fc.constantFrom('anyone', 'x', 'y', 'both'),
    })
    .map(
      ({ id, level, action, key, to }): Made =>
        () =>
          queued(id, {
            ...(level === 'info' ? {} : { level: level as 'error' }),
            ...defined({ action, key }),
            ...(to === 'both' ? { audience: CONVERSATIONS.map(conversation) } : to === 'anyone' ? {} : { conversation: to }),
          }),
    );
}

function draftOf(fc: FastCheck): Arbitrary<Made> {
  const id = fc.constantFrom(...IDS);
  const someIds = fc.uniqueArray(id, { minLength: 1, maxLength: 3 });
  const as = fc.constantFrom(...CONVERSATIONS);
  const maybe = <T>(arb: Arbitrary<T>): Arbitrary<T | undefined> => fc.option(arb, { nil: undefined });

  return fc.oneof(
    {
      weight: 5,
      arbitrary: queuedOf(fc),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(id, id).map(
        ([a, b]): Made =>
          () =>
            folded(a, b, { count: 2, differs: { message: `of ${a}` } }),
      ),
    },
    {
      weight: 4,
      arbitrary: fc
        .record({
          of: someIds,
          rest: fc.uniqueArray(id, { maxLength: 1 }),
          to: maybe(as),
          counts: maybe(fc.constant([1, 3, 3, 1])),
        })
        .map(
          ({ of, rest, to, counts }): Made =>
            ({ fresh }) =>
              offered(fresh(), of, {
                ...defined({ conversation: to, counts }),
                ...(rest.length > 0 && !of.includes(rest[0] as string) ? { summarizes: ids(...rest) } : {}),
              }),
        ),
    },
    {
      // An offer and a separate confirmation rarely have the same carrier, but only a delivery can be released as unproven.
      weight: 3,
      arbitrary: fc.tuple(id, maybe(as)).map(([one, to]): Made => ({ fresh }) => {
        const carrier = fresh();
        return [offered(carrier, [one], defined({ conversation: to })), confirmed(carrier)];
      }),
    },
    {
      weight: 2,
      arbitrary: fc.nat({ max: 3 }).map(
        (n): Made =>
          ({ past }) =>
            confirmed(past(n)),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.nat({ max: 3 }), fc.constantFrom('cancelled' as const, 'unproven' as const)).map(
        ([n, reason]): Made =>
          ({ past }) =>
            released(past(n), reason),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(someIds, maybe(fc.constant(3))).map(
        ([of, refusals]): Made =>
          () =>
            redacted(of, refusals),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(someIds, as).map(
        ([of, to]): Made =>
          () =>
            result(of, to),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          someIds,
          fc.constantFrom('withdrawn' as const, 'expired' as const, 'summarized' as const),
          maybe(as),
          maybe(fc.constant(true as const)),
        )
        .map(([of, outcome, to, summarized]): Made => () => ({ ...closed(of, outcome, to), ...defined({ summarized }) })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(someIds, maybe(as), maybe(fc.constant(true as const))).map(([of, to, holds]): Made => () => ({
        ...read(of, to),
        ...defined({ holds }),
      })),
    },
    {
      weight: 1,
      arbitrary: someIds.map(
        (of): Made =>
          () =>
            observed(of),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(someIds, fc.boolean()).map(([of, shown]): Made => () => {
        const record = refused(of);
        return shown ? { ...record, shows: record.ids } : record;
      }),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(someIds, fc.constantFrom(['x', 'y'], ['y', 'x'], ['x', 'z'], ['z', 'y'])).map(
        ([of, [from = '', to = '']]): Made =>
          () =>
            forked(of, from, to),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          someIds,
          fc.constantFrom(['x', 'y'], ['y', 'x'], ['x', 'z'], ['z', 'y']),
          fc.constantFrom('ended' as const, 'merged' as const),
        )
        .map(
          ([of, [from = '', to = ''], why]): Made =>
            () =>
              succeeded(of, from, to, why),
        ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(someIds, as).map(
        ([of, to]): Made =>
          () =>
            extended(of, to),
      ),
    },
    { weight: 1, arbitrary: fc.constant<Made>(() => said('hm')) },
  );
}
