/**
 * Decides the verdict of `why`: why a notification was delivered, waits, or ended. Pure: the inbox gathers the facts, `verdictOf`
 * decides, and `words.ts` describes the verdict to a person.
 */
import { sayCause, type EndCause, type FilterCause } from '../cause.ts';
import { isExpired } from '../clocks.ts';
import { defined } from '../defined.ts';
import { isOnlyCounted, type Item } from '../item.ts';
import { AFTER_A_TOOL } from '../moments.ts';
import { isInterrupt, type Deliver, type NotificationId } from '../notification.ts';
import type { Decision } from '../plan.ts';
import type { VerdictFacts } from './facts.ts';
import type { Verdict } from './kinds.ts';

export function verdictOf(facts: VerdictFacts): Verdict {
  const { item } = facts;
  if (facts.passedOn !== undefined) return { kind: 'passed_on', ...facts.passedOn };
  if (facts.gateExpired !== undefined) return expiredGateOf(facts, facts.gateExpired);
  if (item.state !== 'open' && item.gate) return gateOf(facts);
  if (item.state === 'closed') return endOf(facts);
  if (item.state === 'offered')
    return {
      kind: 'offered',
      rodeOn: facts.rodeOn,
      address: addressOf(facts, item.takenBy ?? item.audience),
      until: item.until ?? null,
    };
  return waitOf(facts);
}

/**
 * Returns the reason why an open notification waits. Checks in this order: reasons that will close the notification, absent
 * conversations, and reasons why active conversations do not take the notification.
 */
function waitOf(facts: VerdictFacts): Verdict {
  const { item, log, now, conversations, decisions, filter, gates, wrongClock } = facts;
  const { notification: n } = item;
  if (filter !== undefined) return filteredOf(facts, filter, false);
  const ending = endingOf(facts);
  if (ending !== undefined) return ending;

  const active = conversations.filter(({ absence }) => absence === null);
  if (active.length === 0) {
    const last = conversations.toSorted((a, b) => b.lastContactAt - a.lastContactAt)[0];
    if (last === undefined) return { kind: 'never_carried', log, ...defined({ deliver: laterThan(now, n.deliver) }) };
    return {
      kind: 'away',
      address: `${log}#${last.conversation}`,
      absence: last.absence ?? 'silent',
      lastContactAt: last.lastContactAt,
      wrappedOnly: last.wrappedOnly,
      ...(last.passedTo === undefined ? {} : { goesOn: `${log}#${last.passedTo}` }),
    };
  }
  const { purpose } = n;
  const fitting = active.filter((each) => purpose === undefined || each.purpose === null || each.purpose === purpose);
  if (fitting.length === 0 && purpose !== undefined) return { kind: 'other_purpose', log, purpose };

  if (isInterrupt(n) && item.gate) return gateOf(facts);
  const others = gates.filter((gate) => gate.id !== item.id && isBefore(gate, item));
  const pause = others.find((gate) => gate.notification.action === 'pause');
  if (pause !== undefined)
    return {
      kind: 'paused',
      log,
      id: pause.id,
      by: pause.notification.origin?.person ?? pause.notification.origin?.agent ?? null,
      since: pause.at,
      until: pause.notification.expiresAt ?? null,
    };

  const of = <K extends Decision['kind']>(kind: K): Decided<K> | undefined =>
    decisions.find((each): each is Decided<K> => each.decision.kind === kind);
  const taking = of('take');
  const kept = of('keep');
  const summing = of('summarize')?.decision;
  const [gate] = others;
  const behind = gate && ({ kind: 'behind_gate', id: gate.id, about: gate.notification.message, log } as const);
  if (taking === undefined && kept !== undefined) {
    const { decision: keeping } = kept;
    if (keeping.step === 'budget') return { kind: 'budget', how: 'waits', cause: keeping.cause };
    // A refused call has no result that could carry the notification.
    if (behind !== undefined && kept.rides?.at.some((point) => AFTER_A_TOOL.includes(point))) return behind;
    return {
      kind: 'moment',
      deliver: n.deliver ?? 'next',
      cause: keeping.cause,
      ...defined({ rides: kept.rides }),
    };
  }
  if (taking === undefined && summing !== undefined) return { kind: 'budget', how: 'will_summarize', cause: summing.cause };
  if (behind !== undefined) return behind;

  const there = fitting.find(({ conversation }) => conversation === taking?.conversation) ?? fitting[0];
  return {
    kind: 'due',
    address: there === undefined ? log : `${log}#${there.conversation}`,
    host: there?.host ?? null,
    wrappedOnly: there?.wrappedOnly ?? false,
    ...defined({ terminalUnknown: there?.terminalUnknown }),
    unseenSince: there !== undefined && there.lastContactAt <= item.at ? item.at : null,
    offered: item.offers > 0,
    ...(wrongClock === undefined || wrongClock.own
      ? {}
      : { hiddenBy: { pid: wrongClock.pid, machine: wrongClock.machine, offByMs: wrongClock.offByMs } }),
  };
}

type Decided<K extends Decision['kind']> = VerdictFacts['decisions'][number] & {
  readonly decision: Extract<Decision, { readonly kind: K }>;
};

/** Returns the verdict on a notification that the plan closes as expired, superseded or known. */
function endingOf({ item, now, decisions, wrongClock }: VerdictFacts): Verdict | undefined {
  const { notification: n } = item;
  if (typeof n.expiresAt === 'number' && isExpired(item, now))
    return {
      kind: 'expired',
      at: n.expiresAt,
      over: false,
      ...(wrongClock?.own === true ? { offByMs: wrongClock.offByMs } : {}),
    };
  const closing = decisions.map(({ decision }) => decision).find((decision) => decision.kind === 'close');
  if (closing?.kind === 'close' && closing.outcome === 'superseded')
    return { kind: 'superseded', by: newerIn(closing.cause), reason: closing.reason, over: false };
  if (closing?.kind === 'close' && closing.outcome === 'known')
    return { kind: 'known', about: n.about ?? null, reason: closing.reason, over: false };
  return undefined;
}

/** Returns `deliver`. Undefined if a notification with this `deliver` is due at the next contact. */
const laterThan = (now: number, deliver: Deliver = 'next'): Deliver | undefined =>
  deliver === 'next' || (typeof deliver === 'object' && 'at' in deliver && deliver.at <= now) ? undefined : deliver;

function endOf(facts: VerdictFacts): Verdict {
  const { item, closed, readBy, markedRead = false } = facts;
  const at = item.closedAt ?? closed?.at ?? item.lastAt;
  const reason = closed?.reason ?? '';
  const conversation = item.takenBy ?? (item.audience === '' ? null : item.audience);
  const forProject = facts.log.endsWith('/*') ? { forProject: true as const } : {};
  switch (item.outcome) {
    case 'delivered':
      return {
        kind: 'delivered',
        at,
        afterMs: Math.max(0, at - item.at),
        rodeOn: facts.rodeOn,
        conversation,
        evidence: item.read && !markedRead ? 'read' : item.observed ? 'observed' : item.read ? 'marked' : 'none',
        readBy,
        offers: item.offers,
      };
    case 'summarized':
      return (
        (isOnlyCounted(item) ? endingOf(facts) : undefined) ?? {
          kind: 'summarized',
          at,
          conversation,
          read: item.read,
          readBy,
          ...(markedRead ? { markedRead } : {}),
        }
      );
    case 'filtered':
      return closed?.cause?.kind === 'mute' || closed?.cause?.kind === 'setting'
        ? filteredOf(facts, closed.cause, true)
        : { kind: 'filtered', key: null, setting: reason, file: null, over: true, holds: facts.filter !== undefined };
    case 'expired':
      return { kind: 'expired', at: item.notification.expiresAt ?? at, over: true, ...forProject };
    case 'superseded':
      return { kind: 'superseded', by: newerIn(closed?.cause), reason, over: true };
    case 'withdrawn':
      return { kind: 'withdrawn', by: closed?.by ?? 'somebody', reason, at, maybeSeen: item.offers > 0, ...forProject };
    case 'known':
      return { kind: 'known', about: item.notification.about ?? null, reason, over: true };
    case 'dropped':
      return { kind: 'dropped', reason, at };
    case 'left_out':
      return { kind: 'left_out', reason, at: closed?.at ?? at };
    case 'folded':
    case undefined:
      return { kind: 'folded', into: item.group?.[0] ?? null };
    default:
      return item.outcome satisfies never;
  }
}

function expiredGateOf({ item, log, refusals, withheld = 0 }: VerdictFacts, at: number): Verdict {
  const deliveredAt = item.closedAt ?? null;
  return { kind: 'expired', at, over: true, held: { log, refusals, ...(withheld > 0 ? { withheld } : {}), deliveredAt } };
}

function gateOf({ item, log, refusals, withheld = 0, conversations }: VerdictFacts): Verdict {
  const active = conversations.filter(({ absence }) => absence === null);
  const wrapped = active.length > 0 && active.every(({ wrappedOnly }) => wrappedOnly);
  return {
    kind: 'gate',
    log,
    action: item.notification.action ?? null,
    refusals,
    ...(withheld > 0 ? { withheld } : {}),
    deliveredAt: item.outcome === 'delivered' ? (item.closedAt ?? null) : null,
    until: item.notification.expiresAt ?? null,
    ...(wrapped ? { wrappedOnly: true } : {}),
  };
}

function filteredOf({ log, filter }: VerdictFacts, cause: FilterCause, over: boolean): Verdict {
  switch (cause.kind) {
    case 'mute': {
      const holds = filter?.kind === 'mute' && filter.pattern === cause.pattern;
      const { pattern, by, until } = holds ? filter : cause;
      return { kind: 'muted', log, pattern, by, ...defined({ until }), over, holds };
    }
    case 'setting':
      return {
        kind: 'filtered',
        key: cause.key,
        setting: sayCause(cause),
        file: cause.file ?? null,
        ...defined({ scope: cause.scope }),
        over,
        holds: filter !== undefined,
      };
    default:
      return cause satisfies never;
  }
}

const addressOf = ({ log }: VerdictFacts, conversation: string): string => (conversation === '' ? log : `${log}#${conversation}`);

/** Whether a gate blocks the conversations that may take the item. */
const isBefore = (gate: Item, item: Item): boolean => {
  const holds = gate.takenBy ?? gate.audience;
  return holds === '' || item.audience === '' || holds === item.audience;
};

const newerIn = (cause: EndCause | undefined): NotificationId | null => (cause?.kind === 'superseded' ? cause.by : null);
