import { afterEach, describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

const AGENT = 'shop/claude';
const STORY = Array.from({ length: 400 }, (_, i) => `line ${i} of what the build said`).join('\n');

function stage(maxTokens: number) {
  const policies = { policy: () => ({ ...DEFAULT_POLICY, maxTokens }) };
  const inbox = new Inbox({ store: memoryStore(), policies, timeZone: 'UTC' });
  closing.push(() => inbox.close());
  return { inbox, conversation: inbox.conversation(`${AGENT}#a`, { pulls: true }) };
}
const RESULT = { type: 'tool_call_response', id: 'c', content: 'ok', is_error: false } as const;

describe('a notification that is longer than the limit of a carrier', () => {
  proves('view:budget');

  it('is delivered cut, and get_notifications returns all of it once', async () => {
    const { inbox, conversation } = stage(200);
    await inbox.queue(AGENT, { kind: 'build.failed', level: 'error', message: STORY });
    await inbox.queue(AGENT, { kind: 'disk.full', level: 'error', message: 'short' });
    const { view } = await conversation.carry(RESULT, { at: 'tool_batch_end' });
    expect(estimateTokens(view?.text ?? '')).toBeLessThanOrEqual(200);
    expect(view?.text).toContain('build error: line 0');
    expect(view?.text).toContain('(all of it: get_notifications)');
    expect((await inbox.open(AGENT)).map((item) => item.notification.message)).toEqual(['short']);
    await conversation.carry(RESULT, { at: 'tool_batch_end' });

    const { notifications, offer } = await conversation.pull({ mark: true });
    expect(notifications.map(({ message }) => message)).toEqual([STORY]);
    await offer?.confirm();
    expect((await conversation.pull({ mark: true })).notifications).toEqual([]);
  });

  it('is offered again with the same cut text', async () => {
    const { inbox, conversation } = stage(200);
    await inbox.queue(AGENT, { kind: 'build.failed', level: 'error', message: STORY });
    const first = await conversation.offer({ at: 'tool_result' });
    await first?.release('cancelled');
    const again = await conversation.offer({ at: 'tool_result' });
    expect(again?.view.items).toEqual(first?.view.items.map((item) => ({ ...item, repeated: true })));
    expect(again?.view.repeated).toBe(true);
    expect(estimateTokens(again?.view.text ?? '')).toBeLessThanOrEqual(205);
  });

  it('a notification whose text only pretends to be cut is not returned again', async () => {
    const { inbox, conversation } = stage(800);
    await inbox.queue(AGENT, { kind: 'build.failed', message: 'x (all of it: get_notifications)' });
    await conversation.carry(RESULT, { at: 'tool_batch_end' });
    expect((await conversation.pull({ mark: true })).notifications).toEqual([]);
  });

  it('an interrupt that holds calls back is not cut to the budget', async () => {
    const { inbox, conversation } = stage(50);
    const message = 'Stop. '.repeat(100).trim();
    await inbox.queue(AGENT, { kind: 'user.message', level: 'critical', message });
    expect((await conversation.refuse({ on: 'fetch' }))?.text).toContain(message);
  });
});
