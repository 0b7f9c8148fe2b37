/** `earpiece run`: runs one turn with a prompt, to its end. */
import { EarpieceError } from '../../core/errors.ts';
import { formatDuration } from '../../config/index.ts';
import { defined } from '../../core/defined.ts';
import { openLoadedInbox } from '../../loaded-inbox.ts';
import { loadAheadSoon } from '../ahead.ts';
import { countOption, durationOption } from '../context.ts';
import { EXIT } from '../exit.ts';
import { purposeOf } from '../purpose.ts';
import { complain, printJson } from '../terminal.ts';
import { chooseConversation } from './conversation-choice.ts';
import { Driver } from './driver.ts';
import type { ChatOptions } from './lead.ts';
import { chooseModel } from './model-choice.ts';
import { Narrator } from './narrator.ts';
import { codeOf } from './pipe-front.ts';
import { PlainSurface } from './plain-surface.ts';
import { Session } from './session.ts';
import { onReaderGone, onSignals, SIGNAL_CODES } from './signals.ts';

export type TaskOptions = ChatOptions & { timeout?: string };

/** Runs a turn with the prompt. Resolves with the exit code when all parts of the conversation have ended. */
export async function runTask(words: readonly string[], options: TaskOptions): Promise<number> {
  const timeoutMs = options.timeout === undefined ? undefined : durationOption('--timeout', options.timeout);
  const purpose = purposeOf(options);
  const task = await taskFrom(words, options.resume !== undefined);
  const note = (message: string): void => (options.json ? printJson({ type: 'note', message }) : complain(message));
  await using ear = await openLoadedInbox({
    ...(options.db === undefined ? {} : { flags: { db: options.db } }),
    onProblem: note,
    thread: true,
  });
  loadAheadSoon(ear);
  const choice = await chooseConversation(ear, {
    kind: 'run',
    ...defined({ as: options.as, resume: options.resume, fork: options.fork }),
    ...(options.turns === undefined ? {} : { turns: countOption('--turns', options.turns) }),
  });
  const model = await chooseModel([options.model, choice.begun.model, ear.config.agent.model], process.env);
  const surface = new PlainSurface({
    text: (text) => void process.stdout.write(text),
    lines: (text) => void process.stderr.write(text),
    coloured: process.stderr.isTTY,
  });
  let narrator: Narrator | undefined;
  await using session = await Session.open(ear, {
    choice,
    model,
    withTools: options.tools,
    // No later turn follows, so the end of this turn waits for its background tools.
    onTurnEnd: 'await',
    // The time limit is part of the budget, so that the agent is warned when little time is left.
    ...(timeoutMs === undefined ? {} : { budget: { timeoutMs } }),
    ...defined({ system: options.system, purpose }),
    tellUser: (message) => (options.json ? printJson({ type: 'told', message }) : narrator?.told(message)),
    note,
  });
  if (task === undefined && !session.agent.cutOff)
    throw new EarpieceError(
      'bad_argument',
      `the last turn of ${choice.conversation} has ended; write the next prompt: earpiece run --resume ${choice.conversation} "<prompt>"`,
    );
  const told = (narrator = new Narrator(surface, undefined, (ids) => session.delivered(ids)));
  if (options.json)
    printJson({ type: 'opened', conversation: session.agent.address, model: session.model, resumed: choice.goesOn });
  const driver = new Driver({
    session,
    show: (event) => (options.json ? printJson(event) : told.tell(event)),
    sent: () => {},
    trouble: (message) => note(message),
  });

  let code: number | undefined;
  const end = Promise.withResolvers<void>();
  /** Stops the turn. Only the first reason determines the exit code, and the log keeps the finished part of the turn. */
  const stop = (why: number): void => {
    code ??= why;
    driver.takeBack();
    driver.stop();
    end.resolve();
  };
  using _signals = onSignals((signal) => stop(SIGNAL_CODES[signal]));
  using _reader = onReaderGone(() => stop(EXIT.ok.code));
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop(EXIT.waited.code), timeoutMs);
  if (task !== undefined) driver.send(task);
  else driver.resume();
  await Promise.race([driver.settled(), end.promise.then(() => driver.settled())]);
  clearTimeout(timer);
  if (code === EXIT.waited.code)
    note(
      `stopped: the turn did not end within ${formatDuration(timeoutMs ?? 0)}; to continue the turn: earpiece run --resume ${choice.conversation}`,
    );
  await driver.end();
  return code ?? codeOf(driver.last);
}

/** The maximum length of stdin in bytes. No model accepts a longer prompt. */
const MAX_STDIN = 16 * 1_048_576;

/**
 * Returns the prompt: the words, with stdin in place of a final "-". Without words, stdin is the prompt. Returns
 * undefined if `resumes` is set and no prompt is given, so that the interrupted turn continues.
 */
async function taskFrom(words: readonly string[], resumes: boolean): Promise<string | undefined> {
  const last = words.at(-1);
  if (last !== undefined && last !== '-') return words.join(' ');
  if (process.stdin.isTTY && last === undefined && resumes) return undefined;
  if (process.stdin.isTTY && last === undefined)
    throw new EarpieceError('bad_argument', 'there is no prompt; write earpiece run "<prompt>", or pipe the prompt to stdin');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_STDIN)
      throw new EarpieceError(
        'bad_argument',
        `stdin has more than ${MAX_STDIN} bytes; write the input to a file and name the file in the prompt`,
      );
    chunks.push(chunk);
  }
  const piped = Buffer.concat(chunks).toString('utf8').trim();
  if (piped === '' && resumes && last === undefined) return undefined;
  if (piped === '')
    throw new EarpieceError('bad_argument', 'stdin is empty; write earpiece run "<prompt>", or pipe the prompt to stdin');
  return [words.slice(0, -1).join(' '), piped].filter((part) => part !== '').join('\n\n');
}
