import { codePoint, isBlank, unclearIn } from './blank.ts';
import { defined } from './defined.ts';
import { isTooDeep, type Json, jsonSize, shownJson, tooDeep } from './json.ts';
import { EarpieceError } from './errors.ts';
import { checkExpiry, endOfLifetime, isTime, MAX_DELAY } from './lifetime.ts';

/** The id of a notification, unique in its log. The producer chooses this id as an idempotency key, or the inbox makes the id. */
export type NotificationId = string & { readonly __brand: 'NotificationId' };

/**
 * The levels, the least severe first. Stores keep a level as its index in this list. Only append to the list, because any other
 * change gives stored notifications another level.
 */
export const LEVELS = ['info', 'warning', 'error', 'critical'] as const;
export type Level = (typeof LEVELS)[number];
export const levelRank = (level: Level): number => LEVELS.indexOf(level);

export type Kind = { readonly source: string; readonly name: string };
export const formatKind = (kind: Kind): string => `${kind.source}.${kind.name}`;

export const ACTIONS = ['cancel', 'pause', 'resume'] as const;
export type Action = (typeof ACTIONS)[number];

export const MOMENTS = ['next', 'after_tool', 'next_cycle', 'cycle_end', 'turn_start', 'turn_end', 'now'] as const;
/**
 * When a notification may be delivered. `at` is epoch milliseconds. `afterTurns` counts turns that start after the notification
 * is queued. `afterTool` is the name of the tool whose result carries the notification.
 */
export type Deliver =
  | (typeof MOMENTS)[number]
  | { readonly at: number }
  | { readonly afterTurns: number }
  | { readonly afterTool: string };

/**
 * The sender and the cause of a notification. `depth` counts agent-to-agent hops. `cause`: the id of the notification that led to
 * this notification, or `requeued by` and a name. `token`: the id of the send-only token with which the notification was queued.
 * The server sets `token`. `words`: set if an agent chose the content; Earpiece sets this field.
 */
export type Origin = {
  readonly agent?: string;
  readonly tool?: string;
  readonly person?: string;
  readonly cause?: string;
  readonly token?: string;
  readonly words?: true;
  readonly depth: number;
};

/** Whether the notification is a reminder, or a subscriber made it from a reminder's event. */
export const isReminder = ({ kind, subscriber }: Pick<Notification, 'kind' | 'subscriber'>): boolean =>
  (subscriber?.event.type ?? formatKind(kind)) === 'timer.fired';

/**
 * Returns a name for the state that a notification with `supersede` reports. The name contains the person or the agent that sent
 * the notification, so that a sender replaces only its own notifications. All agents without a known name share one name. A
 * subscriber's notification is compared without its sender, because processes of an agent and other processes report the same
 * events. Undefined without `supersede`.
 */
export function stateKeyOf(notification: Pick<Notification, 'supersede' | 'key' | 'origin' | 'subscriber'>): string | undefined {
  const { supersede, key, origin, subscriber } = notification;
  if (!supersede || key === undefined) return undefined;
  const agent = subscriber === undefined ? (origin?.agent ?? (origin?.words ? '?' : undefined)) : undefined;
  return [origin?.person ?? '', agent ?? '', key].join('\n');
}

/**
 * The subscriber of a notification, as it was when the bus queued the notification. A later change of the subscriber does not
 * change this copy. At delivery, the subscriber's template renders its notifications as a group.
 */
export type Subscribed = {
  readonly id: string;
  /** The first event that the notification reports. */
  readonly event: { readonly type: string; readonly source: string; readonly severity: string; readonly time: number };
  /**
   * The hash of the template's text. The renderer finds the template by this hash. Undefined for a subscriber without a template.
   */
  readonly template?: string;
  /** The maximum number of notifications in one line. */
  readonly group: number;
  /**
   * True if this notification only counts events of a storm. Such a notification may join a line that already has `group`
   * notifications.
   */
  readonly rest?: true;
  /** True if this notification repeats a recent event, and waits for the end of the dedupe window only for that reason. */
  readonly repeats?: true;
  /** True if the subscriber's critical notifications cannot be filtered. */
  readonly core?: true;
  /** The delay before the notification wakes an idle agent, in ms, so that related notifications wake the agent only once. */
  readonly wakeAfterMs?: number;
};

/**
 * A short message for an agent. Times are epoch milliseconds.
 * - `key`: notifications of one key are about one thing. With `supersede`, the newest notification replaces older ones of the
 *   same sender that also have `supersede`. Without `supersede`, the notifications are counted together.
 * - `about`: a fact that the agent may learn by itself (`handle:build`, `file:/a/b.ts`, `call:toolu_1`). The notification closes
 *   as known when the agent has learned the fact.
 * - `needs`: the Earpiece tool that `instruction` asks for. An agent without that tool reads `otherwise` as instruction
 *   (`readBy`).
 * - `purpose`: a conversation with another purpose does not take the notification. A conversation without a purpose takes any
 *   notification.
 * - `subscriber`: set only by the bus, see `Subscribed`.
 * - `expiresAt`: null or undefined means never.
 */
export type Notification = {
  readonly id: NotificationId;
  readonly kind: Kind;
  readonly level: Level;
  readonly message: string;
  readonly data?: Json;
  readonly key?: string;
  readonly supersede?: true;
  readonly about?: string;
  readonly count?: number;
  readonly firstAt?: number;
  readonly expiresAt?: number | null;
  readonly deliver?: Deliver;
  readonly action?: Action;
  readonly instruction?: string;
  readonly needs?: Needs;
  readonly purpose?: string;
  readonly subscriber?: Subscribed;
  readonly requeues?: NotificationId;
  readonly origin?: Origin;
};

/** The Earpiece tool that an instruction asks for, and the text for an agent without that tool. */
export type Needs = { readonly tool: string; readonly otherwise: string };

/** The input of a producer. Only `message` is required. */
export type NotificationInput = {
  /**
   * Your own id, unique in the agent's log, without "~", blanks, invisible characters, commas, and the bars and squares of
   * Earpiece's lists. If the same sender queues the same id again, nothing changes. If another sender queues this id, or the
   * action differs, the error is `conflict`. Default: a new id.
   */
  readonly id?: string;
  /** `"source.name"`, or both parts. Filters and mutes match the kind. Default `user.message`. */
  readonly kind?: string | Kind;
  /**
   * Default `info`, or `critical` with the action `cancel` or `pause`. A critical notification interrupts the agent, unless its
   * action is `resume`.
   */
  readonly level?: Level;
  readonly message: string;
  /** Structured data, which the model reads as JSON after the message. */
  readonly data?: Json;
  /**
   * The thing that the notification is about. Open notifications of one key can be withdrawn together. Without `supersede`, they
   * are counted together.
   */
  readonly key?: string;
  /** Needs `key`: the notification replaces older notifications of this key that the same sender also queued with `supersede`. */
  readonly supersede?: boolean;
  /**
   * A fact that the agent may learn by itself (`file:/a/b.ts`). The notification is not delivered after the agent has learned
   * this fact.
   */
  readonly about?: string;
  /**
   * When the notification expires, in epoch milliseconds, after the time in `deliver`. Null: never. The default depends on the
   * level.
   */
  readonly expiresAt?: number | null;
  /**
   * The time until the notification expires, in milliseconds from now, or from the time in `deliver`. Set this field instead of
   * `expiresAt`.
   */
  readonly ttlMs?: number;
  /**
   * When the notification may be delivered. `inMs`: milliseconds from now. Default `next`: with the next message to the model.
   */
  readonly deliver?: Deliver | { readonly inMs: number };
  /** Asks the agent for this action. `cancel` and `pause` make the notification an interrupt. */
  readonly action?: Action;
  /** A request to the agent. */
  readonly instruction?: string;
  /** The Earpiece tool that `instruction` asks for. An agent without that tool reads `otherwise` as instruction. */
  readonly needs?: Needs;
  /**
   * A conversation with another purpose does not take the notification. A conversation without a purpose takes any notification.
   */
  readonly purpose?: string;
  /** The sender. The model reads the text in quotation marks, as the words of `person`, or else of `agent` (`project/agent`). */
  readonly origin?: Partial<Omit<Origin, 'token' | 'words'>>;
  /** The number of occurrences, if the producer counts them itself. Default 1. */
  readonly count?: number;
  /** The time of the first occurrence, in epoch milliseconds. Set this field together with `count`. */
  readonly firstAt?: number;
};

export const LIMITS = {
  /** The maximum length of a message. For a longer text, send the path of a file. */
  messageChars: 1_048_576,
  instructionChars: 65_536,
  dataBytes: 262_144,
  idChars: 256,
  keyChars: 256,
  nameChars: 64,
} as const;

const KIND_PART = /^[A-Za-z0-9_-]+$/;

/** Whether the notification raises the gate of its conversations. */
export function isInterrupt(notification: Pick<Notification, 'level' | 'action'>): boolean {
  return isStop(notification.action) || (notification.level === 'critical' && notification.action !== 'resume');
}

/** Returns the time for which the notification waits. An interrupt and a critical notification wait for no time. */
export const waitsUntil = ({ deliver, level, action }: Pick<Notification, 'deliver' | 'level' | 'action'>): number | undefined =>
  typeof deliver === 'object' && 'at' in deliver && level !== 'critical' && !isStop(action) ? deliver.at : undefined;

/** Whether the action asks the agent to stop. Such a request is critical unless its sender names another level. */
const isStop = (action: Action | undefined): boolean => action === 'cancel' || action === 'pause';

/** Built-in sources whose notifications contain all of their data in the message. */
const SAY_THEIR_DATA: ReadonlySet<string> = new Set(['task', 'mcp']);

/** Whether a view shows the data after the message. A subscriber's template itself decides which data it shows. */
export const showsData = ({ data, subscriber, kind }: Pick<Notification, 'data' | 'subscriber' | 'kind'>): boolean =>
  data !== undefined && subscriber === undefined && !SAY_THEIR_DATA.has(kind.source) && !isOwnNote(kind);

/** Whether the notification is an agent's note to itself. The data of such a note repeats the message. */
const isOwnNote = ({ source, name }: Notification['kind']): boolean => source === 'agent' && name.startsWith('self.');

export function parseKind(text: string): Kind {
  const dot = text.indexOf('.');
  const source = dot < 0 ? '' : text.slice(0, dot);
  const name = dot < 0 ? '' : text.slice(dot + 1);
  const fine = (part: string): boolean => part.length <= LIMITS.nameChars && KIND_PART.test(part);
  if (!fine(source) || !name.split('.').every(fine) || name.length > LIMITS.nameChars)
    throw new EarpieceError(
      'bad_notification',
      `kind ${JSON.stringify(text.slice(0, 80))} must be "source.name" (letters, digits, "_" and "-", at most ${LIMITS.nameChars} each), e.g. "tool.failed"`,
    );
  return { source, name };
}

/**
 * Makes the name of a kind from free text, such as an agent's name. Characters that a kind cannot contain become `-`, and parts
 * between dots that are then empty are left out. A text without any allowed character becomes `unnamed`.
 */
export function kindNameFrom(raw: string): string {
  const parts = raw.split('.').map((part) => part.replaceAll(/[^A-Za-z0-9_-]+/gu, '-').replaceAll(/^-+|-+$/gu, ''));
  const name = parts
    .filter((part) => part !== '')
    .join('.')
    .slice(0, LIMITS.nameChars)
    .replace(/\.$/u, '');
  return name === '' ? 'unnamed' : name;
}

/**
 * Checks a producer's input and completes it. The caller supplies id, time, lifetimes and the function that limits the level.
 * Throws `bad_notification`, whose message names the field, the value and the allowed values, and `bad_argument` for an expiry
 * before the delivery time.
 */
export function makeNotification(
  input: NotificationInput,
  made: {
    id: string;
    now: number;
    ttlMs: Readonly<Record<Level, number | null>>;
    capped?: (level: Level, kind: Kind) => Level;
  },
): Notification {
  const refuse = (field: string, value: unknown, allowed: string): never => {
    const seen = shownJson(value);
    throw new EarpieceError('bad_notification', `${field} ${seen.length > 80 ? `${seen.slice(0, 80)}…` : seen}: ${allowed}`, {
      data: { field },
    });
  };
  const text = (field: string, value: unknown, max: number): string => {
    if (typeof value !== 'string' || isBlank(value)) return refuse(field, value, 'must be a text that is not blank');
    if (value.length > max)
      throw new EarpieceError(
        'bad_notification',
        `${field} has ${value.length} characters, at most ${max} are allowed; ${max < LIMITS.instructionChars ? 'choose a shorter value' : 'write the text to a file and send the path'}`,
        { data: { field } },
      );
    return value.isWellFormed() ? value : value.toWellFormed();
  };
  const optional = (field: string, value: unknown, max: number): string | undefined =>
    value === undefined ? undefined : text(field, value, max);

  const level = input.level ?? (isStop(input.action) ? 'critical' : 'info');
  if (!LEVELS.includes(level)) refuse('level', level, `must be one of ${LEVELS.join(', ')}`);
  const kind = typeof input.kind === 'object' ? parseKind(formatKind(input.kind)) : parseKind(input.kind ?? 'user.message');
  const message = text('message', input.message, LIMITS.messageChars);
  const id = text('id', input.id ?? made.id, LIMITS.idChars);
  const unclear = unclearIn(id);
  if (unclear !== undefined)
    refuse(
      'id',
      id,
      // oxlint-disable-next-line no-control-regex -- the error shows no control character
      /[\u0000-\u0020\u007f-\u009f,]/u.test(unclear)
        ? 'must not contain spaces, commas or control characters'
        : `must not contain ${codePoint(unclear)}, which is invisible or looks like a part of a list; leave this character out`,
    );
  if (input.action !== undefined && !ACTIONS.includes(input.action))
    refuse('action', input.action, `must be one of ${ACTIONS.join(', ')}`);
  if (input.supersede && input.key === undefined)
    refuse('supersede', true, 'needs a key, because the notification replaces older ones of its key');
  if (input.data !== undefined) {
    if (isTooDeep(input.data)) throw new EarpieceError('bad_notification', tooDeep('data'), { data: { field: 'data' } });
    const size = jsonSize(input.data);
    if (typeof size === 'string') refuse('data', typeof input.data, `must be JSON: ${size}`);
    else if (size > LIMITS.dataBytes)
      throw new EarpieceError(
        'bad_notification',
        `data has ${size} characters of JSON, at most ${LIMITS.dataBytes} are allowed; write the data to a file and send the path`,
        { data: { field: 'data' } },
      );
  }
  if (input.ttlMs !== undefined && input.expiresAt !== undefined)
    refuse('ttlMs', input.ttlMs, 'must not be given together with expiresAt; give only one of the two');
  if (input.ttlMs !== undefined && !(Number.isFinite(input.ttlMs) && input.ttlMs > 0))
    refuse('ttlMs', input.ttlMs, 'must be a number of milliseconds above 0');
  if (input.expiresAt !== undefined && input.expiresAt !== null && !isTime(input.expiresAt))
    refuse('expiresAt', input.expiresAt, 'must be epoch milliseconds or null');

  if (input.count !== undefined && !(Number.isInteger(input.count) && input.count >= 1))
    refuse('count', input.count, 'must be a whole number of at least 1');
  if (input.firstAt !== undefined && !isTime(input.firstAt)) refuse('firstAt', input.firstAt, 'must be epoch milliseconds');

  const deliver = checkDeliver(input.deliver, made.now, refuse);
  const capped = made.capped?.(level, kind) ?? level;
  const dueAt = waitsUntil({ ...defined({ deliver, action: input.action }), level: capped });
  checkExpiry(input.expiresAt, dueAt);
  const expiresAt =
    input.expiresAt === undefined ? endOfLifetime(input.ttlMs ?? made.ttlMs[level], made.now, dueAt) : input.expiresAt;
  const key = optional('key', input.key, LIMITS.keyChars);
  const about = optional('about', input.about, 4096);
  const instruction = optional('instruction', input.instruction, LIMITS.instructionChars);
  const { needs } = input;
  if (needs !== undefined && instruction === undefined)
    refuse('needs', needs.tool, 'must come with an instruction that asks for this tool');
  const otherwise = optional('needs.otherwise', needs?.otherwise, LIMITS.instructionChars);
  const tool = optional('needs.tool', needs?.tool, LIMITS.keyChars);
  const purpose = optional('purpose', input.purpose, LIMITS.nameChars);
  const origin = input.origin && { ...input.origin, depth: input.origin.depth ?? 0 };
  for (const who of ['agent', 'tool', 'person', 'cause'] as const) optional(`origin.${who}`, origin?.[who], LIMITS.idChars);
  if (origin && !(Number.isInteger(origin.depth) && origin.depth >= 0))
    refuse('origin.depth', origin.depth, 'must be a whole number of at least 0');
  return {
    id: id as NotificationId,
    kind,
    level: capped,
    message,
    ...defined({ data: input.data, key }),
    ...(input.supersede ? { supersede: true as const } : {}),
    ...defined({ about }),
    ...(input.count === undefined || input.count === 1 ? {} : { count: input.count }),
    ...defined({ firstAt: input.firstAt }),
    expiresAt,
    ...(deliver === undefined || deliver === 'next' ? {} : { deliver }),
    ...defined({ action: input.action, instruction }),
    ...(tool === undefined || otherwise === undefined ? {} : { needs: { tool, otherwise } }),
    ...defined({ purpose, origin }),
  };
}

/**
 * Checks the moment of delivery, and converts `inMs` to a time. The delay counts from the clock time of the process that queues
 * the notification. The clock of the program that asked may differ.
 */
function checkDeliver(
  deliver: NotificationInput['deliver'],
  now: number,
  refuse: (field: string, value: unknown, allowed: string) => never,
): Deliver | undefined {
  if (deliver === undefined) return undefined;
  if (typeof deliver === 'string')
    return MOMENTS.includes(deliver)
      ? deliver
      : refuse('deliver', deliver, `must be one of ${MOMENTS.join(', ')}, {at}, {inMs}, {afterTurns} or {afterTool}`);
  if (typeof deliver === 'object' && deliver !== null) {
    const at = 'inMs' in deliver ? now + deliver.inMs : 'at' in deliver ? deliver.at : undefined;
    if (at !== undefined && at - now > MAX_DELAY.ms)
      refuse('deliver', deliver, `must be at most ${MAX_DELAY.text} from now; write an earlier time`);
    if (at !== undefined && isTime(at)) return { at };
    if ('afterTurns' in deliver) {
      const { afterTurns } = deliver;
      if (Number.isInteger(afterTurns) && afterTurns > 0) return { afterTurns };
      return refuse('deliver.afterTurns', afterTurns, 'must be a whole number of turns of at least 1');
    }
    if ('afterTool' in deliver && typeof deliver.afterTool === 'string' && /^\S{1,256}$/.test(deliver.afterTool))
      return { afterTool: deliver.afterTool };
  }
  return refuse(
    'deliver',
    deliver,
    `must be one of ${MOMENTS.join(', ')}, {at: epoch ms}, {inMs: ms}, {afterTurns: n} or {afterTool: name}`,
  );
}
