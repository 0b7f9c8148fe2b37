import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameOf, type Success } from '../../mcp/frames/frame.ts';
import { withInstructions } from './instructions.ts';
import { proves } from '../../../e2e/verifies.ts';

const OURS = 'Ours: “the mark” k7f3.\nTwo lines, \\ and "quotes".';
const spliced = (json: string, text = OURS): string => withInstructions(frameOf(Buffer.from(json)) as Success, text).toString();
const answer = (result: string): string => `{"jsonrpc":"2.0","id":1,"result":${result}}`;

describe("the gateway's text after a server's instructions", () => {
  it.each([
    ['no instructions', '{"big": 12345678901234567890, "x":1.0}', undefined],
    ['an empty text', '{"instructions":"","x":1.0}', ''],
    ['a text with escapes', '{"instructions" : "a\\u0041\\n\\"b\\"" ,"x":1.0}', 'aA\n"b"'],
    ['instructions that are null', '{"instructions":null,"x":1.0}', undefined],
    ['instructions that occur twice', '{"instructions":"first","instructions":"last"}', 'last'],
  ])('%s', (_, result, own) => {
    proves('mark:instructions');
    const after = JSON.parse(spliced(answer(result))) as { result: { instructions: string } };
    expect(after.result.instructions).toBe(own === undefined || own === '' ? OURS : `${own}\n\n${OURS}`);
  });

  it('no other byte changes', () => {
    proves('mark:instructions');
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.string({ minLength: 1 }), (own, other, text) => {
        const start = `{"jsonrpc":"2.0", "id":1,"result":{"a":${JSON.stringify(other)},"instructions": ${JSON.stringify(own).slice(0, -1)}`;
        const end = '" , "n":1.0}}';
        const after = spliced(start + end, text);
        expect(after.startsWith(start) && after.endsWith(end)).toBe(true);
        const said = (JSON.parse(after) as { result: { instructions: string } }).result.instructions;
        expect(said).toBe(own === '' ? text : `${own}\n\n${text}`);
      }),
    );
  });

  it('invalid JSON passes unchanged', () => {
    const broken = Buffer.from(answer('{"instructions":"x", y}'));
    expect(withInstructions({ ...(frameOf(Buffer.from(answer('{}'))) as Success), bytes: broken }, OURS)).toBe(broken);
  });
});
