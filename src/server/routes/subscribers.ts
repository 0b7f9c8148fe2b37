/** Lists subscribers: their files, how many notifications each has queued in the last 7 days, and whether each is on. */
import { WHY_LOCKED } from '../../bus/toggles.ts';
import { testNotification, type Subscriber } from '../../bus/index.ts';
import type { SubscriberItem, SubscribersReply, SubscriberTestReply } from '../../wire/api.ts';
import { formatAddress, logOf, parseAddress, type Address } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import { isType } from '../../core/records.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import { sayVerdict } from '../../core/verdict/words.ts';
import type { Inbox } from '../../inbox/index.ts';
import { mustBeAdmin, mustLead, mustRead } from '../authority.ts';
import { answers, createRoute, jsonBody, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { disabledSubscribers, nameParam, subscriber, subscribers, subscriberTest } from '../../wire/schemas.ts';
import type { Principal } from '../tokens.ts';
import { personOf } from './conversations.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

export function subscriberRoutes(api: Api, deps: Deps): void {
  const { inbox } = deps;
  const rates = new Rates(inbox);
  const projectQuery = z.strictObject({ project: nameParam.optional() });
  const idParams = z.object({ id: z.string().min(1).max(128) });
  const projectOf = (who: Principal, asked: string | undefined): string => asked ?? who.project ?? deps.project;
  const parts = (): Required<Pick<Deps, 'bus' | 'toggles'>> & {
    bus: NonNullable<Deps['bus']>;
    toggles: NonNullable<Deps['toggles']>;
  } => {
    const { bus, toggles } = deps;
    if (bus === undefined || toggles === undefined)
      throw new ProblemError(
        'not_found',
        'this server was created without subscribers; give createServer the options bus and toggles',
      );
    return { bus, toggles };
  };

  const find = (project: string, id: string): Subscriber => {
    const all = parts().bus.subscribers(project).subscribers;
    const found = all.find((each) => each.id === id);
    if (found !== undefined) return found;
    const near = didYouMean(
      id,
      all.map((each) => each.id),
    );
    throw new ProblemError(
      'not_found',
      `there is no subscriber ${JSON.stringify(id.slice(0, 80))} in project ${project}; ${near === undefined ? 'GET /api/notifications/subscribers lists the subscribers' : `did you mean ${near}?`}`,
    );
  };
  const item = async (project: string, of: Subscriber): Promise<SubscriberItem> =>
    itemOf(of, await parts().toggles.disabled(project), await rates.of(project));

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/notifications/subscribers',
      operationId: 'listSubscribers',
      tags: ['subscribers'],
      summary: "List a project's subscribers with their types, state and notifications of the last 7 days",
      request: { query: projectQuery },
      responses: answers(subscribers, 'subscribers'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustRead(who, { project });
      const { subscribers: all, problems } = parts().bus.subscribers(project);
      const [off, spoke] = await Promise.all([parts().toggles.disabled(project), rates.of(project)]);
      return reply<SubscribersReply>(c, {
        project,
        subscribers: all.map((each) => itemOf(each, off, spoke)),
        problems: problems.map(({ file, severity, message }) => ({ file, severity, message })),
      });
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications/subscribers/{id}/toggle',
      operationId: 'toggleSubscriber',
      tags: ['subscribers'],
      summary: 'Switch a subscriber on or off, from the next event on. A core subscriber cannot be switched off (400)',
      request: {
        params: idParams,
        query: projectQuery,
        body: jsonBody(z.strictObject({ enabled: z.boolean() }).openapi('ToggleInput')),
      },
      responses: answers(subscriber, 'the subscriber after the change'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustLead(who, { project });
      const found = find(project, c.req.valid('param').id);
      const { bus, toggles } = parts();
      const set = bus.subscribers(project);
      if (c.req.valid('json').enabled) {
        if ((await toggles.lists(project)).user.includes(found.id)) {
          mustBeAdmin(who, `switching on ${found.id}, which is off in every project,`);
          await toggles.enable({ kind: 'user' }, found.id, personOf(who), set);
        }
        await toggles.enable({ kind: 'project', project }, found.id, personOf(who), set);
      } else await toggles.disable({ kind: 'project', project }, found.id, personOf(who), set);
      return reply<SubscriberItem>(c, await item(project, found));
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications/subscribers/{id}/test',
      operationId: 'testSubscriber',
      tags: ['subscribers'],
      summary:
        'Preview the text for a sample event; `for` predicts the effect on an agent, `to` sends the text to an agent as a test',
      request: {
        params: idParams,
        query: projectQuery,
        body: jsonBody(
          z
            .strictObject({
              to: z
                .string()
                .max(400)
                .optional()
                .openapi({ description: 'the agent or conversation that gets the test; if missing, nothing is sent' }),
              for: z.string().max(400).optional().openapi({
                description: 'the agent or conversation for which the answer predicts the effect of a real notification',
              }),
            })
            .openapi('TestInput'),
        ),
      },
      responses: answers(subscriberTest, 'the text for the agent, and the id of the notification that was sent, if any'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustLead(who, { project });
      const found = find(project, c.req.valid('param').id);
      const { to, for: whom } = c.req.valid('json');
      const target = to === undefined ? undefined : oneOf(project, to, 'to');
      const about = whom === undefined ? target : oneOf(project, whom, 'for');
      const { bus, toggles } = parts();
      const preview = await bus.preview(found, `${project}/agent`);
      const enabled = found.output.core || !(await toggles.disabled(project)).has(found.id);
      const { input, subscribed } = preview.real;
      const real = about === undefined ? null : await inbox.foretell(about, input, subscribed);
      const queued = target && (await deps.queue(target, testNotification(found, preview, personOf(who))));
      const verdict = target && queued ? ((await inbox.why(queued.id, logOf(target)))?.items[0]?.verdict ?? null) : null;
      return reply<SubscriberTestReply>(c, {
        subscriber_id: found.id,
        event_type: preview.type,
        inject_at: found.output.injectAt,
        enabled,
        kind: preview.kind,
        level: preview.level,
        preview: preview.words,
        problem: preview.failed ?? null,
        about: about === undefined ? null : formatAddress(about),
        real,
        to: target === undefined ? null : formatAddress(target),
        notification: queued?.id ?? null,
        message: queued === undefined ? 'nothing was sent' : sentSays(verdict, inbox.store.now()),
        verdict,
      });
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/settings/notifications',
      operationId: 'getDisabledSubscribers',
      tags: ['subscribers'],
      summary: 'List the subscribers that are off',
      request: { query: projectQuery },
      responses: answers(disabledSubscribers, 'the ids of the subscribers'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustRead(who, { project });
      return reply(c, { disabled_subscribers: [...(await parts().toggles.disabled(project))].toSorted() });
    },
  );

  api.openapi(
    createRoute({
      method: 'put',
      path: '/api/settings/notifications',
      operationId: 'setDisabledSubscribers',
      tags: ['subscribers'],
      summary: 'Replace the list of disabled subscribers, all or nothing; 400 for unknown ids and core subscribers',
      request: { query: projectQuery, body: jsonBody(disabledSubscribers) },
      responses: answers(disabledSubscribers, 'the list after the change'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustLead(who, { project });
      const { bus, toggles } = parts();
      const { disabled_subscribers: ids } = c.req.valid('json');
      try {
        await toggles.set({ kind: 'project', project }, ids, personOf(who), bus.subscribers(project));
      } catch (error) {
        // An unknown id in a body is an invalid argument, and not a missing resource.
        if (error instanceof EarpieceError && error.code === 'not_found')
          throw new ProblemError('bad_argument', error.message, { field: 'disabled_subscribers' });
        throw error;
      }
      return reply(c, { disabled_subscribers: [...(await toggles.disabled(project))].toSorted() });
    },
  );
}

function itemOf(of: Subscriber, off: ReadonlySet<string>, spoke: ReadonlyMap<string, number>): SubscriberItem {
  const { core } = of.output;
  return {
    id: of.id,
    name: of.name,
    description: of.description,
    version: of.version,
    event_types: of.events.types,
    priority: of.output.priority,
    inject_at: of.output.injectAt,
    core,
    locked: core ? WHY_LOCKED : null,
    enabled: core || !off.has(of.id),
    from: { folder: of.from.folder, file: of.from.file },
    spoke_last_7_days: spoke.get(of.id) ?? 0,
  };
}

/** Describes the expected delivery of a test notification, in the same words as `why`. */
function sentSays(verdict: Verdict | null, now: number): string {
  if (verdict === null) return 'sent as a test';
  const says = sayVerdict(verdict, {
    now,
    clock: (time) => new Date(time).toISOString(),
    span: (ms) => `${Math.round(ms / 1_000)} s`,
  });
  return `sent as a test. ${says}`;
}

/** Parses an address, which must name one agent of the project or one of the agent's conversations. */
function oneOf(project: string, text: string, field: 'to' | 'for'): Exclude<Address, { readonly kind: 'project' }> {
  const address = parseAddress(text);
  if (address.kind === 'project')
    throw new ProblemError('bad_argument', `${formatAddress(address)} is a whole project; name one agent of the project`, {
      field,
    });
  if (address.project !== project)
    throw new ProblemError(
      'bad_argument',
      `${formatAddress(address)} is not in project ${project}; name an agent of that project`,
      {
        field,
      },
    );
  return address;
}

/**
 * Limits of counting the notifications of the last 7 days. At most `MAX_POSITIONS` positions are read, and a count is reused for
 * `GOOD_FOR_MS`.
 */
const MAX_POSITIONS = 20_000;
const GOOD_FOR_MS = 5_000;

class Rates {
  readonly #inbox: Inbox;
  readonly #known = new Map<string, { readonly at: number; readonly counts: ReadonlyMap<string, number> }>();

  constructor(inbox: Inbox) {
    this.#inbox = inbox;
  }

  async of(project: string): Promise<ReadonlyMap<string, number>> {
    const { store } = this.#inbox;
    const now = store.now();
    const known = this.#known.get(project);
    if (known !== undefined && now - known.at < GOOD_FOR_MS) return known.counts;
    const counts = new Map<string, number>();
    const since = now - WEEK_MS;
    const floor = Math.max(0, (await store.head()) - MAX_POSITIONS);
    let upTo: number | undefined;
    for (;;) {
      const page = await store.read({
        project,
        types: ['system_notification_queued'],
        after: floor,
        ...defined({ upTo }),
        newestFirst: true,
        limit: 500,
      });
      for (const { at, body } of page)
        if (at >= since && isType(body, 'system_notification_queued') && body.subscriber !== undefined)
          counts.set(body.subscriber.id, (counts.get(body.subscriber.id) ?? 0) + 1);
      const last = page.at(-1);
      if (last === undefined || page.length < 500 || last.at < since) break;
      upTo = last.seq - 1;
    }
    if (this.#known.size > 1_000) this.#known.clear();
    this.#known.set(project, { at: now, counts });
    return counts;
  }
}
