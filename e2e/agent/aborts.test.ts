/** Tests which part of an aborted answer is kept, for each place of the abort and the wire format of each API. */
import { afterEach, describe, expect, it } from 'vitest';
import { halvesOf, type Answer, type Part } from '../model/answer.ts';
import type { Request, Step } from '../model/server.ts';
import { APIS, type Api } from './apis.ts';
import { proves } from '../verifies.ts';
import { Talk } from './talk.ts';

const ARGS = { word: 'a long word' };
const WHOLE = JSON.stringify(ARGS);
const thought: Part = { kind: 'reasoning', text: 'let me think' };
const unsigned: Part = { ...thought, signed: false };
const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string): Part => ({ kind: 'call', id, name: 'echo', args: ARGS });

type Cut = {
  readonly name: string;
  readonly says: Answer;
  /** The answer is aborted before this chunk is sent. Default: before the first byte. */
  readonly at?: { readonly part: number; readonly delta: number };
  /** Resolves when the agent has read the answer up to `at`. After an earlier abort, the agent would keep less. */
  readonly heard?: (talk: Talk) => Promise<void>;
  /** The kept records. `reasoning` is kept only if the API can sign it. */
  readonly kept: (api: Api) => readonly string[];
};

const reasons = (api: Api): readonly string[] => (SIGNS.has(api) ? ['reasoning'] : []);
/** These APIs sign a block of reasoning when the block ends. Gemini signs a call, or the end of the text. */
const SIGNS: ReadonlySet<Api> = new Set(['openai-responses', 'anthropic']);

const CUTS: readonly Cut[] = [
  { name: 'before-first-token', says: [text('never')], kept: () => [] },
  {
    name: 'in-reasoning',
    says: [thought, text('never')],
    at: { part: 0, delta: 2 },
    heard: (talk) => talk.heard('reasoning', 'let me '),
    kept: () => [],
  },
  {
    name: 'behind-signed-reasoning',
    says: [thought, text('never')],
    at: { part: 1, delta: 0 },
    heard: (talk) => talk.heard('reasoning', 'think'),
    kept: () => [],
  },
  {
    name: 'in-text-behind-signed-reasoning',
    says: [thought, text('I will never')],
    at: { part: 1, delta: 2 },
    heard: (talk) => talk.heard('text', 'I will '),
    kept: (api) => [...reasons(api), 'text, truncated'],
  },
  {
    name: 'in-text-behind-unsigned-reasoning',
    says: [unsigned, text('I will never')],
    at: { part: 1, delta: 2 },
    heard: (talk) => talk.heard('text', 'I will '),
    kept: () => ['text, truncated'],
  },
  {
    name: 'in-blank-text',
    says: [text('\n \n never')],
    at: { part: 0, delta: 2 },
    heard: (talk) => talk.heard('text', ' '),
    kept: () => [],
  },
  {
    name: 'in-second-call',
    says: [thought, text('I look'), call('call_1'), call('call_2')],
    at: { part: 3, delta: 2 },
    // Gemini sends each call whole.
    heard: (talk) => talk.heard('tool_input', talk.api === 'gemini' ? WHOLE : WHOLE + halvesOf({ args: ARGS })[0]),
    kept: (api) => [...reasons(api), 'text', 'call call_1', 'result call_1: Not run: interrupted.'],
  },
  {
    name: 'in-first-call',
    says: [thought, call('call_1')],
    at: { part: 1, delta: 2 },
    heard: async (talk) => {
      if (talk.api !== 'gemini') await talk.heard('tool_input', halvesOf({ args: ARGS })[0]);
    },
    kept: () => [],
  },
];

describe.each(APIS)('%s', (api) => {
  proves('agent:aborts');
  let talk: Talk;
  afterEach(() => talk[Symbol.asyncDispose]());

  it.each(CUTS)('keeps the correct part of an answer that is cut off: $name', async ({ name, says, at, heard, kept }) => {
    const cut = async ({ cutOff }: Request): Promise<void> => {
      // OpenAI chat sends no readable reasoning, so `heard` would never resolve.
      if (!(api === 'openai-chat' && (name === 'in-reasoning' || name === 'behind-signed-reasoning'))) await heard?.(talk);
      await talk.queue('FORCED stop that', { level: 'critical' });
      await cutOff;
    };
    const first: Step = at === undefined ? { says, before: cut } : { says, at: [{ ...at, do: cut }] };
    talk = await Talk.start(api, [first, { says: [text('I stop')] }]);
    expect(await talk.agent.send('clean up')).toMatchObject({ how: 'complete', cycles: 2, text: 'I stop' });
    expect(talk.requests.map(({ aborted }) => aborted)).toEqual(['client', null]);
    expect(keptIn(talk)).toEqual(kept(api));
    talk.check(['FORCED']);
    await talk.golden(`abort-${name}`);
  });
});

/** Returns the records between the aborted request and the forced request. */
function keptIn({ agent }: Talk): readonly string[] {
  const records = agent.records as readonly { readonly [key: string]: unknown }[];
  const requests = records.flatMap(({ type }, i) => (type === 'chat_request' ? [i] : []));
  return records.slice((requests[0] ?? 0) + 1, requests[1]).flatMap((record) => {
    if (record['type'] === 'tool_call_request') return [`call ${String(record['id'])}`];
    if (record['type'] === 'tool_call_response') return [`result ${String(record['id'])}: ${String(record['content'])}`];
    if (record['type'] !== 'chat_response') return [];
    return [`${'reasoning' in record ? 'reasoning' : 'text'}${record['truncated'] ? ', truncated' : ''}`];
  });
}
