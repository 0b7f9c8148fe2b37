/**
 * What the demo's model says once the story is told: it looks after the shop for as long as somebody watches it in the
 * console. Each message, and each notification that wakes it, is a round; what it says follows from what it was sent.
 */
import type { Message, Says } from '../chat/script.ts';

const TESTS = 'node check.js';
const BENCH = 'node bench.js';
/** While the tests run it measures, so that there are results for things to ride on. */
const LONGEST = 6;

export const ROUND = 'Look after the shop: run its tests, and tell me what you see.';

export function nextRound(messages: readonly Message[]): Says {
  // What rides behind results stands in a message of its own, and begins no round.
  const isRound = (message: Message): boolean => message.role === 'user' && !textOf(message).trimStart().startsWith('[ep ');
  const begins = messages.findLastIndex(isRound);
  const round = messages.filter(isRound).length;
  const since = messages.slice(begins);
  const told = since.map(textOf).join('\n');
  const calls = since.flatMap(({ tool_calls: made = [] }) => made.map((call) => call.function.arguments));
  const results = since.filter(({ role }) => role === 'tool').length;
  const asked = told.split('\n', 1)[0] ?? '';
  const run = (command: string, more: object = {}): Says['calls'][number] => ({ name: 'run', args: { command, ...more } });

  // Said by a person, in the console or on a command line, and not by whoever leads the demo.
  const words = /(?:wrote|asks to \w+)[^“]*“([^”]*)”/u.exec(told)?.[1];
  if (words !== undefined && results === 0)
    return {
      step: 'over',
      text:
        `“${words.slice(0, 200)}”: that reached me with what was sent to me next, and only once. I am a script and no model, so I cannot do ` +
        'more than tell you so; with a model of yours I would answer. Look at “why” in the console to see how it came to me.',
      calls: [],
    };
  if (calls.length === 0)
    return {
      step: 'start',
      text: 'I run the tests in the background, and measure how fast the checkout is meanwhile.',
      calls: [run(TESTS, { action: 'spawn', id: `tests-${round}` }), run('cat src/cart.js')],
    };
  const ended = told.includes(`Background run "tests-${round}"`);
  if (!ended && results < LONGEST + 2) return { step: 'read', text: '', calls: [run(BENCH)] };
  return {
    step: 'write',
    text:
      (ended
        ? `The tests of this round have ended, and I was told so while I measured: half a cent is rounded down in src/cart.js, where the test asks for up. `
        : `The tests of this round are still running. `) +
      `Asked was “${asked.slice(0, 80)}”. I leave the cart as it is, since Accounting wants it so, and look again in a while. ` +
      'Until then you may write to me, pause me, or stop me in the middle of a sentence such as this one, which is long enough for that: ' +
      'whatever you say reaches me with the next message that I am sent, or at once if it is critical.',
    calls: [],
  };
}

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');
