/**
 * `earpiece chat`: opens everything that a conversation needs, and runs the conversation in a terminal, in a pipe or for another
 * program.
 */
import { defined } from '../../core/defined.ts';
import { openLoadedInbox } from '../../loaded-inbox.ts';
import { loadAheadSoon } from '../ahead.ts';
import { countOption, type GlobalOptions } from '../context.ts';
import { purposeOf } from '../purpose.ts';
import { chooseConversation } from './conversation-choice.ts';
import type { Front } from './front.ts';
import { JsonFront } from './json-front.ts';
import { chooseModel } from './model-choice.ts';
import { PipeFront } from './pipe-front.ts';
import { Session } from './session.ts';
import { isTerminal, TerminalFront } from './terminal-front.ts';

export type ChatOptions = GlobalOptions & {
  model?: string;
  as?: string;
  resume?: string | true;
  fork?: string | true;
  turns?: string;
  system?: string;
  tools: boolean;
  purpose?: string;
};

/**
 * Runs a chat. `message` is the first message to the agent, and is not sent if it is empty. Resolves with the exit code when all
 * parts of the conversation have ended.
 */
export async function lead(message: string, options: ChatOptions): Promise<number> {
  const purpose = purposeOf(options);
  using json = options.json ? new JsonFront() : undefined;
  const front: Front = json ?? (isTerminal() ? new TerminalFront() : new PipeFront());
  await using ear = await openLoadedInbox({
    ...(options.db === undefined ? {} : { flags: { db: options.db } }),
    onProblem: (line) => front.note(line),
    thread: true,
  });
  loadAheadSoon(ear);
  const choice = await chooseConversation(ear, {
    kind: 'chat',
    ...defined({ as: options.as, resume: options.resume, fork: options.fork }),
    ...(options.turns === undefined ? {} : { turns: countOption('--turns', options.turns) }),
  });
  const model = await chooseModel([options.model, choice.begun.model, ear.config.agent.model], process.env);
  await using session = await Session.open(ear, {
    choice,
    model,
    withTools: options.tools,
    ...defined({ system: options.system, purpose }),
    tellUser: (message) => front.told(message),
    note: (line) => front.note(line),
    onHandles: () => front.handles(),
  });
  return await front.run(session, message);
}
