/** Describes verdicts and cures in plain words, for the terminal and the console. */
import { sayCause } from '../cause.ts';
import { offBy } from '../clocks.ts';
import type { Deliver } from '../notification.ts';
import type { ContactPoint } from '../records.ts';
import type { Cure } from './cures.ts';
import type { Absence, Rides, RodeOn } from './facts.ts';
import type { Verdict } from './kinds.ts';
import { named, quoted } from './quoted.ts';

/** Formats times for the reader. All times are epoch ms. */
export type TimeWords = {
  /** `10:31`, with the day if it is not today. */
  readonly clock: (at: number) => string;
  /** `5.2 s`, `31 min`. */
  readonly span: (ms: number) => string;
  readonly now: number;
};

const NOT_FOR_NEW = 'Conversations that begin from now on do not get the notification.';

/** Describes a verdict in one to four sentences. The first sentence is complete without the others. */
export function sayVerdict(verdict: Verdict, words: TimeWords): string {
  const { clock, span, now } = words;
  const ago = (at: number): string => `${clock(at)} (${span(Math.max(0, now - at))} ago)`;
  switch (verdict.kind) {
    case 'never_carried':
      return verdict.log.endsWith('/*')
        ? `Waiting for the whole project ${named(verdict.log.slice(0, -2))}: each conversation that begins while the notification is open gets a copy.`
        : `Waiting: ${named(verdict.log)} has not made contact yet. ${
            verdict.deliver === undefined
              ? 'The notification is delivered at the first contact.'
              : `After the first contact, the notification ${momentOf({ deliver: verdict.deliver }, words)}.`
          }`;
    case 'away':
      return `Waiting: ${named(verdict.address)} is away. No contact since ${ago(verdict.lastContactAt)}${ABSENCES[verdict.absence]}.${
        verdict.goesOn !== undefined
          ? ` ${named(verdict.goesOn)} has taken over: send the notification to that conversation.`
          : verdict.wrappedOnly
            ? ' This agent gets notifications only when it calls a wrapped tool.'
            : ''
      }`;
    case 'other_purpose':
      return `Waiting for a conversation of the purpose ${named(verdict.purpose)}: no active conversation of ${named(verdict.log)} has that purpose.`;
    case 'paused':
      return `Waiting: ${named(verdict.log)} is paused${by(verdict.by === null ? null : named(verdict.by))} since ${ago(verdict.since)}. The pause holds until ${
        verdict.until === null
          ? 'a person resumes the agent'
          : `a person resumes the agent, at most until ${clock(verdict.until)}`
      }.`;
    case 'muted': {
      const mute = `${named(verdict.by)} muted ${named(verdict.pattern)} for ${named(verdict.log)}`;
      if (!verdict.holds) return `Filtered: ${mute}. The mute has ended.`;
      const until = typeof verdict.until === 'number' ? `until ${clock(verdict.until)}` : 'until a person lifts the mute';
      return verdict.over
        ? `Filtered: ${mute} ${until}.`
        : `Muted: ${mute} ${until}. The notification will be filtered at the next message.`;
    }
    case 'filtered':
      return `Filtered: ${verdict.setting}${verdict.file === null ? '' : `, set in ${verdict.file}`}.${
        verdict.over ? '' : ' The notification will be filtered at the next message.'
      }`;
    case 'budget':
      return verdict.how === 'waits'
        ? `Waiting: the next message has no room for the notification (${sayCause(verdict.cause)}). A later message carries the notification.`
        : `Waiting: the next message has no room for the text (${sayCause(verdict.cause)}) and only counts the notification in a summary.`;
    case 'summarized':
      return `Counted in a summary: the message at ${clock(verdict.at)} had no room for the text. ${
        !verdict.read
          ? 'The agent has not read the text.'
          : verdict.markedRead === true
            ? `The notification was ${markedBy(verdict.readBy)}. Nothing proves that the agent has read the text.`
            : `The agent has since read the text${reader(verdict.readBy)}.`
      }`;
    case 'gate': {
      const refused = gateCalls(verdict.refusals, verdict.withheld ?? 0);
      const carried = verdict.deliveredAt === null ? '' : ` The interrupt was delivered at ${clock(verdict.deliveredAt)}.`;
      const passing = verdict.wrappedOnly ? ' The gate refuses calls of wrapped tools; built-in tools still run.' : '';
      const end = verdict.until === null ? '' : `, at the latest at ${clock(verdict.until)}`;
      const read =
        verdict.deliveredAt === null
          ? 'the agent has read the interrupt'
          : 'a later call or message proves that the agent has read it';
      return verdict.action === 'pause'
        ? `The gate of ${named(verdict.log)} is up because of this pause; so far ${refused}.${passing}${carried} The gate goes down when a person resumes the agent${end}.`
        : `The gate of ${named(verdict.log)} is up because of this interrupt; so far ${refused}.${passing}${carried} The gate goes down when ${read}${end}.`;
    }
    case 'behind_gate':
      return `Waiting: the gate of ${named(verdict.log)} is up because of ${named(verdict.id)} (${quoted(brief(verdict.about))}). The notification is delivered after the agent has read that interrupt.`;
    case 'moment':
      return `Waiting: the notification ${momentOf(verdict, words)}.`;
    case 'due': {
      if (verdict.hiddenBy !== undefined) {
        const { pid, machine, offByMs } = verdict.hiddenBy;
        return `Waiting: process ${pid} on ${named(machine)} delivers to ${named(verdict.address)}, and hides the notification as expired. The clock of that process is ${offBy(offByMs)}. The notification is delivered when that clock is corrected, or by another process.`;
      }
      const again = verdict.offered ? ' An earlier offer was not confirmed, so the notification will be marked as repeated.' : '';
      const asleep =
        verdict.terminalUnknown === true
          ? ' Earpiece does not know the terminal of this session, so the notification does not wake the session (see earpiece doctor).'
          : '';
      if (!verdict.wrappedOnly) return `Waiting for the next message to ${named(verdict.address)}.${asleep}${again}`;
      const since =
        verdict.unseenSince === null
          ? ''
          : ` No wrapped tool was called since the notification was queued (${span(Math.max(0, now - verdict.unseenSince))} ago).`;
      return `Waiting for the next result of a wrapped tool of ${named(verdict.address)}.${since} Built-in tools carry no notifications.${again}`;
    }
    case 'offered':
      return `On the way: the notification was sent to ${named(verdict.address)} ${rode(verdict.rodeOn)}, and waits for the client's confirmation${
        verdict.until === null ? '' : `, at most until ${clock(verdict.until)}`
      }.`;
    case 'delivered': {
      const sent = `Delivered at ${clock(verdict.at)} ${rode(verdict.rodeOn)}, ${span(verdict.afterMs)} after the notification was queued.`;
      const again =
        verdict.offers > 1
          ? ` The notification was sent ${verdict.offers} times, and marked as repeated from the second time on.`
          : '';
      switch (verdict.evidence) {
        case 'read':
          return `${sent}${again} The agent has read the notification${reader(verdict.readBy)}.`;
        case 'marked':
          return `${sent}${again} The notification was ${markedBy(verdict.readBy)}. Nothing proves that the agent has read the notification.`;
        case 'observed':
          return `${sent}${again} The notification was seen in the agent's transcript.`;
        case 'none':
          return `${sent}${again} Nothing proves yet that the agent has read the notification.`;
        default:
          return verdict.evidence satisfies never;
      }
    }
    case 'superseded':
      return verdict.by === null
        ? `Superseded: ${verdict.reason}.`
        : `Superseded: ${named(verdict.by)} is newer and ${verdict.over ? 'replaced' : 'replaces'} the notification.`;
    case 'expired':
      if (verdict.forProject) return `Expired at ${clock(verdict.at)}. ${NOT_FOR_NEW}`;
      if (verdict.held !== undefined) {
        const { log, refusals, withheld = 0, deliveredAt } = verdict.held;
        const carried = deliveredAt === null ? '' : ` The interrupt was delivered at ${clock(deliveredAt)}.`;
        return `Expired at ${clock(verdict.at)}, and the gate of ${named(log)} then went down; before that, ${gateCalls(refusals, withheld)}.${carried}`;
      }
      return verdict.offByMs === undefined
        ? `Expired at ${clock(verdict.at)}, before a message could carry the notification.`
        : `Hidden: the notification has expired by the clock of this process, which is ${offBy(verdict.offByMs)}. The notification stays in the log; a process with a correct clock delivers it.`;
    case 'withdrawn': {
      const seen = verdict.maybeSeen
        ? 'The notification had been sent before: the agent may have seen it.'
        : 'The agent did not get the notification.';
      return `Withdrawn by ${byWhom(verdict.by)} at ${clock(verdict.at)}: ${quoted(verdict.reason)}. ${verdict.forProject ? NOT_FOR_NEW : seen}`;
    }
    case 'known':
      return verdict.about === null
        ? `Not needed: ${verdict.reason}.`
        : `Not needed: the agent already ${verdict.over ? 'knew' : 'knows'} ${named(verdict.about)}.`;
    case 'dropped':
      return `Dropped at ${clock(verdict.at)}: ${verdict.reason}.`;
    case 'left_out':
      return `Left out at ${clock(verdict.at)}: ${quoted(verdict.reason)}. The model can no longer read the notification.`;
    case 'folded':
      return verdict.into === null
        ? 'Added to the count of another notification with the same key.'
        : `Added to the count of ${named(verdict.into)}, which had the same key and was still open.`;
    case 'passed_on':
      return `Transferred at ${clock(verdict.at)} to ${named(verdict.to)}, the conversation that took over when this conversation ended.`;
    default:
      return verdict satisfies never;
  }
}

/**
 * Describes the gate's effect on tool calls so far. A call that was made, and whose result the gate withheld, does not count as
 * refused.
 */
function gateCalls(refusals: number, withheld: number): string {
  const refused = refusals === 1 ? '1 tool call was refused' : `${refusals} tool calls were refused`;
  if (withheld === 0) return refused;
  const made =
    withheld === 1
      ? '1 tool call was made and its result is withheld'
      : `${withheld} tool calls were made and their results are withheld`;
  return refusals === 0 ? made : `${refused}, and ${made}`;
}

const ABSENCES: Readonly<Record<Absence, string>> = {
  ended: '; the session has ended',
  process_gone: '; the process of the session has exited',
  silent: '',
};

const by = (who: string | null): string => (who === null ? '' : ` by ${who}`);
/** Returns `Mira in the console` for an action in a browser, and otherwise the name, quoted unless it is a plain word. */
export function byWhom(who: string): string {
  const person = /^browser(?: of (.+))?$/u.exec(who);
  if (person === null) return named(who);
  return `${person[1] === undefined ? 'a person' : named(person[1])} in the console`;
}
/** Describes a mark that the agent did not make itself: `marked as read by Mira in the console`. */
export const markedBy = (who: string | null): string => `marked as read${by(who === null ? null : byWhom(who))}`;
const reader = (who: string | null): string => (who === null ? '' : ` (${READER.test(who) ? who : quoted(who)})`);

const WORD = String.raw`(?:\u201c[^\u201d]*\u201d|[\p{L}\p{N}_/#@+\-]+(?:[.:][\p{L}\p{N}_/#@+\-]+)*)`;
/** Matches the reader that Earpiece names: a list of words without the signs that end a sentence. Clients choose their names. */
const READER = new RegExp(`^${WORD}(?:,? ${WORD})*$`, 'u');

const brief = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 60).toWellFormed()}…` : line;
};

function rode(on: RodeOn | null): string {
  if (on === null) return 'with a message';
  const { point, name, made = false } = on;
  switch (point) {
    case 'tool_result':
    case 'tool_batch_end':
      return name === 'get_notifications'
        ? 'in the answer of get_notifications'
        : `with the result of ${name === null ? 'a tool' : named(name)}`;
    case 'turn_start':
    case 'cycle_start':
      return 'with a message to the agent';
    case 'turn_end':
    case 'idle':
      return 'at the end of a turn';
    case 'forced':
      return name === null
        ? 'by an interrupt'
        : made
          ? `in place of the result of ${named(name)}, which ran`
          : `in place of a call of ${named(name)}`;
    case null:
      return 'with a message';
    default:
      return point satisfies never;
  }
}

/**
 * Describes the moment for which a notification waits ("arrives with the next tool result"). Uses the agent's contact points
 * if they are known.
 */
export function momentOf(
  { deliver, cause, rides }: Pick<Moment, 'deliver'> & Partial<Pick<Moment, 'cause' | 'rides'>>,
  { clock }: TimeWords,
): string {
  if (rides !== undefined && rides.at.length > 0) return `arrives ${ridesAt(rides)}`;
  if (typeof deliver === 'object') {
    if ('at' in deliver) return `arrives from ${clock(deliver.at)} on`;
    if ('afterTool' in deliver) return `arrives with the next result of ${named(deliver.afterTool)}`;
    const begun = cause?.kind === 'turns' ? ` (begun so far: ${cause.begun})` : '';
    return `arrives after ${deliver.afterTurns} ${deliver.afterTurns === 1 ? 'turn' : 'turns'}${begun}`;
  }
  return MOMENT_WORDS[deliver];
}

type Moment = Extract<Verdict, { readonly kind: 'moment' }>;

function ridesAt({ at, wrapped }: Rides): string {
  // `idle` comes right after `turn_end`, and `cycle_start` right after `tool_batch_end`, so only the earlier contact point is
  // named.
  const less = at.filter(
    (point) => !(point === 'idle' && at.includes('turn_end')) && !(point === 'cycle_start' && at.includes('tool_batch_end')),
  );
  const says = less.map((point) =>
    point === 'tool_result' && wrapped ? 'with the next result of a wrapped tool' : POINTS[point],
  );
  return [...new Set(says)].join(' or ');
}

const POINTS: Readonly<Record<ContactPoint, string>> = {
  turn_start: 'with the next prompt',
  cycle_start: 'with the next request to the model',
  tool_result: 'with the next tool result',
  tool_batch_end: 'with the next tool results',
  turn_end: 'at the end of this turn',
  idle: 'when the agent is idle',
  forced: 'with the next interrupt',
};

/** Describes the verdict on a notification that is not queued, as if it were queued now. */
export function sayForetold(verdict: Verdict, words: TimeWords): string {
  if (verdict.kind !== 'gate') return sayVerdict(verdict, words);
  const end = verdict.action === 'pause' ? 'a person resumes the agent' : 'the agent has read the notification';
  const begins = `The notification interrupts: the gate of ${named(verdict.log)} goes up.`;
  return verdict.wrappedOnly
    ? `${begins} Calls of wrapped tools are refused until ${end}; built-in tools still run.`
    : `${begins} Tool calls are refused until ${end}.`;
}

const MOMENT_WORDS: Readonly<Record<Extract<Deliver, string>, string>> = {
  next: 'arrives with the next message',
  after_tool: 'arrives with the next tool result',
  next_cycle: 'arrives with the next request to the model',
  cycle_end: 'arrives at the end of this cycle (after the batch of tools) or of the turn',
  turn_start: 'arrives at the start of the next turn',
  turn_end: 'arrives at the end of this turn',
  now: 'arrives with the next message',
};

/** Returns the command that a person types for this cure. No command marks a notification as read. */
export function cureCommand(cure: Exclude<Cure, { kind: 'mark_read' }>): string {
  switch (cure.kind) {
    case 'unmute':
      return `earpiece mute ${shown(cure.pattern)} ${shown(cure.log)} --off`;
    case 'resume':
      return `earpiece resume ${shown(cure.log)}`;
    case 'requeue':
      return `earpiece requeue ${shown(cure.id)}`;
    case 'setting':
      return `earpiece config explain ${shown(cure.key)}`;
    case 'withdraw':
      return `earpiece withdraw ${shown(cure.id)}`;
    case 'show':
      return `earpiece why ${shown(cure.id)} ${shown(cure.log)}`;
    case 'connect':
      return 'earpiece doctor';
    default:
      return cure satisfies never;
  }
}

/** Quotes a word for a shell. */
const shown = (word: string): string => (/^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
