/**
 * What the demo's model says once the story is told: it looks after the shop for as long as somebody watches it in the
 * console. Each message, and each notification that wakes it, is a round; what it says follows from what it was sent. It asks
 * for a task in each round, and reports the one that it gets; a task that a person takes out of its hands it lets go.
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
  const calls = since.flatMap(({ tool_calls: made = [] }) => made.map((call) => call.function.name));
  const reports = calls.filter((name) => name === 'report_completed').length;
  const results = since.filter(({ role }) => role === 'tool').length;
  const asked = told.split('\n', 1)[0] ?? '';
  const run = (command: string, more: object = {}): Says['calls'][number] => ({ name: 'run', args: { command, ...more } });
  const report = (args: object): Says['calls'][number] => ({ name: 'report_completed', args: { ...args } });

  const stopped = STOP.exec(told)?.[1];
  if (stopped !== undefined && !told.includes(`"already_interrupted":true`))
    return {
      step: 'read',
      text: `I let go of task ${stopped}, as I am asked to, and report that. `,
      calls: [report({ result: 'blocked', summary: 'I stopped when I was told to.', task_id: stopped })],
    };
  if (stopped !== undefined && !told.includes('Nothing was ended'))
    return {
      step: 'over',
      text:
        `Task ${stopped} is out of my hands: I was stopped between two words, read why, and its execution is closed. ` +
        'See it under Tasks in the console, and “why” beside it; once it may go on I take it up with my next round.',
      calls: [],
    };

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
      calls: [
        run(TESTS, { action: 'spawn', id: `tests-${round}` }),
        run('cat src/cart.js'),
        { name: 'get_next_action', args: {} },
      ],
    };
  const ended = told.includes(`Background run "tests-${round}"`);
  if (!ended && results < LONGEST + 3) return { step: 'read', text: '', calls: [run(BENCH)] };
  const task = TASK.exec(told)?.groups;
  if (reports > 0)
    return {
      step: 'over',
      text: `I have reported task ${task?.['id'] ?? ''}. Give me another one, or none: I look again in a while.`,
      calls: [],
    };
  return {
    step: 'write',
    text:
      (task === undefined ? '' : `I have task ${task['id']}, “${task['title']}”, and work on it while the tests run. `) +
      (ended
        ? `The tests of this round have ended, and I was told so while I measured: half a cent is rounded down in src/cart.js, where the test asks for up. `
        : `The tests of this round are still running. `) +
      `Asked was “${asked.slice(0, 80)}”. I leave the cart as it is, since Accounting wants it so, and look again in a while. ` +
      'Until then you may write to me, pause me, or stop me in the middle of a sentence such as this one, which is long enough for that: ' +
      'whatever you say reaches me with the next message that I am sent, or at once if it is critical.',
    calls:
      task === undefined
        ? []
        : [report({ result: 'success', summary: 'I am a script: I said that I worked on it, and no more.' })],
  };
}

/** What is asked of whoever works on a task that was taken away, in a notification or as the answer of a tool. */
const STOP = /report_completed\(result=\\?"blocked\\?", task_id=\\?"(t\d+)\\?"\)/u;
/** What get_next_action gave it. */
const TASK = /"action":"work","task":\{"id":"(?<id>t\d+)","title":"(?<title>(?:[^"\\]|\\.)*)"/u;

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');
