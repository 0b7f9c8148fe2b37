/** Receives events from outside: CloudEvents with a token, and webhooks with a signature. */
import { parseAddress } from '../../core/address.ts';
import type { EmittedReply } from '../../wire/api.ts';
import type { Emitted, EventInput, Handled, Severity } from '../../core/event.ts';
import { makeEvent } from '../../core/event.ts';
import { ofSender } from '../../core/senders.ts';
import { EarpieceError } from '../../core/errors.ts';
import { nestsDeeper, type Json } from '../../core/json.ts';
import { callersWords } from '../../inbox/index.ts';
import { asData } from '../../sources/webhooks/cloud-event.ts';
import { eventFromCloudEvent, receive, replayWindow, WEBHOOK_LIMITS, type Refusal } from '../../sources/webhooks/index.ts';
import { agentOf, lowered, mustQueue, senderOf } from '../authority.ts';
import { answers, createRoute, OF_BODIES, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf, type Guards } from '../guards.ts';
import { beginning, ProblemError, type ProblemCode } from '../problems.ts';
import { cloudEvent, emitted } from '../../wire/schemas.ts';
import type { Principal } from '../tokens.ts';

export function eventRoutes(api: Api, deps: Deps, { guards }: { guards: Guards }): void {
  const { inbox, emitter, metrics, webhooks, report } = deps;

  /**
   * Emits all events in their order, without waiting for each result, so that repeated events can be folded. A failed event does
   * not stop the others. At the end, throws the error of the first failed event.
   */
  const emitAll = async (events: readonly EventInput[], from: 'token' | 'webhook'): Promise<readonly Emitted[]> => {
    const to = emitter ?? refuseEvents();
    const results = await Promise.allSettled(
      events.map(async (event) => {
        const emitted = await to.emit(event);
        metrics.count('earpiece_events_total', { from });
        return emitted;
      }),
    );
    const failed = results.filter(({ status }) => status === 'rejected').length;
    return results.map((result, i) => {
      if (result.status === 'fulfilled') return result.value;
      throw inBatch(
        result.reason,
        i,
        events.length,
        failed === 1 ? 'the other events were emitted' : `${failed - 1} other events failed too`,
      );
    });
  };

  api.openAPIRegistry.register('CloudEvent', cloudEvent);
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/events',
      operationId: 'emitEvents',
      tags: ['events'],
      summary: 'Send CloudEvents 1.0 (one, a batch, or one with ce-* headers), which subscribers turn into notifications',
      request: {
        body: {
          required: true,
          content: {
            // The document contains only the names of the schemas. `eventFromCloudEvent` checks the values, because its errors
            // are clearer.
            'application/cloudevents+json': { schema: { $ref: '#/components/schemas/CloudEvent' } },
            'application/cloudevents-batch+json': {
              schema: { type: 'array', items: { $ref: '#/components/schemas/CloudEvent' } },
            },
          },
        },
      },
      responses: { ...answers(emitted, 'the result of each event, after its notifications are durable'), ...OF_BODIES },
    }),
    async (c) => {
      const who = principalOf(c);
      if (emitter === undefined) refuseEvents();
      const given = eventsIn(c.req.header(), Buffer.from(await c.req.arrayBuffer()), subjectFor(who, deps.project));
      // All events are checked before the first event is emitted, so that the bus refuses none of them.
      const events = given.map((each, i) => {
        try {
          const event = allowed(who, each);
          makeEvent(event, { id: 'created when the event is emitted', now: inbox.store.now() });
          return event;
        } catch (error) {
          throw inBatch(error, i, given.length);
        }
      });
      const lowerings = events.map(({ severity }, i) => (severity === given[i]?.severity ? null : (severity ?? null)));
      return reply<EmittedReply>(c, emittedReply(await emitAll(events, 'token'), lowerings));
    },
  );

  const unheard = new Set<string>();
  const reportUnheard = (name: string, done: readonly Emitted[]): void => {
    for (const { event, heard } of done) {
      const seen = `${name} ${event.type}`;
      if (heard.length > 0 || unheard.has(seen) || unheard.size >= UNHEARD) continue;
      unheard.add(seen);
      report(
        `webhooks.${name}: no subscriber listens to ${event.type}, so the event notifies no agent; add a subscriber with types = [${JSON.stringify(event.type)}]`,
      );
    }
  };

  const replays = replayWindow();
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/webhooks/{name}',
      operationId: 'receiveWebhook',
      tags: ['events'],
      summary: 'Receive a signed webhook: GitHub, Alertmanager, Standard Webhooks, CloudEvents, JSON',
      security: [],
      request: {
        params: z.object({ name: z.string().min(1).max(64) }),
        body: {
          required: true,
          content: {
            'application/octet-stream': { schema: z.string().openapi({ description: 'the body, exactly as it was signed' }) },
          },
        },
      },
      responses: { ...answers(emitted, 'the result of each event'), ...OF_BODIES },
    }),
    async (c) => {
      const { name } = c.req.valid('param');
      const known = webhooks();
      const receiver = known.get(name);
      if (receiver === undefined && known.has(name))
        throw new ProblemError(
          'webhook_not_ready',
          `the webhook ${JSON.stringify(name)} is configured but cannot receive yet; the output of earpiece serve names the reason`,
        );
      if (receiver === undefined)
        throw new ProblemError(
          'not_found',
          `there is no webhook ${JSON.stringify(name)}; [webhooks.${name}] in earpiece.toml defines a webhook`,
        );
      if (emitter === undefined) refuseEvents();
      const body = Buffer.from(await c.req.arrayBuffer());
      const received = receive({
        headers: c.req.header(),
        body,
        receiver,
        now: inbox.store.now(),
        clock: Date.now(),
        seen: replays.seen,
      });
      if (received.kind === 'refused') {
        if (received.status === 200) return reply<EmittedReply>(c, { events: [] });
        throw received.status === 401 ? guards.failed(c, refusalOf(received)) : refusalOf(received);
      }
      const done = await emitAll(received.events, 'webhook');
      replays.remember(received.deliveries);
      reportUnheard(name, done);
      return reply<EmittedReply>(c, emittedReply(done));
    },
  );
}

/** The maximum number of event types that the server reports as unheard, because senders choose the types. */
const UNHEARD = 100;

function refuseEvents(): never {
  throw new ProblemError(
    'not_found',
    'this server was created without an emitter, so it accepts no events; queue notifications instead',
  );
}

/** Adds the number of the event within its batch to an error. */
function inBatch(error: unknown, i: number, of: number, others?: string): unknown {
  if (of === 1 || !(error instanceof EarpieceError)) return error;
  const { code, data, retryable } = error;
  const message = `event ${i + 1} of the batch: ${error.message}${others === undefined ? '' : `; ${others}`}`;
  return new EarpieceError(code, message, { data, retryable, cause: error });
}

/**
 * Reads events in structured, batch or binary mode, as the CloudEvents specification defines. Plain JSON counts as structured
 * mode, or as batch mode if it is a list.
 */
function eventsIn(headers: Readonly<Record<string, string>>, body: Buffer, subject: string): readonly EventInput[] {
  const type = headers['content-type'] ?? '';
  if (headers['ce-specversion'] !== undefined) return [binary(headers, body, { type, subject })];
  if (!/^application\/(cloudevents(-batch)?\+)?json\b/iu.test(type))
    throw new ProblemError(
      'unsupported_media_type',
      `the content type is ${type === '' ? 'missing' : JSON.stringify(type.slice(0, 80))}; send a CloudEvent as application/cloudevents+json, as application/cloudevents-batch+json, or with its attributes in ce-* headers`,
    );
  const json = jsonOf(body);
  if (!Array.isArray(json)) {
    if (/batch/iu.test(type))
      throw new ProblemError('bad_event', 'the content type names a batch, but the body is not a list; send a list of events');
    return [eventFromCloudEvent(json, { subject })];
  }
  const list = json as readonly Json[];
  if (list.length > WEBHOOK_LIMITS.events)
    throw new ProblemError(
      'too_large',
      `the batch has ${list.length} events, at most ${WEBHOOK_LIMITS.events} are allowed; send several batches`,
    );
  return list.map((each, i) => {
    try {
      return eventFromCloudEvent(each, { subject });
    } catch (error) {
      // All events are parsed before the first event is emitted, so an invalid event rejects the whole batch.
      throw inBatch(error, i, list.length);
    }
  });
}

/**
 * Returns the default subject of an event: the agent or conversation of the token. Otherwise, the subject is every active
 * conversation of the token's project or of the server's project.
 */
const subjectFor = ({ project, agent, conversation }: Principal, own: string): string => {
  if (project === null || agent === null) return `${project ?? own}/*`;
  return conversation === null ? `${project}/${agent}` : `${project}/${agent}#${conversation}`;
};

function binary(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  { type, subject }: { readonly type: string; readonly subject: string },
): EventInput {
  const attributes: Record<string, Json> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('ce-')) attributes[name.slice(3)] = decoded(name, value);
  const { data: _data, data_base64: _base64, ...rest } = attributes;
  const json = {
    ...rest,
    ...(type === '' ? {} : { datacontenttype: type }),
    data: asData(body, type === '' ? undefined : type),
  };
  return eventFromCloudEvent(json, { subject });
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value.trim().replace(/^"(.*)"$/u, '$1'));
  } catch {
    throw new ProblemError('bad_event', `the header ${name} is not percent-encoded correctly; write a percent sign as %25`, {
      field: name,
    });
  }
}

function jsonOf(body: Buffer): Json {
  const text = body.toString('utf8');
  if (nestsDeeper(text, WEBHOOK_LIMITS.depth))
    throw new ProblemError(
      'bad_event',
      `the body nests more than ${WEBHOOK_LIMITS.depth} levels deep; send a body with fewer levels`,
    );
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, '')) as Json;
  } catch {
    throw new ProblemError('bad_event', `the body is not valid JSON${beginning(text)}`);
  }
}

/**
 * Limits an event to the permissions of the token. With an agent's or a send-only token, the event loses `about`, `purpose` and
 * `deliver`. The event gets a severity of at most `MAX_LEVEL` and the source `token/<id>`, and the event's key gets the token's
 * prefix. The prefix keeps the event from changing the counts of other producers' notifications, and from replacing or
 * withdrawing them.
 */
function allowed(who: Principal, event: EventInput): EventInput {
  const to = parseAddress(event.subject);
  mustQueue(who, to, { message: event.type });
  if (who.kind === 'admin' || who.kind === 'project') return event;
  const { about: _about, purpose: _purpose, deliver: _deliver, ...rest } = event;
  const { severity } = event;
  return callersWords({
    ...ofSender(rest, senderOf(who)),
    ...(severity === undefined || severity === 'debug' ? {} : { severity: lowered(severity) }),
    ...(who.kind === 'agent' ? { origin: { agent: agentOf(who), depth: 1 } } : {}),
  });
}

const emittedReply = (done: readonly Emitted[], lowerings: readonly (Severity | null)[] = []): EmittedReply => ({
  events: done.map(({ event, heard }, i) => ({
    id: event.id,
    source: event.source,
    type: event.type,
    loweredTo: lowerings[i] ?? null,
    heard: heard.map((one) => ({
      subscriber: one.subscriber,
      kind: one.kind,
      ids: idsOf(one),
      because: one.kind === 'skipped' ? one.because : null,
    })),
  })),
});

function idsOf(heard: Handled): readonly string[] {
  if (heard.kind === 'withdrew') return heard.ids;
  return heard.kind === 'skipped' ? [] : [heard.id];
}

function refusalOf({ status, code, reason }: Refusal): ProblemError {
  const known: Readonly<Record<number, ProblemCode>> = {
    400: 'bad_event',
    401: 'unauthorized',
    413: 'too_large',
    415: 'unsupported_media_type',
    422: 'bad_event',
  };
  return new ProblemError(known[status] ?? 'bad_event', `${code.replaceAll('_', ' ')}: ${reason}`);
}
