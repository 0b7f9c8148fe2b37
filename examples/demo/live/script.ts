/**
 * Gives the answers of the demo's model after the story, when the agent looks after the shop while a person watches in the
 * console. Each message, and each notification that wakes the agent, begins a round. The answers depend on the texts that the
 * model reads. In each round, the model asks for a task and reports its result. The model stops work on a task that a person
 * takes away.
 */
import type { Message, Says } from '../chat/script.ts';

const TESTS = 'node check.js';
const BENCH = 'node bench.js';
/** The maximum number of measurements while the tests run. Their results can carry notifications. */
const LONGEST = 6;

export const ROUND = 'Look after the shop: run its tests, and report the result.';

export function nextRound(messages: readonly Message[]): Says {
  // A notification that follows results is a separate message, which does not begin a new round.
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
      text: `I let go of task ${stopped}, as requested, and report that. `,
      calls: [report({ result: 'blocked', summary: 'I stopped because I was asked to.', task_id: stopped })],
    };
  if (stopped !== undefined && !told.includes('Nothing was ended'))
    return {
      step: 'over',
      text:
        `I no longer have task ${stopped}: I was stopped between two words, read why, and its execution is closed. ` +
        'See it under Tasks in the console, with “why” beside it. When it may continue, I take it up in my next round.',
      calls: [],
    };

  // The words are those that a person has written, in the console or on a command line. The demo's own messages have another
  // form.
  const words = /(?:wrote|asks to \w+)[^“]*“([^”]*)”/u.exec(told)?.[1];
  if (words !== undefined && results === 0)
    return {
      step: 'over',
      text:
        `“${words.slice(0, 200)}”: that reached me once, with the next message that I got. I am a script and no model, so I can only ` +
        'confirm that; your own model would answer. “Why” in the console shows how it reached me.',
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
        ? `The tests of this round have ended, and I learned that while I measured: src/cart.js rounds half a cent down, but the test expects up. `
        : `The tests of this round are still running. `) +
      `The request was “${asked.slice(0, 80)}”. I leave the cart unchanged, because Accounting wants it so, and look again in a while. ` +
      'Until then you may write to me, pause me, or stop me in the middle of a sentence such as this one, which is long enough for that: ' +
      'every message of yours reaches me with the next message that I get, or at once if it is critical.',
    calls: task === undefined ? [] : [report({ result: 'success', summary: 'I am a script: I only said that I worked on it.' })],
  };
}

/** The request to an agent whose task was taken away, in a notification or in the answer of a tool. */
const STOP = /report_completed\(result=\\?"blocked\\?", task_id=\\?"(t\d+)\\?"\)/u;
/** The task in an answer of get_next_action. */
const TASK = /"action":"work","task":\{"id":"(?<id>t\d+)","title":"(?<title>(?:[^"\\]|\\.)*)"/u;

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');
