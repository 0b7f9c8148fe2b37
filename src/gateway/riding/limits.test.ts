/** Checks the largest results that clients show whole, as measured with the real clients: see `profiles.ts`. */
import { describe, expect, test } from 'vitest';

import { proves } from '../../../e2e/verifies.ts';
import { frameOf, type Success } from '../../mcp/frames/frame.ts';
import { carry } from './carry.ts';
import { GuardedRider } from './guarded.ts';
import { profileOf } from './profiles.ts';
import { noDelivery, noRider, type Connection } from './rider.ts';

const NOTE = 'MARK1END';

/** Whether NOTE is added to a result of this client. If NOTE is not added, its delivery must be released. */
async function rides(client: string, result: object): Promise<boolean> {
  const connection: Connection = { key: 'k', profile: profileOf({ name: client }) };
  let released: string | undefined;
  const delivery = { ...noDelivery, release: (reason: string) => void (released = reason) };
  const rider = new GuardedRider(
    {
      ...noRider,
      after: (_, { chars, maxChars }) => (chars > maxChars ? { kind: 'none' } : { kind: 'ride', text: NOTE, delivery }),
    },
    () => {},
  );
  const call = { server: 's', tool: 't', requestId: '1', connection, cancelled: false };
  const frame = frameOf(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))) as Success;
  const out = await carry(rider, call, 'none', frame);
  const rode = out.bytes.includes(NOTE);
  expect(released === undefined || !rode).toBe(true);
  return rode;
}

const text = (value: string, more: object = {}): object => ({ content: [{ type: 'text', text: value }], ...more });
const lines = (count: number): object => text(Array.from({ length: count }, () => 'x').join('\n'));
const picture = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(200_000) };

describe('no notification is added to a result that the client would not show whole', () => {
  proves('gateway:max-result');
  test.each<[string, string, object, boolean]>([
    ['qwen-code', '25,000 characters with the notification', text('x'.repeat(25_000 - NOTE.length - 1)), true],
    ['qwen-code', '25,001 characters', text('x'.repeat(25_001 - NOTE.length - 1)), false],
    ['qwen-code', 'characters, not bytes', text('é'.repeat(24_000)), true],
    ['qwen-code', 'many blocks', { content: Array.from({ length: 12_500 }, () => ({ type: 'text', text: 'x' })) }, false],
    ['qwen-code', 'an error of any size', text('x'.repeat(30_000), { isError: true }), true],
    ['opencode', '51,200 bytes with the notification', text('x'.repeat(51_200 - NOTE.length - 2)), true],
    ['opencode', '51,201 bytes', text('x'.repeat(51_201 - NOTE.length - 2)), false],
    ['opencode', 'bytes, not characters', text('é'.repeat(25_596)), false],
    ['opencode', '1,950 lines', lines(1_950), true],
    ['opencode', '1,999 lines: no room for the notification', lines(1_999), false],
    ['opencode', 'an error of any size', text('x'.repeat(60_000), { isError: true }), true],
    ['opencode', 'a picture, which does not count', { content: [picture, { type: 'text', text: 'a page' }] }, true],
    ['gemini-cli-mcp-client', '200,000 characters', text('x'.repeat(200_000)), true],
    ['codex-mcp-client', '12,000 bytes', text('x'.repeat(12_000)), false],
    ['claude-code', '49,000 characters', text('x'.repeat(49_000)), true],
    ['claude-code', '50,000 characters', text('x'.repeat(50_000)), false],
    ['claude-code', 'an error of 11,000 characters', text('x'.repeat(11_000), { isError: true }), false],
  ])('%s: %s', async (client, _, result, expected) => {
    expect(await rides(client, result)).toBe(expected);
  });
});
