/**
 * The answer of `get_notifications`. A pull is an offer: it leases the open notifications that it shows. Notifications that the
 * model may have seen before are marked as repeated.
 */
import { countsOf } from '../../core/counts.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { holdsGate } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { neutralize } from '../../core/views/body.ts';
import { MAX_DIFFERS } from '../../core/item.ts';
import { pausedUntil } from '../../core/views/gate.ts';
import { isOnlyCounted, itemKey, type Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import { formatKind, isInterrupt, showsData, type Notification } from '../../core/notification.ts';
import { kindRead, tellerOf } from '../../core/teller.ts';
import { named } from '../../core/verdict/quoted.ts';
import type { Decision } from '../../core/plan.ts';
import type { Withheld } from '../../core/ports.ts';
import type { Draft, OfferedRecord } from '../../core/records.ts';
import { countedKeys, unlistedText } from '../../core/unlisted.ts';
import { pointsToWhole } from '../../core/views/wording.ts';
import { Claim } from './claim.ts';
import { closedAtOnce, compose, type Composed } from './compose.ts';
import { fitting, shortened, shownResults, type Fits } from './fitting.ts';
import type { Gate } from './gate.ts';
import { carryingLesseeOf, leaseOf, offerOf, statesOf, type Offer } from './lease.ts';
import type { Parts } from './parts.ts';
import type { Contents, PulledNotification } from './pulled.ts';
import { formatOf, type Recipient } from './recipient.ts';
import { rendererOf } from './views.ts';

export type Pulled = Contents & {
  /** The number of waiting notifications and withheld results that the answer does not show. */
  readonly more: number;
  /** The offer to confirm after the answer is sent. Undefined without `mark`, or if the answer shows no notification. */
  readonly offer?: Offer;
  /** The states in the answer without `mark`: see `Offer`. */
  readonly states?: Offer['states'];
};

export type PullOptions = {
  /** Whether the pull leases the notifications that it shows. */
  readonly mark: boolean;
  readonly limit?: number;
  /**
   * Returns whether the client shows an answer whole. Notifications that do not fit wait for the next call. Default: every answer
   * fits.
   */
  readonly fits?: Fits;
};

const LIMIT = 50;
const TRIES = 8;

export async function pull(parts: Parts, gate: Gate, { mark, limit = LIMIT, fits }: PullOptions): Promise<Pulled> {
  const { recipient, contact, frames } = parts;
  const { context, log, id } = recipient;
  const { store } = context;
  const lessee = carryingLesseeOf(recipient);
  const render = await rendererOf(formatOf(recipient));
  await contact.seen({});
  const claim = new Claim(recipient, 'tool_result');
  for (let tries = 0; tries < TRIES; tries++) {
    const unread = (await contact.mine(await store.items(log, { kind: 'unread', conversation: id }))).filter(
      (item) => !item.read && isPartlyShown(item),
    );
    const { shows: pulled, closings, closedIds, planned } = await pullable(parts, claim, unread);
    const up = (await gate.up()).filter((item) => !closedIds.has(item.id));
    const all = [...new Map([...pulled, ...up].map((item) => [item.id, item] as const)).values()].toSorted(
      (a, b) => b.seq - a.seq,
    );
    const kept: readonly Withheld[] = await store.withheld(log, id);
    const show = (item: Item, repeated: boolean): PulledNotification =>
      shown(item, { repeated, lift: gate.lift, now: store.now() });
    const urgent = new Set(closings.flatMap(({ gates, newer }) => (gates && newer !== undefined ? [newer] : [])));
    // Each item is measured with the flag `repeated`, because the flag may be set later.
    const { items, takesWithheld, chars } = fitting(all, kept, { fits, limit, urgent, show: (item) => show(item, true) });
    const withheld = takesWithheld ? kept : [];
    const answer = (shownBefore: (item: Item) => boolean, offer?: Offer): Pulled => ({
      notifications: items
        .map((item) => show(item, shownBefore(item)))
        .map((each) => (Number.isFinite(chars) ? shortened(each, chars) : each)),
      more: all.length - items.length + kept.length - withheld.length,
      withheld: shownResults(withheld, chars),
      ...(offer ? { offer } : {}),
    });
    const wasOffered = (item: Item): boolean => item.offers > 0 || item.read;
    if (!mark) {
      await claim.drop();
      return { ...answer(wasOffered), states: statesOf(items) };
    }

    const claims = items.filter((item) => item.state === 'open');
    const shows = items.filter((item) => item.state !== 'open' && !item.read).map((item) => item.id);
    const record: OfferedRecord = {
      ...leaseOf(lessee, {
        at: 'tool_result',
        on: 'get_notifications',
        view: {
          format: 'json',
          items: claims.map((item) => ({ ids: [item.id], text: item.text ?? frames.ofOne(item, render) })),
          text: '',
          ...(claims.some(wasOffered) ? { repeated: true as const } : {}),
        },
        ids: claims.map((item) => item.id),
        counts: countsOf(
          [...claims, ...claim.items],
          claims.map((item) => item.id),
        ),
      }),
      reads: true,
      ...(shows.length > 0 ? { shows } : {}),
      clockAt: store.now(),
    };
    const drafts: Draft[] = [
      ...claim.releases(),
      ...closedAtOnce(closings),
      ...(claims.length + shows.length > 0 ? [record] : []),
    ];
    const appended = drafts.length === 0 ? undefined : await store.append(log, drafts);
    if (appended !== undefined && appended.kind !== 'appended') {
      await claim.after(appended, planned);
      continue;
    }
    if (items.length === 0) {
      if (withheld.length > 0) await store.withheld(log, id, { take: true });
      return answer(wasOffered);
    }
    fault('offer.appended');
    // `offers` is taken from the append's result, because another process may have offered and released an item after the read.
    const offered = new Map((appended?.items ?? []).map((item) => [itemKey(item), item.offers] as const));
    // Another carrier holds such an item and may have shown it. The pull lists the item only because it holds the gate up.
    const isHeld = (item: Item): boolean => item.state === 'offered';
    const shownBefore = (item: Item): boolean => (offered.get(itemKey(item)) ?? 0) > 1 || item.read || isHeld(item);
    return answer(
      shownBefore,
      offerOf(lessee, record, {
        items,
        reads: items.filter((item) => !item.read),
        by: readerOf(recipient),
        takesWithheld: withheld.length > 0,
        contact,
        explains: false,
      }),
    );
  }
  await claim.drop();
  throw new EarpieceError('conflict', `the notifications of ${log}#${id} keep changing; try again`, { retryable: true });
}

/**
 * Returns the open and the unread items that a pull may show, and the closings that the plan decides. `planned`: all items of the
 * plan. The plan also decides about the unread items that were only counted in a summary. Such an item may have expired or have a
 * newer state since.
 */
async function pullable(
  parts: Parts,
  claim: Claim,
  unread: readonly Item[],
): Promise<Pick<Composed, 'closings' | 'closedIds'> & { readonly shows: readonly Item[]; readonly planned: readonly Item[] }> {
  const counted = unread.filter(isOnlyCounted);
  const countedIds = new Set(counted.map(({ id }) => id));
  const { items, closings, closedIds, decisions } = await compose(parts, {
    at: 'tool_result',
    leased: true,
    decidesOnly: true,
    onDemand: true,
    claim,
    counted,
  });
  const kept = (step: Decision['step']): ReadonlySet<string> =>
    new Set(decisions.flatMap((decision) => (decision.kind === 'keep' && decision.step === step ? [decision.id] : [])));
  const [hidden, early] = [kept('relevance'), kept('moment')];
  const isOver = ({ id }: Item): boolean => closedIds.has(id) || hidden.has(id);
  const open = items.filter((item) => !countedIds.has(item.id) && !isOver(item) && !early.has(item.id));
  return { shows: [...unread.filter((item) => !isOver(item)), ...open], closings, closedIds, planned: items };
}

/** Names the reader for `why`: the client, its carrier, and the process. */
function readerOf({ context, options: { host, hostVersion, carrier } }: Recipient): string {
  const safe = (part: string): string => neutralize(part, 100).replace(/\s+/g, ' ');
  const names = [host, hostVersion].flatMap((part) => (part === undefined ? [] : [named(safe(part))]));
  const client = names.length === 0 ? 'an unnamed client' : names.join(' ');
  return `get_notifications by ${client}${carrier === undefined ? '' : `, ${safe(carrier)}`}, process ${context.owner.pid}`;
}

/** Whether the model has seen only a part of the item: a summary counted the item, or its text was cut. */
const isPartlyShown = ({ outcome, text = '' }: Item): boolean =>
  outcome === 'summarized' || (outcome === 'delivered' && pointsToWhole(text));

function shown(
  item: Item,
  { repeated, lift, now }: { readonly repeated: boolean; readonly lift: string; readonly now: number },
): PulledNotification {
  const { notification: n, at, count, differs } = item;
  const until = pausedUntil([item], now);
  const taskId = typeof n.data === 'object' && n.data !== null && 'task_id' in n.data ? n.data.task_id : undefined;
  const teller = tellerOf(n);
  const kind = kindRead(n);
  return {
    id: n.id,
    type: isInterrupt(n) ? 'interrupt' : n.origin?.person === undefined && kind.source !== 'user' ? formatKind(kind) : 'message',
    action: n.action ?? null,
    level: n.level,
    // Each different message of the counted notifications gets its own line.
    message: n.subscriber?.rest
      ? restText({ notification: n, count, differs })
      : [
          ...new Set([n.message, ...differs.flatMap(({ message }) => message ?? [])]),
          ...(isCounted(item)
            ? [`(the first ${1 + differs.length} different notifications of ${count}; the others are only counted)`]
            : []),
        ].join('\n'),
    instruction: n.instruction ?? null,
    created_at: new Date(at).toISOString(),
    ...(typeof taskId === 'string' ? { task_id: taskId } : {}),
    ...dataShown(n, differs),
    ...(count > 1 ? { count } : {}),
    ...(n.origin?.person === undefined ? {} : { from: n.origin.person }),
    ...defined({ agent: teller }),
    ...(repeated ? { repeated: true as const } : {}),
    ...(n.action === 'pause' && holdsGate(item, now)
      ? {
          holds: `until ${until === undefined ? '' : `${until}, or until `}a person lifts it${lift === '' ? '' : `: ${lift}, or the console`}`,
        }
      : {}),
  };
}

/** Whether some notifications of the item are only counted, because the log keeps a bounded number of different ones. */
const isCounted = ({ count, differs }: Item): boolean => differs.length >= MAX_DIFFERS && count > 1 + differs.length;

function dataShown(n: Notification, differs: Item['differs']): { readonly data?: Json } {
  if (!showsData(n) || n.data === undefined) return {};
  const all = [n.data, ...differs.flatMap(({ data }) => (data === undefined ? [] : [data]))];
  return { data: all.length === 1 ? n.data : all };
}

/** Describes the events that a storm's line does not list, with all keys that their record names. */
function restText({
  notification: { subscriber, data },
  count,
  differs,
}: Pick<Item, 'notification' | 'count' | 'differs'>): string {
  const keys = [data, ...differs.map((each) => each.data)].flatMap(countedKeys);
  return unlistedText({ count, type: subscriber?.event.type ?? '', keys: [...new Set(keys)] }, Number.POSITIVE_INFINITY);
}
