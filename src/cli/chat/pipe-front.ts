/**
 * Runs a conversation without a terminal. Each line of stdin is a message or a slash command. The conversation is written to
 * stdout as plain text, and problems to stderr. The conversation ends when stdin and the last turn have ended, at `/quit`, or
 * when stdout has no reader. A signal also ends the conversation (Ctrl+C only between turns).
 */
import { createInterface, type Interface } from 'node:readline';
import type { AgentEvent, TurnResult } from '../../agent/index.ts';
import { EXIT } from '../exit.ts';
import { complain, plain } from '../terminal.ts';
import { Details } from './details.ts';
import { Driver } from './driver.ts';
import type { Front } from './front.ts';
import { historyLines } from './history.ts';
import { Narrator } from './narrator.ts';
import { PlainSurface } from './plain-surface.ts';
import type { Session } from './session.ts';
import { onReaderGone, onSignals, SIGNAL_CODES } from './signals.ts';
import { isCommand, messageOf, slash } from './slash.ts';

export class PipeFront implements Front {
  #narrator: Narrator | undefined;

  note(line: string): void {
    complain(line);
  }

  told(message: string): void {
    this.#narrator?.told(message);
  }

  handles(): void {}

  async run(session: Session, first: string): Promise<number> {
    const details = new Details();
    const write = (text: string): void => void process.stdout.write(text);
    const narrator = new Narrator(new PlainSurface({ text: write, lines: write, coloured: false }), details, (ids) =>
      session.delivered(ids),
    );
    this.#narrator = narrator;
    const driver = new Driver({
      session,
      show: (event) => this.#show(narrator, event),
      sent: (text) => narrator.said(text),
      trouble: complain,
    });
    const ended = Promise.withResolvers<number | undefined>();
    const quit = (code?: number): void => ended.resolve(code);
    using _signals = onSignals((signal) => {
      // Ctrl+C during a turn ends only the turn.
      if (signal === 'SIGINT' && driver.busy) driver.stop();
      else quit(SIGNAL_CODES[signal]);
    });
    using _reader = onReaderGone(() => quit(EXIT.ok.code));

    const { records } = session.agent;
    write(`${session.agent.address} · ${session.model}\n`);
    narrator.apart();
    const history = session.choice.goesOn ? historyLines(records, Number.POSITIVE_INFINITY) : [];
    if (history.length > 0) narrator.lines(history);
    if (session.choice.resumes) driver.resume();
    if (first !== '') driver.send(first);
    const input = createInterface({ input: process.stdin });
    void this.#read(input, driver, async (text) => {
      narrator.lines(await slash(text, { driver, details, width: Number.POSITIVE_INFINITY, quit }));
    }).then(async () => {
      await driver.settled();
      quit();
    });
    const code = await ended.promise;
    input.close();
    process.stdin.destroy();
    await driver.end();
    return code ?? codeOf(driver.last);
  }

  async #read(input: Interface, driver: Driver, command: (text: string) => Promise<void>): Promise<void> {
    for await (const line of input) {
      const text = line.trim();
      if (text === '') continue;
      if (isCommand(text)) await command(text).catch(driver.trouble);
      else driver.send(messageOf(text));
    }
  }

  async #show(narrator: Narrator, event: AgentEvent): Promise<void> {
    await narrator.tell(event);
    if (event.type === 'wake_asked')
      narrator.note(`to begin a turn about these notifications, write /wake: ${plain(event.text, 400)}`);
  }
}

/** Returns the exit code of a conversation without a person, which depends on how the last turn ended. */
export const codeOf = (how: Driver['last']): number => (how === undefined ? EXIT.ok : EXIT[CODES[how]]).code;

const CODES = {
  complete: 'ok',
  truncated: 'truncated',
  refused: 'refused',
  stopped: 'stopped',
  failed: 'failed',
} as const satisfies Record<TurnResult['how'], keyof typeof EXIT>;
