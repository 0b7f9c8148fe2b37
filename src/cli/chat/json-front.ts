/**
 * Runs a conversation for a program. Output: one `AgentEvent` or `FrontEvent` per line. Input: one message per line, as text or
 * as an object: {"type":"send"|"reply","text":…}, {"type":"stop"}, {"type":"wake","ids":[…]?}, {"type":"quit"}.
 */
import { createInterface } from 'node:readline';
import { didYouMean } from '../../core/errors.ts';
import type { NotificationId } from '../../core/notification.ts';
import { EXIT } from '../exit.ts';
import { printJson } from '../terminal.ts';
import { Driver } from './driver.ts';
import type { Front } from './front.ts';
import { codeOf } from './pipe-front.ts';
import type { Session } from './session.ts';
import { onReaderGone, onSignals, SIGNAL_CODES } from './signals.ts';

/** Events that this front adds to the events of the agent. */
export type FrontEvent =
  | { readonly type: 'opened'; readonly conversation: string; readonly model: string; readonly resumed: boolean }
  | { readonly type: 'told'; readonly message: string }
  | { readonly type: 'note'; readonly message: string }
  /** An invalid input line, or an internal error. */
  | { readonly type: 'error'; readonly message: string };

const say = (event: FrontEvent): void => printJson(event);

const INPUTS = ['send', 'reply', 'stop', 'wake', 'quit'] as const;
type Input =
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'reply'; readonly text: string }
  | { readonly type: 'stop' }
  | { readonly type: 'quit' }
  | { readonly type: 'wake'; readonly ids?: readonly NotificationId[] }
  | { readonly type: 'wrong'; readonly why: string };

export class JsonFront implements Front, Disposable {
  /** The events before `opened`; undefined after `opened`. */
  #early: FrontEvent[] | undefined = [];

  note(message: string): void {
    this.#say({ type: 'note', message });
  }

  told(message: string): void {
    this.#say({ type: 'told', message });
  }

  #say(event: FrontEvent): void {
    if (this.#early === undefined) say(event);
    else this.#early.push(event);
  }

  /** Prints the events that were kept until `opened`, even if the conversation could not be opened. */
  [Symbol.dispose](): void {
    const held = this.#early ?? [];
    this.#early = undefined;
    held.forEach(say);
  }

  handles(): void {}

  async run(session: Session, first: string): Promise<number> {
    const { agent, choice } = session;
    say({ type: 'opened', conversation: agent.address, model: session.model, resumed: choice.goesOn });
    this[Symbol.dispose]();
    const driver = new Driver({
      session,
      show: (event) => printJson(event),
      sent: () => {},
      trouble: (message) => say({ type: 'error', message }),
    });
    const ended = Promise.withResolvers<number | undefined>();
    using _signals = onSignals((signal) => {
      if (signal === 'SIGINT' && driver.busy) driver.stop();
      else ended.resolve(SIGNAL_CODES[signal]);
    });
    using _reader = onReaderGone(() => ended.resolve(EXIT.ok.code));
    if (choice.resumes) driver.resume();
    if (first !== '') driver.send(first);

    const wake = async (ids?: readonly NotificationId[]): Promise<void> => {
      if (!(await driver.wake(ids)))
        say({ type: 'error', message: driver.busy ? 'a turn is already running' : 'there is no notification to deliver' });
    };
    const input = createInterface({ input: process.stdin });
    void (async () => {
      for await (const line of input) {
        if (line.trim() === '') continue;
        const said = inputOf(line);
        if (said.type === 'quit') return ended.resolve(undefined);
        if (said.type === 'wrong') say({ type: 'error', message: said.why });
        else if (said.type === 'send') driver.send(said.text);
        else if (said.type === 'reply') driver.reply(said.text);
        else if (said.type === 'stop') driver.stop();
        else await wake(said.ids).catch(driver.trouble);
      }
      await driver.settled();
      ended.resolve(undefined);
    })();
    const code = await ended.promise;
    input.close();
    process.stdin.destroy();
    await driver.end();
    return code ?? codeOf(driver.last);
  }
}

export function inputOf(line: string): Input {
  if (!line.trimStart().startsWith('{')) return { type: 'send', text: line.trim() };
  let given: Readonly<Record<string, unknown>>;
  try {
    given = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return { type: 'wrong', why: `a line that begins with "{" must be JSON, got ${line.slice(0, 80)}` };
  }
  const { type, text, ids } = given;
  switch (type) {
    case 'send':
    case 'reply':
      if (typeof text !== 'string' || text.trim() === '')
        return {
          type: 'wrong',
          why: `${type} needs a text that is not blank, got ${(JSON.stringify(text) ?? 'none').slice(0, 80)}`,
        };
      return { type, text };
    case 'stop':
    case 'quit':
      return { type };
    case 'wake':
      if (ids === undefined) return { type };
      if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
        return { type: 'wrong', why: `ids must be a list of notification ids, got ${JSON.stringify(ids).slice(0, 80)}` };
      return { type, ids: ids as NotificationId[] };
    default: {
      const near = typeof type === 'string' ? didYouMean(type, INPUTS) : undefined;
      return {
        type: 'wrong',
        why: `type ${JSON.stringify(type) ?? 'is missing and'} must be one of ${INPUTS.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
      };
    }
  }
}
