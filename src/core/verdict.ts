/**
 * The answer of `why` in one word and one cure: why a notification was delivered, waits, or ended. Pure: the inbox gathers
 * the facts, `verdictOf` decides, `verdict-words.ts` says it to a person.
 */
import { isExpired } from './clocks.ts';
import type { FilterCause } from './filter.ts';
import type { Action, Deliver, NotificationId } from './notification.ts';
import { isInterrupt } from './notification.ts';
import type { Item } from './items.ts';
import type { Decision } from './plan.ts';
import type { ContactPoint } from './records.ts';

/** Why a conversation is not active: it said that it ended, its process is gone, or it made no contact for 30 minutes. */
export type Absence = 'ended' | 'process_gone' | 'silent';

/** A conversation of the agent, as far as the verdict needs it. Times are epoch ms. */
export type KnownConversation = {
  readonly conversation: string;
  readonly host: string | null;
  readonly purpose: string | null;
  readonly lastContactAt: number;
  /** Null: it is active. */
  readonly absence: Absence | null;
  /** All its carriers are gateways: it hears only when it calls a wrapped tool. */
  readonly wrappedOnly: boolean;
  /** The conversation that goes on in its place. */
  readonly passedTo?: string;
};

/** The carrier that delivered it: its contact point, and the name of its tool or hook where there is one. */
/** `made`: the call was made, and this stands in place of its result. */
export type RodeOn = { readonly point: ContactPoint | null; readonly name: string | null; readonly made?: true };

export type VerdictFacts = {
  /** `project/agent`. */
  readonly log: string;
  readonly item: Item;
  readonly now: number;
  /** All that the item may go to: its own conversation, or each one of the agent. */
  readonly conversations: readonly KnownConversation[];
  /** What a carrier of each active conversation would decide now. */
  readonly decisions: readonly { readonly conversation: string; readonly decision: Decision }[];
  /** What keeps it from the model now. */
  readonly filter: FilterCause | undefined;
  /** The interrupts of the agent that hold a gate up, this one included. */
  readonly gates: readonly Item[];
  /** How often a tool call was refused because of it. */
  readonly refusals: number;
  /** How often a call was made, and its result withheld because of it. */
  readonly withheld?: number;
  readonly rodeOn: RodeOn | null;
  /** How the agent read it; with `markedRead`, who marked it read instead, which proves no reading. */
  readonly readBy: string | null;
  readonly markedRead?: boolean;
  /** The record that closed it undelivered. */
  readonly closed: { readonly at: number; readonly by: string; readonly reason: string; readonly cause?: FilterCause } | null;
  /** A live process whose clock is known to be wrong takes it for expired: this one (`own`), or one that carries to it. */
  readonly wrongClock?: { readonly pid: number; readonly machine: string; readonly offByMs: number; readonly own: boolean };
  /** It was delivered and held a gate up until its time was over, at this time. */
  readonly gateExpired?: number;
  /** It was passed on to another conversation of the agent. */
  readonly passedOn?: { readonly to: string; readonly at: number };
};

/** `over` tells what is decided already from what the next carrier will do. */
export type Verdict =
  | { readonly kind: 'never_carried'; readonly log: string }
  | {
      readonly kind: 'away';
      readonly address: string;
      readonly absence: Absence;
      readonly lastContactAt: number;
      /** It would hear only from a wrapped tool. */
      readonly wrappedOnly: boolean;
      /** The address that goes on in its place. */
      readonly goesOn?: string;
    }
  /** No active conversation has the purpose that it is for. */
  | { readonly kind: 'other_purpose'; readonly log: string; readonly purpose: string }
  | {
      readonly kind: 'paused';
      readonly log: string;
      /** The pause itself. */
      readonly id: NotificationId;
      readonly by: string | null;
      readonly since: number;
      /** When it expires; null: never. */
      readonly until: number | null;
    }
  | {
      readonly kind: 'muted';
      readonly log: string;
      readonly pattern: string;
      readonly by: string;
      /** Null: until somebody lifts it; undefined: the log does not say any more. */
      readonly until?: number | null;
      readonly over: boolean;
      /** The mute is still there. */
      readonly holds: boolean;
    }
  | {
      readonly kind: 'filtered';
      readonly key: string;
      /** As the file says it: `kinds.ci.enable = false`. */
      readonly setting: string;
      readonly file: string | null;
      readonly over: boolean;
      /** Something filters it now, so it would be filtered again. */
      readonly holds: boolean;
    }
  /** There is no room: it rides on the message after the next, or its text is replaced by a count. */
  | { readonly kind: 'budget'; readonly how: 'waits' | 'will_summarize'; readonly reason: string }
  | {
      readonly kind: 'summarized';
      readonly at: number;
      readonly conversation: string | null;
      readonly read: boolean;
      readonly readBy: string | null;
      readonly markedRead?: true;
    }
  /** It refuses tool calls itself, delivered or not. */
  | {
      readonly kind: 'gate';
      readonly log: string;
      readonly action: Action | null;
      readonly refusals: number;
      readonly withheld?: number;
      readonly deliveredAt: number | null;
      readonly until: number | null;
    }
  /** Another interrupt refuses the tool calls that would carry it. */
  | { readonly kind: 'behind_gate'; readonly id: NotificationId; readonly about: string; readonly log: string }
  | { readonly kind: 'moment'; readonly deliver: Deliver; readonly reason: string }
  | {
      readonly kind: 'due';
      readonly address: string;
      readonly host: string | null;
      readonly wrappedOnly: boolean;
      /** When it was queued, where the agent has made no contact since. */
      readonly unseenSince: number | null;
      /** It was offered before and not confirmed: the model may see it twice, marked as repeated. */
      readonly offered: boolean;
      /** The process that carries hides it: its clock is wrong. */
      readonly hiddenBy?: { readonly pid: number; readonly machine: string; readonly offByMs: number };
    }
  | { readonly kind: 'offered'; readonly rodeOn: RodeOn | null; readonly address: string; readonly until: number | null }
  | {
      readonly kind: 'delivered';
      readonly at: number;
      readonly afterMs: number;
      readonly rodeOn: RodeOn | null;
      readonly conversation: string | null;
      readonly evidence: 'none' | 'observed' | 'read' | 'marked';
      readonly readBy: string | null;
      readonly offers: number;
    }
  | { readonly kind: 'superseded'; readonly by: NotificationId | null; readonly reason: string; readonly over: boolean }
  /** `offByMs`: by a clock that is known to be so much ahead. `forProject`: what conversations that begin would have got. */
  | {
      readonly kind: 'expired';
      readonly at: number;
      readonly over: boolean;
      readonly offByMs?: number;
      readonly forProject?: true;
      /** It was delivered, and held a gate up until then. */
      readonly held?: {
        readonly log: string;
        readonly refusals: number;
        readonly withheld?: number;
        readonly deliveredAt: number | null;
      };
    }
  | {
      readonly kind: 'withdrawn';
      readonly by: string;
      readonly reason: string;
      readonly at: number;
      readonly maybeSeen: boolean;
      readonly forProject?: true;
    }
  | { readonly kind: 'known'; readonly about: string | null; readonly reason: string; readonly over: boolean }
  | { readonly kind: 'dropped'; readonly reason: string; readonly at: number }
  /** The provider took the agent's request only without it. */
  | { readonly kind: 'left_out'; readonly reason: string; readonly at: number }
  | { readonly kind: 'folded'; readonly into: NotificationId | null }
  | { readonly kind: 'passed_on'; readonly to: string; readonly at: number };

export const VERDICT_KINDS = [
  'never_carried',
  'away',
  'other_purpose',
  'paused',
  'muted',
  'filtered',
  'budget',
  'summarized',
  'gate',
  'behind_gate',
  'moment',
  'due',
  'offered',
  'delivered',
  'superseded',
  'expired',
  'withdrawn',
  'known',
  'dropped',
  'left_out',
  'folded',
  'passed_on',
] as const satisfies readonly Verdict['kind'][];

/** What a person can do about it. Each is one command and one button. */
export type Cure =
  | { readonly kind: 'unmute'; readonly log: string; readonly pattern: string }
  | { readonly kind: 'resume'; readonly log: string }
  | { readonly kind: 'requeue'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'setting'; readonly key: string }
  | { readonly kind: 'mark_read'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'withdraw'; readonly log: string; readonly id: NotificationId }
  /** The story of the one that decides. */
  | { readonly kind: 'show'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'connect' };

/** Whether nothing but its moment keeps it from the agent. */
export const willRide = ({ kind, ...verdict }: Verdict): boolean =>
  kind === 'moment' || kind === 'offered' || kind === 'delivered' || (kind === 'due' && !('hiddenBy' in verdict));

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

/** Why an open one waits: what would end it comes first, then who is not there, then what holds back whoever is. */
function waitOf(facts: VerdictFacts): Verdict {
  const { item, log, now, conversations, decisions, filter, gates, wrongClock } = facts;
  const { notification: n } = item;
  if (filter !== undefined) return filteredOf(facts, filter, false);
  if (typeof n.expiresAt === 'number' && isExpired(item, now))
    return {
      kind: 'expired',
      at: n.expiresAt,
      over: false,
      ...(wrongClock?.own === true ? { offByMs: wrongClock.offByMs } : {}),
    };
  const closing = decisions.map(({ decision }) => decision).find((decision) => decision.kind === 'close');
  if (closing?.kind === 'close' && closing.outcome === 'superseded')
    return { kind: 'superseded', by: newerIn(closing.reason), reason: closing.reason, over: false };
  if (closing?.kind === 'close' && closing.outcome === 'known')
    return { kind: 'known', about: n.about ?? null, reason: closing.reason, over: false };

  const active = conversations.filter(({ absence }) => absence === null);
  if (active.length === 0) {
    const last = conversations.toSorted((a, b) => b.lastContactAt - a.lastContactAt)[0];
    if (last === undefined) return { kind: 'never_carried', log };
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

  const of = (kind: Decision['kind']): (typeof decisions)[number] | undefined =>
    decisions.find(({ decision }) => decision.kind === kind);
  const taking = of('take');
  const keeping = of('keep')?.decision;
  const summing = of('summarize')?.decision;
  if (taking === undefined && keeping !== undefined)
    return keeping.step === 'budget'
      ? { kind: 'budget', how: 'waits', reason: keeping.reason }
      : { kind: 'moment', deliver: n.deliver ?? 'next', reason: keeping.reason };
  if (taking === undefined && summing !== undefined) return { kind: 'budget', how: 'will_summarize', reason: summing.reason };
  const [gate] = others;
  if (gate !== undefined) return { kind: 'behind_gate', id: gate.id, about: gate.notification.message, log };

  const there = fitting.find(({ conversation }) => conversation === taking?.conversation) ?? fitting[0];
  return {
    kind: 'due',
    address: there === undefined ? log : `${log}#${there.conversation}`,
    host: there?.host ?? null,
    wrappedOnly: there?.wrappedOnly ?? false,
    unseenSince: there !== undefined && there.lastContactAt <= item.at ? item.at : null,
    offered: item.offers > 0,
    ...(wrongClock === undefined || wrongClock.own
      ? {}
      : { hiddenBy: { pid: wrongClock.pid, machine: wrongClock.machine, offByMs: wrongClock.offByMs } }),
  };
}

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
      return { kind: 'summarized', at, conversation, read: item.read, readBy, ...(markedRead ? { markedRead } : {}) };
    case 'filtered':
      return closed?.cause === undefined
        ? { kind: 'filtered', key: reason, setting: reason, file: null, over: true, holds: facts.filter !== undefined }
        : filteredOf(facts, closed.cause, true);
    case 'expired':
      return { kind: 'expired', at: item.notification.expiresAt ?? at, over: true, ...forProject };
    case 'superseded':
      return { kind: 'superseded', by: newerIn(reason), reason, over: true };
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

function gateOf({ item, log, refusals, withheld = 0 }: VerdictFacts): Verdict {
  return {
    kind: 'gate',
    log,
    action: item.notification.action ?? null,
    refusals,
    ...(withheld > 0 ? { withheld } : {}),
    deliveredAt: item.outcome === 'delivered' ? (item.closedAt ?? null) : null,
    until: item.notification.expiresAt ?? null,
  };
}

function filteredOf({ log, filter }: VerdictFacts, cause: FilterCause, over: boolean): Verdict {
  switch (cause.kind) {
    case 'mute': {
      const holds = filter?.kind === 'mute' && filter.mute.pattern === cause.mute.pattern;
      const { pattern, by, until } = holds ? filter.mute : cause.mute;
      return { kind: 'muted', log, pattern, by, ...(until === undefined ? {} : { until }), over, holds };
    }
    case 'setting':
      return {
        kind: 'filtered',
        key: cause.key,
        setting: cause.says,
        file: cause.file ?? null,
        over,
        holds: filter !== undefined,
      };
    default:
      return cause satisfies never;
  }
}

const addressOf = ({ log }: VerdictFacts, conversation: string): string => (conversation === '' ? log : `${log}#${conversation}`);

/** A gate that stands before the conversations that the item may go to. */
const isBefore = (gate: Item, item: Item): boolean => {
  const holds = gate.takenBy ?? gate.audience;
  return holds === '' || item.audience === '' || holds === item.audience;
};

/** As the plan says it: `n_7 is newer with key tests`. */
const newerIn = (reason: string): NotificationId | null =>
  (/^(\S+) is newer with key /u.exec(reason)?.[1] as NotificationId | undefined) ?? null;

export function curesOf(verdict: Verdict, { log, id }: { readonly log: string; readonly id: NotificationId }): readonly Cure[] {
  switch (verdict.kind) {
    case 'muted':
      return [
        ...(verdict.holds ? [{ kind: 'unmute', log, pattern: verdict.pattern } as const] : []),
        ...(verdict.over ? [{ kind: 'requeue', log, id } as const] : []),
      ];
    case 'filtered':
      return [{ kind: 'setting', key: verdict.key }, ...(verdict.over ? [{ kind: 'requeue', log, id } as const] : [])];
    case 'paused':
      return [
        { kind: 'resume', log },
        { kind: 'show', log, id: verdict.id },
      ];
    case 'gate':
      return verdict.action === 'pause'
        ? [{ kind: 'resume', log }]
        : [
            { kind: 'mark_read', log, id },
            { kind: 'withdraw', log, id },
          ];
    case 'behind_gate':
      return [
        { kind: 'show', log, id: verdict.id },
        { kind: 'withdraw', log, id: verdict.id },
      ];
    case 'budget':
      return [{ kind: 'setting', key: /max_tokens/u.test(verdict.reason) ? 'budget.max_tokens' : 'budget.max_items' }];
    case 'superseded':
      return verdict.by === null ? [] : [{ kind: 'show', log, id: verdict.by }];
    case 'folded':
      return verdict.into === null ? [] : [{ kind: 'show', log, id: verdict.into }];
    case 'expired':
      return !verdict.over || verdict.held !== undefined ? [] : [{ kind: 'requeue', log, id }];
    case 'withdrawn':
    case 'known':
    case 'dropped':
    case 'left_out':
      return 'over' in verdict && !verdict.over ? [] : [{ kind: 'requeue', log, id }];
    case 'never_carried':
      return [log.endsWith('/*') ? { kind: 'withdraw', log, id } : { kind: 'connect' }];
    case 'away':
      if (verdict.goesOn !== undefined) return [{ kind: 'withdraw', log, id }];
      return verdict.wrappedOnly ? [{ kind: 'connect' }] : [];
    case 'due':
      return verdict.wrappedOnly ? [{ kind: 'connect' }] : [];
    case 'other_purpose':
    case 'moment':
      return [{ kind: 'withdraw', log, id }];
    case 'offered':
    case 'delivered':
    case 'summarized':
    case 'passed_on':
      return [];
    default:
      return verdict satisfies never;
  }
}
