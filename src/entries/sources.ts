/** `earpiece/sources`: sources, which emit events, and subscribers, which turn events into notifications. */
import '../node-version.ts';

import { shippedFolder, subscriberFolders as folders, type SubscriberProblem, type SubscriberSource } from '../bus/index.ts';
import { parseAddress } from '../core/address.ts';
import type { Emitter } from '../core/event.ts';
import { LEVELS } from '../core/notification.ts';
import { bad, check, checkFolder, checkName, fullName, innerOf, shown, type Earpiece, type Table } from '../library/index.ts';
import { filesSource as files, type FilesOptions as Files, type FilesSource } from '../sources/files/index.ts';
import { gitSource as git, type GitOptions as Git, type GitSource } from '../sources/git/index.ts';
import { runAndTell as run, type RanAndTold, type RunAndTellOptions as Run } from '../sources/processes/index.ts';
import {
  parseWhen as when,
  REMINDER_LEVELS,
  timersSource as timers,
  type Reminder,
  type Timers,
  type When,
} from '../sources/timers/index.ts';
import {
  receive as judge,
  receiverFrom as receiver,
  WEBHOOK_KINDS,
  type Received,
  type WebhookReceiver,
  type WebhookRequest,
  type WebhookSettings,
} from '../sources/webhooks/index.ts';

/**
 * The options of a source, with the `earpiece` that gets its events. `subject` is the agent to notify: `coder`, `coder#c1` or
 * `project/coder`.
 */
type Of<Options> = Omit<Options, 'emitter'> & { readonly earpiece: Earpiece };
export type FilesOptions = Of<Files>;
export type GitOptions = Of<Git>;
export type RunAndTellOptions = Of<Run>;

const COMMON = { earpiece: { needed: 'any' }, subject: { needed: 'name' } } as const;
const FILES: Table<FilesOptions> = {
  ...COMMON,
  root: { needed: 'name' },
  globs: { listOf: 'name' },
  debounceMs: 'amount',
  maxFiles: 'amount',
  known: { each: 'text' },
  onTrouble: 'function',
};
const GIT: Table<GitOptions> = {
  ...COMMON,
  root: { needed: 'name' },
  debounceMs: 'amount',
  pollMs: 'amount',
  fetchEveryMs: 'amount',
  onTrouble: 'function',
  program: 'name',
};
const RUN: Table<RunAndTellOptions> = {
  ...COMMON,
  command: { needed: 'name' },
  args: { listOf: 'text' },
  cwd: 'name',
  env: { each: 'text' },
  name: 'text',
  lines: 'amount',
  levelOnFailure: LEVELS,
  timeoutMs: 'amount',
  forwardSignals: 'flag',
  stdout: 'object',
  stderr: 'object',
  withoutTerminal: 'function',
  tellWithinMs: 'amount',
};

/**
 * Emits events when another program changes a file that the agent has read, or that `globs` match. Call `start` to begin.
 * Problems are passed to `onTrouble`. By default, problems are printed on stderr.
 */
export const filesSource = (options: FilesOptions): FilesSource => files(following('filesSource', options, FILES));

/**
 * Emits events for a switched branch, a moved upstream branch and a conflict. Changes that `withOwnCommand` or `noteOwnChange`
 * counts as the agent's own emit no event. Call `start` to begin. Problems are passed to `onTrouble`. By default, problems are
 * printed on stderr.
 */
export const gitSource = (options: GitOptions): GitSource => git(following('gitSource', options, GIT));

/** Runs a command, and emits an event when the command ends. */
export const runAndTell = async (options: RunAndTellOptions): Promise<RanAndTold> => run(emitting('runAndTell', options, RUN));

/** Makes reminders. A reminder is durable at once, and is delivered with the first message after its time. */
export const timersSource = (options: { readonly earpiece: Earpiece }): Timers => {
  check('timersSource', options, { earpiece: { needed: 'any' } });
  const { earpiece } = options;
  innerOf(earpiece);
  const inner = timers({ emitter: earpiece.events });
  return {
    remind: async (reminder) => {
      check('remind', reminder, REMINDER, 'the reminder');
      const times = Object.keys(reminder.when);
      if (times.length !== 1)
        throw bad(`remind: when must have exactly one of at, inMs and afterTurns, got ${times.join(', ') || 'none'}`, 'when');
      return inner.remind({ ...reminder, subject: fullName('remind', earpiece.project, reminder.subject) });
    },
  };
};

const REMINDER: Table<Reminder> = {
  subject: { needed: 'name' },
  message: { needed: 'text' },
  when: { needed: { keys: { at: 'number', inMs: 'number', afterTurns: 'number' } } },
  key: 'name',
  level: REMINDER_LEVELS,
  ttlMs: 'amount',
};

/**
 * Reads a time in a person's words, such as `tomorrow at 9`. Throws `bad_argument` for a text that is not fully understood, and
 * for a time in the past or more than a year away.
 */
export async function parseWhen(text: string, here: { readonly now: number; readonly timeZone: string }): Promise<When> {
  checkName('parseWhen', 'the time', text);
  check('parseWhen', here, { now: { needed: 'number' }, timeZone: { needed: 'name' } });
  if (!isTimeZone(here.timeZone))
    throw bad(
      `parseWhen: timeZone must be the name of a time zone such as "Europe/Berlin" or "UTC", got ${JSON.stringify(here.timeZone)}`,
      'timeZone',
    );
  return when(text, here);
}

/**
 * Makes the receiver of a webhook, with its secret from `env`. If the settings or the secret cannot be used, returns the problem
 * as a text for people. Throws `bad_argument` for invalid arguments.
 */
export function receiverFrom(
  name: string,
  settings: WebhookSettings,
  env: Readonly<Record<string, string | undefined>>,
): { readonly kind: 'ready'; readonly receiver: WebhookReceiver } | { readonly kind: 'problem'; readonly problem: string } {
  checkName('receiverFrom', 'the name', name);
  check('receiverFrom', settings, WEBHOOK, 'the settings');
  check('receiverFrom', { env }, { env: { needed: { each: 'text' } } });
  try {
    parseAddress(settings.to);
  } catch (error) {
    throw bad(`receiverFrom: to: ${(error as Error).message}`, 'to');
  }
  return receiver(name, settings, env);
}

const WEBHOOK: Table<WebhookSettings> = {
  kind: { needed: WEBHOOK_KINDS },
  to: { needed: 'name' },
  secretEnv: { needed: 'name' },
  signatureHeader: 'name',
  map: {
    keys: { type: 'text', id: 'text', severity: 'text', message: 'text', subject: 'text', time: 'text', data: 'text' },
  },
};

/**
 * Reads one request to a webhook, and returns its events or the reason for a refusal. Throws `bad_argument` if the argument is
 * not a request.
 */
export function receive(request: WebhookRequest): Received {
  check('receive', request, REQUEST, 'the request');
  if (!Buffer.isBuffer(request.body)) throw bad(`receive: body must be a Buffer, got ${shown(request.body)}`, 'body');
  return judge(request);
}

const REQUEST: Table<WebhookRequest> = {
  headers: { needed: 'object' },
  body: { needed: 'any' },
  receiver: { needed: 'object' },
  now: { needed: 'number' },
  clock: 'number',
  seen: 'function',
};

/** Loads subscribers from `.earpiece/subscribers/` below `root`, for `openEarpiece({subscribers})`. */
export const subscriberFolders = (options: {
  readonly root: string;
  /** Whether to load the subscribers of this package too. Default true. */
  readonly shipped?: boolean;
}): SubscriberSource => {
  check('subscriberFolders', options, { root: { needed: 'name' }, shipped: 'flag' });
  const source = folders({ shipped: shippedFolder(), projectRoot: () => options.root });
  if (options.shipped ?? true) return source;
  return {
    of(project) {
      const set = source.of(project);
      return { ...set, subscribers: set.subscribers.filter(({ from }) => from.folder !== 'shipped') };
    },
  };
};

/**
 * Returns the options of a source that follows a folder. By default, problems are printed on stderr, so that a failing source
 * does not seem to work.
 */
function following<O extends FilesOptions | GitOptions>(
  call: string,
  options: O,
  table: Table<O>,
): Omit<O, 'earpiece'> & { readonly emitter: Emitter; readonly subject: string } {
  const checked = emitting(call, options, table);
  checkFolder(call, 'root', options.root);
  return { ...checked, onTrouble: options.onTrouble ?? ((line) => void process.stderr.write(`earpiece: ${line}\n`)) };
}

function emitting<O extends { readonly earpiece: Earpiece; readonly subject: string }>(
  call: string,
  options: O,
  table: Table<O>,
): Omit<O, 'earpiece'> & { readonly emitter: Emitter; readonly subject: string } {
  check(call, options, table);
  const { earpiece, ...rest } = options;
  innerOf(earpiece);
  return { ...rest, emitter: earpiece.events, subject: fullName(call, earpiece.project, rest.subject) };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0);
    return true;
  } catch {
    return false;
  }
}

export type { SubscriberProblem, SubscriberSource, WebhookReceiver };
export type { Subscriber } from '../bus/index.ts';
export type { FilesSource } from '../sources/files/index.ts';
export type { GitSource } from '../sources/git/index.ts';
export type { RanAndTold } from '../sources/processes/index.ts';
export type { Received, Reminder, Timers, WebhookRequest, WebhookSettings, When };
export type { Source } from '../sources/source.ts';
