/** Makes the timeline that a person reads from records and notifications. Pure: the same input gives the same timeline. */
import type { Json } from '../../../src/core/json.ts';
import type { KnownDraft, RecordedNotification, SentView, Stored } from '../../../src/core/records.ts';
import { reasonIn } from '../../../src/wire/client/index.ts';
import type { Doing, Level } from '../types.ts';
import { as, type Note, type Notes } from './notes.ts';

/** One line of the sent text: one notification, or several that were coalesced. */
export type Rider = {
  readonly id: string;
  readonly ids: readonly string[];
  readonly kind: string;
  readonly level: Level;
  readonly message: string;
  readonly instruction: string | null;
  /** The number of notifications that this line counts. */
  readonly count: number;
  readonly person: string | null;
  readonly sender: string | null;
  readonly action: string | null;
  readonly subscriber: string | null;
  readonly templated: boolean;
  /** The line of the sent text; null if it is unknown. */
  readonly text: string | null;
  readonly format: string | null;
  readonly queuedAt: number | null;
  readonly receipt: string | null;
  readonly markedBy: string | null;
  readonly repeated: boolean;
};

/** The carrier of a delivery. */
export type On =
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'person' }
  | { readonly kind: 'system' }
  | { readonly kind: 'hook'; readonly name: string }
  | { readonly kind: 'pulled' }
  /** The answer of the gate to a call. `made`: the call was made, and its result was withheld. */
  | { readonly kind: 'gate'; readonly name: string; readonly made: boolean };

type At = { readonly seq: number; readonly at: number };
export type Entry = At &
  (
    | { readonly kind: 'person'; readonly who: string; readonly text: string }
    | { readonly kind: 'system'; readonly text: string }
    | { readonly kind: 'agent'; readonly text: string; readonly truncated: boolean; readonly data: Json | undefined }
    | { readonly kind: 'thought'; readonly text: string }
    | {
        readonly kind: 'tool';
        readonly id: string;
        readonly name: string;
        readonly args: Json;
        /** The result of the call; undefined while the call runs. */
        readonly result: { readonly content: string; readonly isError: boolean; readonly at: number } | undefined;
      }
    | {
        readonly kind: 'ride';
        readonly on: On;
        readonly riders: readonly Rider[];
        /** The ids of notifications that are only summarized, by number and kind. */
        readonly summarized: readonly string[];
      }
    | {
        readonly kind: 'ended';
        readonly ids: readonly string[];
        readonly notes: readonly Note[];
        readonly outcome: string;
        readonly reason: string;
        readonly by: string;
      }
    /** `paused` says that a pause refused the call, even if the agent has read the pause. */
    | {
        readonly kind: 'refused';
        readonly on: string;
        readonly ids: readonly string[];
        readonly paused: boolean;
        /** Whether the call was made and only its result was withheld. */
        readonly made: boolean;
      }
    | { readonly kind: 'mark'; readonly text: string }
    | { readonly kind: 'record'; readonly type: string; readonly body: Json }
  );

export type TimelineOptions = {
  /** Whether to show all other records too, as they are in the log. */
  readonly everything?: boolean;
};

export function timelineOf(records: readonly Stored[], notes: Notes, { everything = false }: TimelineOptions = {}): Entry[] {
  const entries: Entry[] = [];
  const toolAt = new Map<string, number>();
  const offers = new Map<string, { record: Stored; body: Extract<KnownDraft, { type: 'carrier_offered' }> }>();
  const sentBefore =
    (carrier: string | undefined) =>
    (id: string): boolean =>
      [...offers.values()].some(({ body }) => body.carrier !== carrier && (body.ids as readonly string[]).includes(id));
  for (const record of records) {
    const { seq, at, body } = record;
    const place = { seq, at };
    const raw = (): void =>
      void (everything && entries.push({ ...place, kind: 'record', type: body.type, body: body as unknown as Json }));
    const request = as(body, 'chat_request');
    if (request !== undefined) {
      if (request.content !== '')
        entries.push(
          request.source === 'system'
            ? { ...place, kind: 'system', text: request.content }
            : { ...place, kind: 'person', who: request.author ?? 'you', text: request.content },
        );
      ride(request, { kind: request.source === 'system' ? 'system' : 'person' });
      continue;
    }
    const answer = as(body, 'chat_response');
    if (answer !== undefined) {
      if (answer.reasoning !== undefined && answer.reasoning.trim() !== '')
        entries.push({ ...place, kind: 'thought', text: answer.reasoning });
      if (answer.message !== undefined || answer.data !== undefined)
        entries.push({
          ...place,
          kind: 'agent',
          text: answer.message ?? '',
          truncated: answer.truncated ?? false,
          data: answer.data,
        });
      continue;
    }
    const call = as(body, 'tool_call_request');
    if (call !== undefined) {
      toolAt.set(call.id, entries.length);
      entries.push({ ...place, kind: 'tool', id: call.id, name: call.name, args: call.arguments, result: undefined });
      continue;
    }
    const result = as(body, 'tool_call_response');
    if (result !== undefined) {
      const of = toolAt.get(result.id);
      const before = of === undefined ? undefined : entries[of];
      const ended = { content: result.content, isError: result.is_error, at };
      if (of !== undefined && before?.kind === 'tool') entries[of] = { ...before, result: ended };
      else entries.push({ ...place, kind: 'tool', id: result.id, name: 'a tool', args: null, result: ended });
      ride(result, { kind: 'tool', name: before?.kind === 'tool' ? before.name : 'a tool' });
      continue;
    }
    const offered = as(body, 'carrier_offered');
    if (offered !== undefined) {
      offers.set(offered.carrier, { record, body: offered });
      raw();
      continue;
    }
    const released = as(body, 'carrier_released');
    if (released !== undefined && NEVER_SENT.has(released.reason)) offers.delete(released.carrier);
    const confirmed = as(body, 'carrier_confirmed');
    if (confirmed !== undefined) {
      const offer = offers.get(confirmed.carrier);
      if (offer === undefined) raw();
      else {
        const { view, ids, summarizes = [], on, at_point, reads } = offer.body;
        const tool = at_point === 'tool_result' || at_point === 'tool_batch_end';
        entries.push({
          ...place,
          kind: 'ride',
          on: reads
            ? { kind: 'pulled' }
            : tool
              ? { kind: 'tool', name: on ?? 'a tool' }
              : (refusalOf(records, offer.record.seq, ids) ?? { kind: 'hook', name: on ?? at_point }),
          riders: ridersOf({ view, ids, carried: [], sentBefore: sentBefore(offer.body.carrier) }, notes),
          summarized: summarizes,
        });
      }
      continue;
    }
    const closed = as(body, 'notification_closed');
    if (closed !== undefined) {
      const known = closed.ids.flatMap((id) => notes.get(id) ?? []);
      // The withdrawal of a delivered notification is shown only among all records.
      const { outcome, by, ids } = closed;
      if (
        known.every((note) => note.receipt !== 'delivered' && note.receipt !== 'read' && note.receipt !== 'observed') ||
        everything
      )
        entries.push({ ...place, kind: 'ended', ids, notes: known, outcome, reason: reasonIn(closed), by });
      continue;
    }
    const refused = as(body, 'gate_refused');
    if (refused !== undefined) {
      entries.push({
        ...place,
        kind: 'refused',
        on: refused.on,
        ids: refused.ids,
        paused: refused.ids.some((id) => notes.get(id)?.action === 'pause'),
        made: refused.made === true,
      });
      continue;
    }
    const mark = markOf(body);
    if (mark !== undefined) entries.push({ ...place, kind: 'mark', text: mark });
    else raw();

    function ride(
      carrying: { notifications?: readonly RecordedNotification[]; view?: SentView; summarizes?: readonly string[] },
      on: On,
    ): void {
      const { notifications = [], view, summarizes = [] } = carrying;
      if (notifications.length === 0 && summarizes.length === 0) return;
      entries.push({
        ...place,
        kind: 'ride',
        on,
        riders: ridersOf(
          { view, ids: notifications.map(({ id }) => id), carried: notifications, sentBefore: sentBefore(undefined) },
          notes,
        ),
        summarized: summarizes,
      });
    }
  }
  return entries;
}

/** Returns the refusal of a call that was appended together with the offer of these notifications. */
function refusalOf(records: readonly Stored[], offer: number, ids: readonly string[]): On | undefined {
  for (const { seq, body } of records) {
    const refused = seq > offer ? as(body, 'gate_refused') : undefined;
    if (refused?.ids.some((id) => ids.includes(id))) return { kind: 'gate', name: refused.on, made: refused.made === true };
  }
  return undefined;
}

/** The reasons of a release that say that the view was not sent. */
const NEVER_SENT: ReadonlySet<string> = new Set(['late', 'too_big']);

type Carrier = {
  readonly view: SentView | undefined;
  readonly ids: readonly string[];
  readonly carried: readonly RecordedNotification[];
  readonly sentBefore: (id: string) => boolean;
};

function ridersOf({ view, ids, carried, sentBefore }: Carrier, notes: Notes): Rider[] {
  // A frame says `repeated` if one of its items was sent before. If no loaded record shows which item, all items count as
  // repeated.
  const again = view?.repeated === true ? ids.filter(sentBefore) : [];
  const isRepeated = (group: readonly string[]): boolean =>
    view?.repeated === true && (again.length === 0 || group.some((id) => again.includes(id)));
  const lines: readonly { ids: readonly string[]; text: string | null }[] = [
    ...(view?.items ?? []),
    // A view may have no line for a notification, such as a view that only signals. These notifications are added here.
    ...ids
      .filter((id) => !view?.items.some((item) => (item.ids as readonly string[]).includes(id)))
      .map((id) => ({ ids: [id], text: null })),
  ];
  return lines.flatMap(({ ids: group, text }): Rider[] => {
    const [first = ''] = group;
    const held = carried.filter(({ id }) => group.includes(id));
    const known = group.flatMap((id) => notes.get(id) ?? []);
    const record = held[0];
    const note = known[0];
    const happened = known.length > 0 ? known.reduce((sum, each) => sum + each.count, 0) : group.length;
    return [
      {
        id: first,
        ids: group,
        kind: record === undefined ? (note?.kind ?? 'notification') : `${record.kind.source}.${record.kind.name}`,
        level: record === undefined ? (note?.level ?? 'info') : (record.level ?? 'info'),
        message: record?.message ?? note?.message ?? text ?? '',
        instruction: record?.instruction ?? note?.instruction ?? null,
        count: Math.max(happened, group.length),
        person: record?.origin?.person ?? note?.person ?? null,
        sender: record?.origin?.agent ?? note?.sender ?? null,
        action: record?.action ?? note?.action ?? null,
        subscriber: record?.subscriber?.id ?? note?.subscriber ?? null,
        templated: record?.subscriber?.template !== undefined || (note?.templated ?? false),
        text,
        format: view?.format ?? null,
        queuedAt: known.length === 0 ? null : Math.min(...known.map(({ at }) => at)),
        receipt: note?.receipt ?? null,
        markedBy: note?.markedBy ?? null,
        repeated: isRepeated(group),
      },
    ];
  });
}

/** Returns the state of an Earpiece agent, from its newest records. */
export function doingIn(records: readonly Stored[]): Doing | null {
  const answered = new Set<string>();
  /** The state if no earlier call of the same answer still runs. */
  let thinking: Doing | null = null;
  for (const { at, body } of records.toReversed()) {
    const since = { since: at, conversation: body.conversation ?? null };
    switch (body.type) {
      case 'tool_call_response':
        answered.add(String((body as Loose)['id']));
        break;
      case 'tool_call_request': {
        const { id, name } = body as Loose;
        if (!answered.has(String(id))) return { kind: 'tool', what: String(name), ...since };
        thinking ??= { kind: 'thinking', what: null, ...since };
        break;
      }
      case 'turn_start':
      case 'chat_request':
        return thinking ?? { kind: 'thinking', what: null, ...since };
      case 'chat_response':
      case 'agent_stopped':
      case 'agent_failed':
        return thinking ?? { kind: 'nothing', what: null, since: null, conversation: null };
      default:
    }
  }
  return thinking;
}

/** Returns the position at which the running turn of an Earpiece agent began; null if no turn runs. */
export function runningTurnIn(records: readonly Stored[]): number | null {
  const doing = doingIn(records);
  if (doing === null || doing.kind === 'nothing') return null;
  // If the beginning of the turn is not loaded, all loaded records belong to the turn.
  return records.findLast(({ body }) => body.type === 'turn_start')?.seq ?? 0;
}

/** Records that only the host of the conversation writes. Such records prove that the host was active. */
const ITS_OWN = /^(?:turn_start|chat_|tool_call_|carrier_(?:offered|confirmed)|gate_refused|agent_)/u;

/**
 * Returns the times of a conversation's last contact and last delivery from its records, because presence is written less often.
 */
export function contactIn(
  records: readonly Stored[],
  conversation: string,
): { readonly seenAt: number | null; readonly toldAt: number | null } {
  const own = ({ body }: Stored): boolean => body.conversation === conversation && ITS_OWN.test(body.type);
  const tells = ({ body }: Stored): boolean =>
    body.type === 'carrier_confirmed' ||
    ((body as Loose)['notifications'] as readonly unknown[] | undefined)?.length !== undefined;
  return {
    seenAt: records.findLast(own)?.at ?? null,
    toldAt: records.findLast((record) => own(record) && tells(record))?.at ?? null,
  };
}

/** Returns the names of the called tools, by the ids of the calls. */
export const callsIn = (records: readonly Stored[]): ReadonlyMap<string, string> =>
  new Map(
    records.flatMap(({ body }) => {
      const call = as(body, 'tool_call_request');
      return call === undefined ? [] : [[call.id, call.name] as const];
    }),
  );

type Loose = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function markOf(body: Stored['body']): string | undefined {
  const loose = body as Loose;
  switch (body.type) {
    case 'agent_woken':
      return 'woken by a waiting notification';
    case 'agent_stopped':
      return 'stopped by a person';
    case 'agent_failed':
      return `the turn failed: ${text(loose['reason'])}`;
    case 'carrier_redacted':
      return `the provider refused the request with these notifications, so one line replaces the notifications: ${text(loose['reason'])}`;
    case 'conversation_forked':
      return `forked from #${text(loose['from'])}: the lines above belong to that conversation`;
    case 'conversation_imported':
      return 'imported';
    case 'compaction':
      return 'the entries above were compacted';
    case 'handle_spawned':
      return `${text(loose['tool']) || text(loose['id'])} runs in the background`;
    case 'handle_ended':
      return `${text(loose['tool']) || text(loose['id'])} ended in the background`;
    case 'inquiry_request':
      return `asks: ${text(loose['question'])}`;
    case 'template_failed':
      return 'a template failed, so the message was sent without the template';
    default:
      return undefined;
  }
}
