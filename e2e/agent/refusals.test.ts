/**
 * Tests that a refused request costs the conversation nothing: the next successful request contains everything that was
 * delivered, once. Only notifications that are proved to be the cause of a refusal are left out, and `why` reports each
 * left-out notification.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import type { NotificationInput } from '../../src/core/notification.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { explain } from '../../src/inbox/why/why.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { COMPILED } from '../compiled.ts';
import type { Part } from '../model/answer.ts';
import { find } from '../model/find.ts';
import { startModel, type Request, type Step } from '../model/server.ts';
import type { Recorded } from '../model/tap.ts';
import { proves } from '../verifies.ts';
import { APIS } from './apis.ts';
import { ADDRESS, doing, Talk, type TalkOptions } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string): Part => ({ kind: 'call', id, name: 'echo' });

/** Returns an error response of a provider. The package of each provider can read the response's body. */
const refusal = (status: number, message: string): Step => ({
  refuses: {
    status,
    body: { type: 'error', error: { message, type: 'invalid_request_error', code: status, status: 'INVALID_ARGUMENT' } },
  },
});

const KINDS = {
  '400 too long': refusal(400, 'prompt is too long: 213472 tokens > 200000 maximum'),
  '400 of another cause': refusal(400, 'bad request'),
  '413': refusal(413, 'Request exceeds the maximum allowed number of bytes.'),
  '429': refusal(429, 'This request would exceed your rate limit'),
} as const;
type Kind = keyof typeof KINDS;

const MARKER = 'MARKER-7 the build is red';
const WOULD_LEAVE_OUT = 'the provider refused them';

/** The places of a notification in the request that the provider refuses. */
const PLACES = {
  'the first request': { first: [text('well')], more: { level: 'error' } },
  'after tool results': { first: [text('I look'), call('call_1')], more: { level: 'error' } },
  'forced, between turns': { first: [text('well')], more: { level: 'critical' } },
  'forced, mid-stream': { first: [text('I delete all of it')], more: { level: 'critical' } },
} as const satisfies Record<string, { first: readonly Part[]; more: Partial<NotificationInput> }>;
type Place = keyof typeof PLACES;

/** Refuses a number of requests, beginning with the first that contains the marker, and answers all other requests. */
class Provider {
  refusals = 0;
  readonly #kind: Kind;
  readonly #times: number;
  readonly #first: Step;
  constructor(kind: Kind, times: number, first: Step) {
    this.#kind = kind;
    this.#times = times;
    this.#first = first;
  }

  step(request: Request, n: number): Step {
    const begun = this.refusals > 0 || request.text.includes(MARKER);
    if (begun && this.refusals < this.#times) {
      this.refusals++;
      return KINDS[this.#kind];
    }
    return n === 0 ? this.#first : { says: [text(`answer ${n}`)] };
  }
}

const answered = (requests: readonly Recorded[]): readonly Recorded[] =>
  requests.filter(({ status, aborted }) => status === 200 && aborted === null);

describe.each(APIS)('%s', (api) => {
  proves('agent:refusals');
  let talk: Talk;
  afterEach(() => talk[Symbol.asyncDispose]());

  async function refusedAt(place: Place, kind: Kind, times: number, options: TalkOptions = {}): Promise<void> {
    const { first, more } = PLACES[place];
    const queue = (): Promise<unknown> => talk.queue(MARKER, { id: 'n1', ...more });
    const midStream: Step['at'] = [
      {
        part: 0,
        delta: 2,
        do: async ({ cutOff }) => {
          await talk.heard('text', 'delete ');
          await queue();
          await cutOff;
        },
      },
    ];
    const provider = new Provider(kind, times, {
      says: first,
      ...(place === 'forced, mid-stream' ? { at: midStream } : {}),
    });
    talk = await Talk.start(api, [], {
      stepOf: (request, n) => provider.step(request, n),
      tools: [doing('echo', async () => (await queue(), { content: 'echoed' }))],
      ...options,
    });
    if (place === 'the first request') await queue();
    await talk.agent.send('go');
    if (place === 'forced, between turns') {
      const turns = talk.events.filter(({ type }) => type === 'turn_ended').length;
      await queue();
      await talk.until((events) => events.filter(({ type }) => type === 'turn_ended').length > turns);
      await talk.until(() => talk.agent.mode === 'idle');
    }
    const before = provider.refusals;
    expect(before).toBeGreaterThan(0);
    // After a restart, a person continues until the provider accepts the request.
    await talk.restart();
    for (let n = 0; n < 6; n++) {
      const result = await talk.agent.send('go on');
      if (result.how === 'complete' && provider.refusals === times) break;
    }
    expect(await talk.agent.send('and now?')).toMatchObject({ how: 'complete' });
    expect(provider.refusals).toBe(times);
  }

  /** Checks that each answered request contains the marker once, from the first request with the marker on. */
  function isInEach(): void {
    const since = talk.requests.findIndex((request) => request.text.includes(MARKER));
    const after = answered(talk.requests.slice(since));
    expect(after.length).toBeGreaterThan(0);
    expect(find(after, MARKER).counts).toEqual(after.map(() => 1));
    expect(talk.agent.records.filter(({ type }) => type === 'carrier_redacted')).toEqual([]);
  }

  describe.each(Object.keys(PLACES) as Place[])('%s', (place) => {
    it.each(Object.keys(KINDS) as Kind[])(
      '%s, after one refusal: the next successful request has the notification once',
      async (kind) => {
        await refusedAt(place, kind, 1);
        isInEach();
      },
    );

    it.each(['400 too long', '413', '429'] as const)(
      '%s, after three refusals: the next successful request has the notification once',
      async (kind) => {
        await refusedAt(place, kind, 3);
        isInEach();
        expect(talk.requests.filter((request) => request.text.includes(WOULD_LEAVE_OUT))).toEqual([]);
      },
    );

    it.each([2, 3, 4])(
      'a 400 with another cause, %i times: nothing is left out, and the model reads the notification once',
      async (times) => {
        await refusedAt(place, '400 of another cause', times);
        expect(find(talk.requests, MARKER).inLast).toBe(1);
        expect(talk.agent.records.filter(({ type }) => type === 'carrier_redacted')).toEqual([]);
        expect(find(talk.requests, WOULD_LEAVE_OUT).inLast).toBe(0);
      },
    );
  });

  it('an interrupt counts as read when the provider has accepted a request with the interrupt, and not before', async () => {
    let taken = false;
    talk = await Talk.start(api, [], {
      stepOf: ({ text: sent }) => (sent.includes(MARKER) && !taken ? KINDS['413'] : { says: [text('well')] }),
    });
    await talk.queue(MARKER, { id: 'n1', level: 'critical' });
    await talk.until((events) => events.some(({ type }) => type === 'turn_ended'));
    const receipt = async (): Promise<string | undefined> => (await explain(talk.inbox, 'n1' as never))?.items[0]?.receipt;
    expect(await receipt()).toBe('delivered');
    await talk.until(() => talk.agent.mode === 'idle');
    taken = true;
    await talk.restart();
    expect(await receipt()).toBe('delivered');
    await talk.agent.send('go on');
    expect(await receipt()).toBe('read');
  });

  it('notifications are left out if the provider accepts the request only without them, and earpiece why gives the reason', async () => {
    talk = await Talk.start(api, [], {
      stepOf: ({ text: sent }) => (sent.includes(MARKER) ? KINDS['400 of another cause'] : { says: [text('well')] }),
    });
    await talk.queue(MARKER, { id: 'n1', level: 'error' });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete', text: 'well' });
    await talk.restart();
    expect(await talk.agent.send('and now?')).toMatchObject({ how: 'complete' });
    expect(find(talk.requests, MARKER).inLast).toBe(0);
    expect(find(talk.requests, WOULD_LEAVE_OUT).inLast).toBe(1);
    expect(talk.events).toContainEqual(expect.objectContaining({ type: 'left_out', ids: ['n1'] }));
    const why = await explain(talk.inbox, 'n1' as never);
    expect(why?.items[0]).toMatchObject({ receipt: 'left_out' });
    expect(why?.items[0]?.steps.map(({ what }) => what)).toEqual(['queued', 'delivered', 'left out']);
    expect(why?.items[0]?.steps.at(-1)?.detail).toMatch(
      /refused the request 3 times with the notification, and accepted the request without the notification: .*bad request/,
    );
    // The notification is delivered when a person queues it again.
    await talk.inbox.requeue('shop/coder', 'n1', 'me');
  });
});

describe('a kill -9 between a refusal and the next request', () => {
  proves('agent:refusals');
  // The second request repeats the first. The third request omits the notification, the fourth has it again, and the fifth is the
  // last request.
  it.each([2, 3, 4, 5])(
    'before request %i: the next process sends the notification, unless the log records it as the cause of the refusals',
    async (nth) => {
      const folder = mkdtempSync(join(tmpdir(), 'earpiece-refused-'));
      const db = join(folder, 'e.db');
      let refuses = true;
      await using model = await startModel(({ text: sent }) =>
        refuses && sent.includes(MARKER) ? KINDS['400 of another cause'] : { says: [text('well')] },
      );
      const queue = async (): Promise<void> => {
        const store = await openSqliteStore({ path: db });
        const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
        await inbox.queue(ADDRESS, { id: 'n1', kind: 'ci.failed', level: 'error', message: MARKER });
        await inbox.close();
      };
      await queue();
      const live = async (env: Readonly<Record<string, string>>): Promise<string | null> => {
        const child = spawn(process.execPath, [join(import.meta.dirname, 'crash/worker.ts'), db, model.url, 'anthropic'], {
          stdio: ['ignore', 'ignore', 'inherit'],
          env: { PATH: process.env['PATH'], ...COMPILED, ...env },
        });
        const [, signal] = (await once(child, 'close')) as [number | null, string | null];
        return signal;
      };
      expect(await live({ EARPIECE_FAULT: `agent.request:${nth}` })).toBe('SIGKILL');
      refuses = false;
      expect(await live({})).toBeNull();
      const counts = find(model.requests, MARKER).counts;
      // Before the fifth request, the log already records that the notification was left out: three refusals have proved the
      // cause.
      expect(counts.at(-1)).toBe(nth === 5 ? 0 : 1);
      const store = await openSqliteStore({ path: db });
      const types = (await store.read({ log: 'shop/coder' as LogKey })).map(({ body }) => body.type);
      expect(types.filter((type) => type === 'carrier_redacted')).toHaveLength(nth === 5 ? 1 : 0);
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  );
});
