/** Emits events, which subscribers turn into notifications. */
import type { Emitted, EventInput } from '../core/event.ts';
import type { Subscriber, SubscriberProblem } from '../bus/index.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';
import { check } from './arguments.ts';
import { mustBeOpen } from './inner.ts';
import { fullName } from './names.ts';
import { EVENT } from './notification-table.ts';

export type Subscribers = {
  readonly subscribers: readonly Pick<Subscriber, 'id' | 'name' | 'description' | 'events' | 'from'>[];
  /** Problems of the subscribers' files. */
  readonly problems: readonly SubscriberProblem[];
};

export class Events {
  readonly #inbox: LoadedInbox;

  /** Programs use `Earpiece.events`, and not this constructor. */
  constructor(inbox: object) {
    this.#inbox = inbox as LoadedInbox;
  }

  /**
   * Sends an event to the subscribers. Resolves to the result of each subscriber, when all notifications that they queued are
   * durable. Throws `bad_event`. In a command of an agent, the event gets the source `agent/<project>/<agent>`, so it affects no
   * notification of another sender.
   */
  async emit(event: EventInput): Promise<Emitted> {
    check('emit', event, EVENT, 'the event');
    mustBeOpen(this.#inbox);
    return this.#inbox.callersEvents.emit({ ...event, subject: fullName('emit', this.#inbox.project, event.subject) });
  }

  /** Returns the subscribers that apply in this project now. */
  subscribers(): Subscribers {
    mustBeOpen(this.#inbox);
    const { subscribers, problems } = this.#inbox.bus.subscribers(this.#inbox.project);
    return { subscribers, problems };
  }

  /**
   * Switches a subscriber off or on in this project. Resolves to false if nothing changed. Throws `not_found` for an unknown
   * subscriber, and `bad_subscriber` for a core subscriber that you switch off.
   */
  async toggle(id: string, options: { readonly on: boolean; readonly by: string }): Promise<boolean> {
    check('toggle', options, { on: { needed: 'flag' }, by: { needed: 'text' } });
    mustBeOpen(this.#inbox);
    const { bus, toggles, project } = this.#inbox;
    const scope = { kind: 'project', project } as const;
    const set = bus.subscribers(project);
    return options.on ? toggles.enable(scope, id, options.by, set) : toggles.disable(scope, id, options.by, set);
  }
}
