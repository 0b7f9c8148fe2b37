/** The composition root: creates an inbox with its configuration, store and bus. `src/library` wraps this inbox for users. */
import type { Bus, SubscriberSource, SubscriberToggles, TemplateEngine } from './bus/index.ts';
import { loadConfig, type Config } from './config/index.ts';
import type { Emitter } from './core/event.ts';
import type { ViewName } from './core/records.ts';
import { eventsOf, projectSubscribers, templatesOf } from './events.ts';
import { callersEmitter } from './inbox/index.ts';
import { partsOf, UserInbox, type InboxOptions, type Parts } from './user-inbox.ts';

export type OpenOptions = InboxOptions & {
  /** The source of subscribers, which replaces the shipped subscribers and the files of the user and the project. */
  readonly subscribers?: SubscriberSource;
};

/**
 * An open inbox that knows its project and configuration, with its bus already loaded. Close the inbox, or declare it with `await
 * using`.
 */
export class LoadedInbox extends UserInbox {
  /** Turns the events of sources into notifications. */
  readonly bus: Bus;
  readonly toggles: SubscriberToggles;
  readonly templates: TemplateEngine;

  constructor(parts: Parts, subscribers: SubscriberSource, onTrouble?: (line: string) => void) {
    super(parts);
    const templates = templatesOf(parts.deps.store, onTrouble);
    const events = eventsOf(this, { ...templates, subscribers, onTrouble });
    this.use(events);
    this.bus = events.bus;
    this.toggles = events.toggles;
    this.templates = events.templates;
  }

  override get callersEvents(): Emitter {
    return callersEmitter(this.bus, this.speaker);
  }

  /**
   * Also loads the subscribers, because sources emit in this process. Subscribers use 4 MB of memory, which a process that only
   * delivers does not need.
   */
  override async loadAhead(view?: ViewName): Promise<void> {
    await super.loadAhead(view);
    this.bus.subscribers(this.project);
  }
}

/**
 * Opens the user's inbox. If an agent's command started this process, queued notifications have the agent as their origin: see
 * docs/agent-permissions.md. Throws `bad_config` with every problem of the configuration, and the store's errors, such as
 * `store_refused`.
 */
export async function openLoadedInbox(options: OpenOptions = {}): Promise<LoadedInbox> {
  const { cwd = process.cwd(), env = process.env, flags } = options;
  return openWith(loadConfig({ cwd, env, ...(flags ? { flags } : {}) }), options);
}

/** Opens the user's inbox with a configuration that the caller has already loaded, and whose problems the caller has reported. */
export async function openWith(given: Config, options: OpenOptions): Promise<LoadedInbox> {
  const { env = process.env, onProblem } = options;
  const parts = await partsOf(given, options);
  const subscribers = options.subscribers ?? projectSubscribers({ env, rootOf: parts.rootOf, onProblem });
  return new LoadedInbox(parts, subscribers, onProblem);
}
