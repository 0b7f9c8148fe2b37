/** Connects AI SDK 6 or 7 through the adapter to a scripted model over HTTP, for tests. */
import { expect } from 'vitest';
import type * as Sdk from 'ai';
import { aiSdk, type AiSdk } from '../../src/ai-sdk/index.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import type { NotificationId, NotificationInput } from '../../src/core/notification.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { changes } from '../agent/prefix.ts';
import type { Part } from '../model/answer.ts';
import { find } from '../model/find.ts';
import { inOrder, startModel, type Model, type Request, type Step } from '../model/server.ts';
import type { Recorded } from '../model/tap.ts';
import { messagesOf } from '../model/texts.ts';
import { validate } from '../wire/validate.ts';

export const MAJORS = [7, 6] as const;
export type Major = (typeof MAJORS)[number];
export const APIS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type Api = (typeof APIS)[number];
export const BOTH = MAJORS.flatMap((major) => APIS.map((api) => [major, api] as const));

export const ADDRESS = 'shop/coder';

/** Imports the AI SDK of this major version. The types of AI SDK 6 and 7 differ only in parts that no test uses. */
export const sdkOf = async (major: Major): Promise<typeof Sdk> =>
  major === 7 ? import('ai') : ((await import('ai-6')) as unknown as typeof Sdk);

export async function modelOf(major: Major, api: Api, url: string): Promise<Sdk.LanguageModel> {
  const settings = { apiKey: 'dummy', baseURL: `${url}/v1` };
  const google = { ...settings, baseURL: `${url}/v1beta` };
  const made = async (): Promise<unknown> => {
    switch (api) {
      case 'openai-chat':
      case 'openai-responses': {
        const { createOpenAI } = major === 7 ? await import('@ai-sdk/openai') : await import('@ai-sdk/openai-3');
        return api === 'openai-chat' ? createOpenAI(settings).chat('gpt-4.1') : createOpenAI(settings).responses('gpt-4.1');
      }
      case 'anthropic': {
        const { createAnthropic } = major === 7 ? await import('@ai-sdk/anthropic') : await import('@ai-sdk/anthropic-3');
        return createAnthropic(settings)('claude-sonnet-4-5');
      }
      case 'gemini': {
        const { createGoogleGenerativeAI } = major === 7 ? await import('@ai-sdk/google') : await import('@ai-sdk/google-3');
        return createGoogleGenerativeAI(google)('gemini-2.5-pro');
      }
    }
  };
  return (await made()) as Sdk.LanguageModel;
}

export const text = (said: string): Part => ({ kind: 'text', text: said });
export const call = (id: string, name: string, args: Record<string, string> = {}): Part => ({ kind: 'call', id, name, args });

export class Desk implements AsyncDisposable {
  readonly major: Major;
  readonly api: Api;
  readonly sdk: typeof Sdk;
  readonly inbox: Inbox;
  readonly ear: AiSdk;
  readonly server: Model<Recorded>;
  readonly model: Sdk.LanguageModel;
  /** The caller's transcript. */
  readonly messages: Sdk.ModelMessage[] = [];
  readonly #ids = new Map<string, NotificationId>();

  private constructor(parts: Pick<Desk, 'major' | 'api' | 'sdk' | 'inbox' | 'ear' | 'server' | 'model'>) {
    ({
      major: this.major,
      api: this.api,
      sdk: this.sdk,
      inbox: this.inbox,
      ear: this.ear,
      server: this.server,
      model: this.model,
    } = parts);
  }

  static async start(
    major: Major,
    api: Api,
    steps: readonly Step[],
    given: { readonly inbox?: Inbox; readonly server?: Model<Recorded> } = {},
  ): Promise<Desk> {
    const server = given.server ?? (await startModel(inOrder(steps)));
    const inbox =
      given.inbox ??
      new Inbox({
        store: memoryStore(),
        policies: { policy: () => ({ ...DEFAULT_POLICY, coalesceMs: {} }) },
        timeZone: 'UTC',
      });
    const [sdk, model] = [await sdkOf(major), await modelOf(major, api, server.url)];
    return new Desk({ major, api, sdk, inbox, server, model, ear: aiSdk(inbox, ADDRESS) });
  }

  get requests(): readonly Recorded[] {
    return this.server.requests;
  }

  /** Returns the settings that a user of the SDK would write. */
  options<T extends Sdk.ToolSet>(tools: T) {
    return {
      model: this.model,
      tools,
      messages: this.messages,
      stopWhen: this.sdk.stepCountIs(10),
      maxRetries: 0,
    };
  }

  ask(content: string): void {
    this.messages.push({ role: 'user', content });
  }

  async queue(message: string, more: Partial<NotificationInput> = {}): Promise<void> {
    const { id } = await this.inbox.queue(ADDRESS, { kind: 'ci.failed', message, ...more });
    this.#ids.set(message.split(' ')[0] ?? '', id);
  }

  /** Returns the receipts. The key is the first word of the notification's message. */
  async receipts(): Promise<Readonly<Record<string, string>>> {
    const all: Record<string, string> = {};
    for (const [word, id] of this.#ids) all[word] = (await this.inbox.why(id))?.items[0]?.receipt ?? 'unknown';
    return all;
  }

  /**
   * Checks the rules for every conversation: the API accepts each request, and each request extends the previous request. No
   * request contains a marker twice, and the last request contains each marker.
   */
  check(markers: readonly string[], except: readonly string[] = []): void {
    for (const request of this.requests) expect(validate(request, except), `request ${request.n}`).toEqual([]);
    expect(changes(this.requests)).toEqual([]);
    for (const marker of markers) {
      const { counts } = find(this.requests, marker);
      expect({ marker, most: Math.max(...counts), last: counts.at(-1) }).toEqual({ marker, most: 1, last: 1 });
    }
  }

  /** Checks that the messages of each request begin with the bytes of the previous request's messages. */
  checkBytes(): void {
    const bytes = this.requests.map(({ body }) => JSON.stringify(messagesOf(body)).slice(0, -1));
    for (const [i, request] of this.requests.entries()) expect(request.raw.toString()).toContain(bytes[i]);
    for (const [i, was] of bytes.slice(0, -1).entries()) expect(bytes[i + 1]?.startsWith(was), `request ${i + 2}`).toBe(true);
  }

  /** The transcript with one word for each part. The custom parts that the Anthropic package of AI SDK 7 adds are left out. */
  get shape(): readonly string[] {
    return this.messages.map(({ role, content }) => {
      const parts = typeof content === 'string' ? ['text'] : content.flatMap(({ type }) => (type === 'custom' ? [] : [type]));
      return `${role}: ${parts.join(' ')}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.inbox.close();
    await this.server[Symbol.asyncDispose]();
  }
}

export type { Request, Step };
