/**
 * Shows an agent's work on a surface. A call is shown when it ends, with its result. A notification is shown when it is
 * delivered. The notifications of a batch of calls are shown below the last call. `running` contains the current calls, for a
 * surface that shows them live.
 */
import type { AgentEvent } from '../../agent/index.ts';
import type { Json } from '../../core/json.ts';
import { parseKind, type Notification, type NotificationId } from '../../core/notification.ts';
import { paint } from '../terminal.ts';
import type { Details } from './details.ts';
import { noteLines, pendingLine, resultLine, rodeLine, seconds, said } from './lines.ts';
import { safe, wrapAll } from './wrap.ts';

/** Shows a conversation, for example on a terminal or in a pipe. */
export interface Surface {
  /** The width in columns; Infinity if lines are never cut. */
  readonly width: number;
  /** Whether the surface itself shows open notifications for as long as they are open. */
  readonly showsPending: boolean;
  /** Prints finished lines, which are coloured and safe to print. */
  print(lines: readonly string[]): void;
  /** Shows the next words of the model, which are not yet safe to print. */
  text(piece: string): void;
  /** Ends the current text of the model. The narrator also calls `endText` if the model has written no text. */
  endText(): void;
}

/** The notifications of one carrier, with the texts that the model read. */
export type Delivered = {
  readonly notifications: readonly Notification[];
  readonly summarized: number;
  /** The texts that the model read. Notifications that share a text are one entry. */
  readonly said: readonly { readonly ids: readonly NotificationId[]; readonly text: string }[];
  /** When the oldest notification was queued, in epoch ms. `now` is the current time. */
  readonly queuedAt?: number;
  readonly now: number;
};

export type Running = { readonly name: string; readonly args: Json; readonly since: number; readonly progress: string };

type Block = 'none' | 'said' | 'text' | 'tools' | 'note';

export class Narrator {
  readonly #surface: Surface;
  /** The shortened texts for `/show`. If undefined, notifications are shown whole. */
  readonly #details: Details | undefined;
  readonly #lookUp: (ids: readonly NotificationId[]) => Promise<Delivered>;
  readonly #running = new Map<string, { name: string; args: Json; since: number; progress: string }>();
  /** Delivered notifications of a batch, kept until the last call of the batch is shown. */
  #riding: { readonly text: string; readonly delivered: Delivered } | undefined;
  #thought = '';
  #thoughtSince = 0;
  #block: Block = 'none';

  constructor(surface: Surface, details: Details | undefined, lookUp: (ids: readonly NotificationId[]) => Promise<Delivered>) {
    this.#surface = surface;
    this.#details = details;
    this.#lookUp = lookUp;
  }

  get running(): readonly Running[] {
    return [...this.#running.values()];
  }

  /** The model's current thought, or an empty text. */
  get thought(): string {
    return this.#thought;
  }

  /** Whether a call was printed last. The next call then follows without a blank line. */
  get amongCalls(): boolean {
    return this.#block === 'tools';
  }

  async tell(event: AgentEvent): Promise<void> {
    const { width } = this.#surface;
    if (event.type !== 'reasoning' && event.type !== 'usage') this.#thoughtOver();
    switch (event.type) {
      case 'text':
        this.#begin('text', event.delta);
        return;
      case 'reasoning':
        if (this.#thought === '') this.#thoughtSince = performance.now();
        this.#thought += event.delta;
        return;
      case 'tool_started':
        this.#surface.endText();
        this.#running.set(event.id, { name: event.name, args: event.args, since: performance.now(), progress: '' });
        return;
      case 'tool_progress': {
        const call = this.#running.get(event.id);
        const last = event.text.split('\n').findLast((line) => line.trim() !== '');
        if (call && last !== undefined) call.progress = safe(last.trim());
        return;
      }
      case 'tool_ended': {
        const call = this.#running.get(event.id) ?? { name: event.name, args: {} };
        this.#running.delete(event.id);
        const number = this.#numbered(`result of ${event.name}`, event.content);
        this.#print('tools', [resultLine(call, event, width, number)]);
        if (this.#riding && this.#running.size === 0) {
          const { text, delivered } = this.#riding;
          this.#riding = undefined;
          this.#rode(`delivered with ${paint('cyan', '⚙')} ${safe(event.name)}`, text, delivered);
        }
        return;
      }
      case 'delivered': {
        const delivered = await this.#lookUp(event.ids);
        if (event.at === 'tool_batch_end' && this.#running.size > 0) this.#riding = { text: event.text, delivered };
        else this.#rode(RODE[event.at] ?? `delivered at ${event.at}`, event.text, delivered);
        return;
      }
      case 'waiting':
        if (!this.#surface.showsPending) await this.#waits(event, width);
        return;
      case 'aborted':
        this.#surface.endText();
        if (event.what === 'tools') for (const [id] of this.#running) this.#running.delete(id);
        return;
      case 'retry':
        this.note(`↻ ${event.why}; again in ${seconds(event.inMs)}`);
        return;
      case 'left_out':
        this.note(
          `The provider accepts the request only without ${event.ids.length === 1 ? 'this notification' : `these ${event.ids.length} notifications`} (${event.why}). The model has not read the ${event.ids.length === 1 ? 'notification' : 'notifications'}. For details: earpiece why ${event.ids[0] ?? ''}`,
        );
        return;
      case 'wake_asked':
        return;
      case 'turn_started':
        if (event.by === 'notification') this.note('This turn is about new notifications:');
        else if (event.content === '') this.note('The last turn was cut off, and continues now.');
        return;
      case 'turn_ended':
        this.#surface.endText();
        this.#running.clear();
        if (event.how !== 'complete' && event.how !== 'stopped')
          this.#print('note', wrapAll(ENDED[event.how](event.error ?? ''), width, `${paint('red', '✗')} `, '  '));
        if (event.how === 'stopped') this.#print('note', [`${paint('red', '■')} stopped`]);
        return;
      case 'mode':
      case 'request':
      case 'tool_input':
      case 'usage':
        return;
      default:
        event satisfies never;
    }
  }

  /** Makes the next block begin after a blank line. Call `apart` after other code has printed. */
  apart(): void {
    // After a person's message, every kind of block begins after a blank line.
    this.#block = 'said';
  }

  /** Shows a person's message. */
  said(text: string): void {
    this.#print('said', said(text, this.#surface.width));
  }

  /** Shows a dimmed note of Earpiece. */
  note(text: string): void {
    this.#print(
      'note',
      wrapAll(text, this.#surface.width).map((line) => paint('dim', line)),
    );
  }

  /** Shows the agent's message to its user. */
  told(message: string): void {
    this.#print('note', wrapAll(message, this.#surface.width, `${paint('cyan', '»')} `, '  '));
  }

  /** Shows lines unchanged. */
  lines(lines: readonly string[]): void {
    this.#surface.endText();
    this.#surface.print([...(this.#block === 'none' ? [] : ['']), ...lines]);
    this.#block = 'said';
  }

  #begin(block: Block, text: string): void {
    if (this.#block !== block) {
      // Leading blank lines of the model are dropped, because the narrator prints the blank line between two blocks.
      if (text.trim() === '') return;
      if (this.#block !== 'none') this.#surface.print(['']);
      this.#block = block;
      this.#surface.text(text.trimStart());
      return;
    }
    this.#surface.text(text);
  }

  #print(block: Block, lines: readonly string[]): void {
    this.#surface.endText();
    const apart =
      this.#block !== 'none' && !(this.#block === block && block !== 'said') && !(this.#block === 'tools' && block === 'note');
    this.#surface.print([...(apart ? [''] : []), ...lines]);
    this.#block = block;
  }

  #rode(on: string, text: string, { notifications, summarized, said: items, queuedAt, now }: Delivered): void {
    const { width } = this.#surface;
    const whole = this.#numbered('the whole notification, as it was sent', text);
    let n: number | undefined;
    const number = whole && (() => (n ??= whole()));
    const lines = notifications.flatMap((note) => {
      const item = items.find(({ ids }) => ids.includes(note.id));
      // Notifications with a shared text are shown once, at the first notification with this text.
      if (item !== undefined && item.ids[0] !== note.id) return [];
      return noteLines(item === undefined ? note : asSaid(note, item.text), width, number);
    });
    if (summarized > 0)
      lines.push(
        rodeLine(
          `and ${summarized} more notifications that were only counted; get_notifications shows their texts`,
          undefined,
          1,
          width,
        ),
      );
    lines.push(rodeLine(on, queuedAt === undefined ? undefined : now - queuedAt, notifications.length, width, number?.()));
    this.#print('note', lines);
  }

  async #waits({ id, kind, ...event }: Extract<AgentEvent, { type: 'waiting' }>, width: number): Promise<void> {
    const [note] = (await this.#lookUp([id])).notifications;
    this.#print('note', [pendingLine(note ?? { ...event, kind: parseKind(kind) }, width, 'waits for delivery')]);
  }

  #thoughtOver(): void {
    if (this.#thought === '') return;
    const text = this.#thought;
    this.#thought = '';
    if (text.trim() === '') return;
    const more = this.#details === undefined ? '' : ` … /show ${this.#details.add({ title: 'thoughts', text })}`;
    this.note(`∴ thought for ${seconds(performance.now() - this.#thoughtSince)}${more}`);
  }

  #numbered(title: string, text: string): (() => number) | undefined {
    const details = this.#details;
    return details && (() => details.add({ title, text }));
  }
}

/**
 * Replaces the message of a notification with the text that the model read, without source and level. If that text contains the
 * message, returns the notification unchanged.
 */
function asSaid(note: Notification, text: string): Notification {
  const words = (all: string): string => all.replaceAll(/\s+/gu, ' ').trim();
  if (words(text).includes(words(note.message))) return note;
  const { instruction: _instruction, ...rest } = note;
  // The surface already shows level and kind before the text.
  const before = `${note.kind.source} ${note.level}: `;
  return { ...rest, message: text.startsWith(before) ? text.slice(before.length) : text };
}

const ENDED = {
  failed: (why: string) => `the turn failed: ${why}`,
  truncated: (why: string) => `the answer is not complete: ${why}`,
  refused: (why: string) => `there is no answer: ${why}`,
} as const;

const RODE: Readonly<Record<string, string>> = {
  turn_start: 'delivered with your message',
  cycle_start: 'delivered with your reply',
  tool_batch_end: 'delivered with the results',
  turn_end: 'arrived during the answer',
  idle: 'woke the agent',
  forced: 'interrupted',
};
