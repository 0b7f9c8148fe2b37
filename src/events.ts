/** Creates the bus, its subscribers and their templates, which turn events into notifications of an inbox. */
import {
  createBus,
  formatSubscriberProblem,
  shippedFolder,
  storedTemplates,
  subscriberFolders,
  subscriberToggles,
  subscriberTrust,
  templateEngine,
  type Bus,
  type StoredTemplates,
  type SubscriberSource,
  type SubscriberToggles,
  type TemplateEngine,
} from './bus/index.ts';
import { userSubscribersFolder, type Env } from './config/index.ts';
import type { Store } from './core/ports.ts';
import type { Inbox } from './inbox/index.ts';

type Report = ((line: string) => void) | undefined;

export type Templates = { readonly templates: TemplateEngine; readonly lines: StoredTemplates };

export type Events = Templates & {
  /** The bus, which receives the events of sources. */
  readonly bus: Bus;
  readonly toggles: SubscriberToggles;
  /** Writes the notifications that the bus still holds back, and closes the bus and the template engine. */
  close(): Promise<void>;
};

export function templatesOf(store: Store, onTrouble: Report = () => {}): Templates {
  const templates = templateEngine({ onTrouble });
  return { templates, lines: storedTemplates(store, templates) };
}

/** Returns the shipped subscribers, and the subscribers in the files of the user and the project. */
export function projectSubscribers({
  env,
  rootOf,
  onProblem,
}: {
  readonly env: Env;
  readonly rootOf: (project: string) => string | undefined;
  readonly onProblem: Report;
}): SubscriberSource {
  return subscriberFolders({
    shipped: shippedFolder(),
    user: userSubscribersFolder({ env }),
    projectRoot: rootOf,
    projectTrust: subscriberTrust({ env }),
    onProblem: (problems) => problems.forEach((problem) => onProblem?.(formatSubscriberProblem(problem))),
  });
}

export function eventsOf(
  inbox: Inbox,
  {
    templates,
    lines,
    subscribers,
    onTrouble = () => {},
  }: Templates & { readonly subscribers: SubscriberSource; readonly onTrouble?: Report },
): Events {
  const toggles = subscriberToggles(inbox);
  const bus = createBus({
    inbox,
    subscribers,
    disabled: (project) => toggles.disabled(project),
    keep: (template) => lines.keep(template),
    evaluate: (expression, context) => templates.evaluate(expression, context),
    templates,
    onTrouble,
  });
  return {
    templates,
    lines,
    bus,
    toggles,
    close: async () => {
      await bus.close();
      await templates.close();
    },
  };
}
