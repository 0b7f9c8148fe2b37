/**
 * Gives the answers of the demo's model, which is a script. The script reads the conversation and gives the next answer of the
 * story. The script has no state, so a repeated request gets the same answer.
 */

/** A message in the format of OpenAI's chat API. */
export type Message = {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
};

export type Step = 'start' | 'read' | 'edit' | 'write' | 'undo' | 'wait' | 'over';

export type Says = {
  readonly step: Step;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  /** Whether the answer never ends by itself, so that only an interrupt ends it. */
  readonly endless?: true;
};

export const TESTS = 'node check.js';
export const EDIT = 'sed s/Math.floor/Math.round/ src/cart.js > new.js && mv new.js src/cart.js';
export const UNDO = 'sed s/Math.round/Math.floor/ src/cart.js > new.js && mv new.js src/cart.js';
/** The commands that the agent runs while the tests run. The last command is repeated as often as needed. */
const MEANWHILE = ['cat src/prices.json', 'node bench.js'];

/** The words in notifications for which the demo waits. */
export const FAILED = 'failed with exit code 1';
export const STOP = 'Stop, please.';

export function nextOf(messages: readonly Message[]): Says {
  const told = messages
    .filter(({ role }) => role !== 'assistant')
    .map(textOf)
    .join('\n');
  const done = new Set(messages.flatMap(({ tool_calls: calls = [] }) => calls.map(commandOf)));
  const run = (command: string, more: object = {}): Says['calls'][number] => ({ name: 'run', args: { command, ...more } });

  if (!done.has(TESTS))
    return {
      step: 'start',
      text: 'I run the tests in the background and read the code meanwhile.',
      calls: [run(TESTS, { action: 'spawn', id: 'tests' }), run('cat src/cart.js')],
    };
  if (!told.includes(FAILED))
    return { step: 'read', text: '', calls: [run(MEANWHILE.find((each) => !done.has(each)) ?? 'node bench.js')] };
  if (!done.has(EDIT))
    return {
      step: 'edit',
      text: 'The tests show it: half a cent must be rounded up, and total() rounds it down. I change that.',
      calls: [run(EDIT)],
    };
  if (!told.includes(STOP)) return { step: 'write', text: ENTRY, calls: [], endless: true };
  if (!done.has(UNDO)) return { step: 'undo', text: 'Maria stops me. I put the cart back as it was.', calls: [run(UNDO)] };
  if (messages.at(-1)?.role === 'tool')
    return { step: 'wait', text: 'src/cart.js is restored, and I wrote nothing else. I wait for Maria.', calls: [] };
  return {
    step: 'over',
    text: 'I am a script, and my story ends here. With your own key, or with Ollama, npm start talks to a real model.',
    calls: [],
  };
}

const ENTRY =
  'Now the entry for CHANGELOG.md. The checkout rounded half a cent down, where a customer would round it up. A cart of 1001 cents at half ' +
  'its price cost 500 cents and not 501. The checkout rounds to the nearest cent now, as the tests ask for. Who is concerned: every cart with a share ' +
  'of its price, which are gift cards, vouchers and the split of a bill among friends. Carts without a share stay as they are, since their ' +
  'sum is a whole number of cents from the beginning. The prices themselves do not change, and neither do orders that are paid already.';

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');

function commandOf({ function: { arguments: args } }: NonNullable<Message['tool_calls']>[number]): string {
  return String((JSON.parse(args) as { command?: unknown }).command);
}
