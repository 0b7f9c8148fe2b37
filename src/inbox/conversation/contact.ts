/** How often a contact of a conversation is written if only its time is new, in ms. */
import { defined } from '../../core/defined.ts';
import { isFor, type Item } from '../../core/items.ts';
import { readBy } from '../../core/needed-tool.ts';
import type { Presence, PresenceUpdate } from '../../core/ports.ts';
import { markFor } from '../presence/mark.ts';
import { toolName, type Recipient } from './recipient.ts';

export const PRESENCE_EVERY_MS = 30_000;

export class Contact {
  readonly #recipient: Recipient;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #carriedAt = Number.NEGATIVE_INFINITY;
  #purpose: string | undefined;
  #mark: string | undefined;
  /** The mark that a frame explained last. */
  #explainedMark: string | undefined;

  constructor(recipient: Recipient) {
    this.#recipient = recipient;
  }

  async seen(update: Omit<PresenceUpdate, 'log' | 'conversation'>): Promise<void> {
    const nothingNew = Object.keys(update).length === 0;
    if (nothingNew && this.isFresh) return;
    const { store } = this.#recipient.context;
    this.#touchedAt = store.now();
    const presence = await store.touch({ ended: false, ...this.#described(), ...update });
    this.#explainedMark = presence.mark;
    this.#purpose = presence.purpose;
  }

  /** Whether the last contact was written less than 30 s ago. */
  get isFresh(): boolean {
    return Math.abs(this.#recipient.context.store.now() - this.#touchedAt) < PRESENCE_EVERY_MS;
  }

  /** Records that another process has written a contact with the same facts at this time, epoch ms. */
  wasSeen(at: number): void {
    this.#touchedAt = Math.max(this.#touchedAt, at);
  }

  /** Makes sure that the next contact is written at once. */
  forget(): void {
    this.#touchedAt = Number.NEGATIVE_INFINITY;
  }

  async presence(): Promise<Presence | undefined> {
    const { context, log, id } = this.#recipient;
    const [found] = await context.store.presence({ log, conversation: id });
    return found;
  }

  async purpose(): Promise<string | undefined> {
    return this.#recipient.options.purpose ?? (this.#purpose ??= (await this.presence())?.purpose);
  }

  /**
   * Selects the items that this conversation may take, and adapts their instructions to the Earpiece tools that its model has.
   */
  async mine(items: readonly Item[]): Promise<readonly Item[]> {
    const { id, options } = this.#recipient;
    const purpose = items.some((item) => item.notification.purpose !== undefined) ? await this.purpose() : undefined;
    const mine = items.filter((item) => isFor(item, id, purpose));
    if (mine.every((item) => item.notification.needs === undefined)) return mine;
    const has = options.has ?? (await this.presence())?.has ?? [];
    const nameOf = (tool: string): string => toolName(this.#recipient, tool);
    return mine.map((item) => ({ ...item, notification: readBy(item.notification, has, nameOf) }));
  }

  /** Returns the mark of this conversation's frames, and whether the model knows the mark. */
  async mark(): Promise<{ readonly mark: string; readonly isKnown: boolean }> {
    const { context, log, options } = this.#recipient;
    const mark = (this.#mark ??= await markFor(context, log));
    const isKnown = options.knownMark?.() === mark || this.#explainedMark === mark || (await this.presence())?.mark === mark;
    return { mark, isKnown };
  }

  /** Records that a carrier was delivered. `explained`: the carrier's frame explained the mark. */
  async carried(explained: boolean): Promise<void> {
    const { store } = this.#recipient.context;
    const now = store.now();
    if (!explained && Math.abs(now - this.#carriedAt) < PRESENCE_EVERY_MS) return;
    this.#carriedAt = now;
    const mark = defined({ mark: this.#mark });
    const told = explained ? { told: true as const, ...mark } : {};
    this.#explainedMark = (await store.touch({ ...this.#described(), carried: true, ...told })).mark;
  }

  #described(): PresenceUpdate {
    const { log, id, options } = this.#recipient;
    const { purpose, host, hostVersion, process, shared, folder, carrier, points, pulls, has } = options;
    return {
      log,
      conversation: id,
      ...defined({ purpose, host, hostVersion, process, shared, folder }),
      ...(carrier === undefined ? {} : { carrier, ...defined({ points }) }),
      ...defined({ pulls, has }),
    };
  }
}
