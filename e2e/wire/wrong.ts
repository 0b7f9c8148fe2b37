/** Lists for each API requests that break a rule, each with the id of that rule, and one correct request. */
import type { Json, JsonObject } from '../model/json.ts';
import type { WireName } from '../model/server.ts';

type Sample = {
  readonly path: string;
  readonly good: JsonObject;
  readonly bad: readonly (readonly [rule: string, body: JsonObject])[];
};

const tool = { type: 'function', function: { name: 'echo', parameters: { type: 'object' } } };
const chat = (...messages: readonly Json[]): JsonObject => ({ model: 'gpt-4.1', tools: [tool], messages });
const said = (role: string, content: Json): JsonObject => ({ role, content });
const call = (id: string, name = 'echo', args: Json = '{}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const calls = (...tool_calls: readonly Json[]): JsonObject => ({ role: 'assistant', content: null, tool_calls });
const answer = (tool_call_id: string, content: Json = 'ok'): JsonObject => ({ role: 'tool', tool_call_id, content });
const hi = said('user', 'hi');

const input = (...items: readonly Json[]): JsonObject => ({ model: 'gpt-5', store: false, input: items });
const asks = said('user', [{ type: 'input_text', text: 'hi' }]);
const calling = (call_id: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  call_id,
  name: 'echo',
  arguments: '{}',
  ...more,
});
const output = (call_id: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call_output',
  call_id,
  output: 'ok',
  ...more,
});
const reasoning = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'reasoning',
  id,
  summary: [],
  encrypted_content: 'sealed',
  ...more,
});

const claude = (...messages: readonly Json[]): JsonObject => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 4096,
  tools: [{ name: 'echo', input_schema: { type: 'object' } }],
  messages,
});
const thinking = (...messages: readonly Json[]): JsonObject => ({
  ...claude(...messages),
  thinking: { type: 'enabled', budget_tokens: 1024 },
});
const text = (text: string): JsonObject => ({ type: 'text', text });
const use = (id: string, input: Json = {}): JsonObject => ({ type: 'tool_use', id, name: 'echo', input });
const result = (tool_use_id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id,
  content: 'ok',
  ...more,
});
const thought = (signature: Json = 'signed'): JsonObject => ({ type: 'thinking', thinking: 'hm', signature });
const cached = (block: JsonObject): JsonObject => ({ ...block, cache_control: { type: 'ephemeral' } });
const user = (...content: readonly Json[]): JsonObject => said('user', content);
const claudeSays = (...content: readonly Json[]): JsonObject => said('assistant', content);

const google = (...contents: readonly Json[]): JsonObject => ({ contents });
const asked = (...parts: readonly Json[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: readonly Json[]): JsonObject => ({ role: 'model', parts });
const fn = (name = 'echo', thoughtSignature: Json = 'thought'): JsonObject => ({
  functionCall: { name, args: {} },
  thoughtSignature,
});
const unsigned = (name = 'echo'): JsonObject => ({ functionCall: { name, args: {} } });
const response = (name = 'echo', response: Json = { content: 'ok' }): JsonObject => ({ functionResponse: { name, response } });
const q = asked({ text: 'hi' });

export const SAMPLES: Readonly<Record<WireName, Sample>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    good: chat(
      said('system', 'be brief'),
      hi,
      calls(call('a'), call('b')),
      answer('a'),
      answer('b', ''),
      said('developer', 'note'),
      said('assistant', 'ok'),
      hi,
    ),
    bad: [
      ['chat:messages', chat()],
      ['chat:role', chat(said('model', 'hi'))],
      ['chat:calls-answered', chat(hi, calls(call('a'), call('b')), answer('a'), hi)],
      ['chat:calls-answered', chat(hi, calls(call('a'), call('b')), answer('a'), said('system', 'a notification'), answer('b'))],
      ['chat:orphan-result', chat(hi, calls(call('a')), answer('a'), hi, answer('a2'))],
      ['chat:answered-once', chat(hi, calls(call('a')), answer('a'), answer('a'))],
      ['chat:call-ids', chat(hi, calls(call('a'), call('a')), answer('a'))],
      ['chat:call-id-length', chat(hi, calls(call('x'.repeat(41))), answer('x'.repeat(41)))],
      ['chat:calls-not-empty', chat(hi, { role: 'assistant', content: 'ok', tool_calls: [] })],
      ['chat:arguments', chat(hi, calls(call('a', 'echo', {})), answer('a'))],
      ['chat:arguments', chat(hi, calls(call('a', 'echo', '{"word":"ha')), answer('a'))],
      ['chat:function-name', chat(hi, calls(call('a', 'system.notification')), answer('a'))],
      ['chat:content', chat(hi, said('assistant', null), hi)],
      ['chat:content', chat(hi, said('assistant', ''), hi)],
      ['chat:part-type', chat(hi, calls(call('a')), answer('a', [{ type: 'image_url', image_url: { url: 'data:' } }]))],
      ['chat:part-type', chat(said('user', [{ type: 'text', text: '' }]))],
      ['chat:tool-choice', { model: 'gpt-4.1', messages: [hi], tool_choice: 'auto' }],
    ],
  },
  'openai-responses': {
    path: '/v1/responses',
    good: input(
      asks,
      reasoning('rs_1'),
      calling('a'),
      calling('b'),
      output('a'),
      said('developer', 'note'),
      output('b'),
      said('assistant', 'ok'),
      asks,
    ),
    bad: [
      ['responses:input', input()],
      ['responses:item-type', input(asks, { type: 'tool_result' })],
      ['responses:role', input(said('tool', 'ok'))],
      ['responses:call-answered', input(asks, calling('a'), calling('b'), output('a'))],
      ['responses:orphan-output', input(asks, output('a'), calling('a'), output('a'))],
      ['responses:call-ids', input(asks, calling('a'), calling('a'), output('a'))],
      [
        'responses:item-ids',
        input(asks, reasoning('rs_1'), calling('a'), output('a'), reasoning('rs_1'), said('assistant', 'ok')),
      ],
      ['responses:id-prefix', input(asks, calling('a', { id: 'call_a' }), output('a'))],
      ['responses:arguments', input(asks, calling('a', { arguments: {} }), output('a'))],
      ['responses:output', input(asks, calling('a'), output('a', { output: [{ type: 'text', text: 'ok' }] }))],
      ['responses:part-type', input(asks, said('assistant', [{ type: 'input_text', text: 'ok' }]))],
      ['responses:part-type', input(said('user', [{ type: 'text', text: 'hi' }]))],
      ['responses:content', input(said('user', []))],
      ['responses:reasoning-followed', input(asks, reasoning('rs_1'), said('developer', 'note'))],
      ['responses:not-stored', input(asks, reasoning('rs_1', { encrypted_content: null }), said('assistant', 'ok'))],
      ['responses:not-stored', input(asks, { type: 'item_reference', id: 'msg_1' })],
      ['responses:summary', input(asks, { type: 'reasoning', id: 'rs_1', encrypted_content: 's' }, said('assistant', 'ok'))],
    ],
  },
  anthropic: {
    path: '/v1/messages',
    good: thinking(
      user(text('hi')),
      claudeSays(thought(), text('so'), use('a'), use('b')),
      user(result('a'), result('b', { content: '' }), text('note')),
      claudeSays(text('ok')),
      user(text('hi')),
    ),
    bad: [
      ['anthropic:max-tokens', { messages: [user(text('hi'))] }],
      ['anthropic:max-tokens', { ...thinking(user(text('hi'))), max_tokens: 1024 }],
      ['anthropic:messages', claude()],
      ['anthropic:role', claude(user(text('hi')), said('system', 'a notification'))],
      ['anthropic:first-user', claude(claudeSays(text('hi')), user(text('hi')))],
      ['anthropic:alternation', claude(user(text('hi')), user(text('again')))],
      ['anthropic:calls-answered', claude(user(text('hi')), claudeSays(use('a'), use('b')), user(result('a')))],
      [
        'anthropic:calls-answered',
        claude(user(text('hi')), claudeSays(use('a')), user(text('a notification')), claudeSays(text('ok')), user(result('a'))),
      ],
      ['anthropic:orphan-result', claude(user(text('hi')), claudeSays(text('ok')), user(result('a')))],
      ['anthropic:results-first', claude(user(text('hi')), claudeSays(use('a')), user(text('a notification'), result('a')))],
      ['anthropic:answered-once', claude(user(text('hi')), claudeSays(use('a')), user(result('a'), result('a')))],
      ['anthropic:call-ids', claude(user(text('hi')), claudeSays(use('a'), use('a')), user(result('a')))],
      ['anthropic:call-ids', claude(user(text('hi')), claudeSays(use('a.b')), user(result('a.b')))],
      ['anthropic:input', claude(user(text('hi')), claudeSays(use('a', '{}')), user(result('a')))],
      ['anthropic:blank-text', claude(user(text('hi')), claudeSays(text(' \n')), user(text('hi')))],
      ['anthropic:blank-text', claude(said('user', ''))],
      ['anthropic:content', claude(user(text('hi')), claudeSays(), user(text('hi')))],
      [
        'anthropic:error-says',
        claude(user(text('hi')), claudeSays(use('a')), user(result('a', { content: '', is_error: true }))),
      ],
      ['anthropic:trailing-space', claude(user(text('hi')), claudeSays(text('I was about ')))],
      ['anthropic:prefill', thinking(user(text('hi')), claudeSays(text('I was about')))],
      ['anthropic:signed-thinking', thinking(user(text('hi')), claudeSays(thought(''), text('ok')), user(text('hi')))],
      ['anthropic:thinking-first', thinking(user(text('hi')), claudeSays(use('a')), user(result('a')))],
      ['anthropic:thinking-last', thinking(user(text('hi')), claudeSays(text('so'), thought()), user(text('hi')))],
      ['anthropic:tools', { ...claude(user(text('hi')), claudeSays(use('a')), user(result('a'))), tools: [] }],
      ['anthropic:cache-marks', claude(user(...Array.from({ length: 5 }, (_, i) => cached(text(`hi ${i}`)))))],
      ['anthropic:cache-marks', claude(user(text('hi')), claudeSays(cached(thought()), text('ok')), user(text('hi')))],
      ['anthropic:block-side', claude(user(text('hi')), claudeSays(text('ok'), result('a')), user(text('hi')))],
    ],
  },
  gemini: {
    path: '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
    good: google(
      q,
      model({ text: 'hm', thought: true }, fn(), unsigned('other')),
      asked(response(), response('other')),
      asked({ text: 'note' }),
      model({ text: 'ok' }),
      q,
    ),
    bad: [
      ['gemini:contents', google()],
      ['gemini:role', google({ role: 'system', parts: [{ text: 'a notification' }] }, q)],
      ['gemini:first-user', google(model({ text: 'hi' }), q)],
      ['gemini:last-user', google(q, model({ text: 'I was about' }))],
      ['gemini:parts', google(q, model(), q)],
      ['gemini:parts', google(q, model({ text: '' }), q)],
      ['gemini:parts', google(q, model({}), q)],
      ['gemini:calls-answered', google(q, model(fn(), unsigned('other')), asked(response()))],
      ['gemini:calls-answered', google(q, model(fn()), asked({ text: 'a notification' }), asked(response()))],
      ['gemini:calls-answered', google(q, model(fn(), unsigned('other')), asked(response('other'), response()))],
      ['gemini:orphan-response', google(q, model({ text: 'ok' }), asked(response()))],
      ['gemini:call-after-user', google(q, model({ text: 'so' }), model(fn()), asked(response()))],
      ['gemini:responses-alone', google(q, model(fn()), asked(response(), { text: 'a notification' }))],
      ['gemini:alternation', google(q, q)],
      ['gemini:signature', google(q, model(unsigned()), asked(response()))],
      ['gemini:real-signature', google(q, model(fn('echo', 'skip_thought_signature_validator')), asked(response()))],
      ['gemini:response-object', google(q, model(fn()), asked(response('echo', 'ok')))],
    ],
  },
};
