/** `earpiece/sources`. Sources emit events, and subscribers turn events into notifications. */
import '../node-version.ts';

import { subscriberFolders as folders, shippedFolder, type SubscriberSource } from '../bus/index.ts';
import type { Emitter } from '../core/event.ts';
import { LEVELS } from '../core/notification.ts';
import { check, fullName, innerOf, type Earpiece, type Table } from '../library/index.ts';
import { filesSource as files, type FilesOptions as Files, type FilesSource } from '../sources/files/index.ts';
import { gitSource as git, type GitOptions as Git, type GitSource } from '../sources/git/index.ts';
import { runAndTell as run, type RanAndTold, type RunAndTellOptions as Run } from '../sources/processes/index.ts';
import { timersSource as timers, type Timers } from '../sources/timers/index.ts';

/** `subject` is the agent to notify: `coder`, `coder#c1`, `project/coder`. */
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

/** Emits events for files that another program changes. Call `start` to begin. */
export const filesSource = (options: FilesOptions): FilesSource => files(emitting('filesSource', options, FILES));

/** Emits events for branches, commits and conflicts of other people's changes. Call `start` to begin. */
export const gitSource = (options: GitOptions): GitSource => git(emitting('gitSource', options, GIT));

/** Runs a command and emits an event when it ends. */
export const runAndTell = async (options: RunAndTellOptions): Promise<RanAndTold> => run(emitting('runAndTell', options, RUN));

/** Reminders: each is durable at once, and rides at the first message after its time. */
export const timersSource = (options: { readonly earpiece: Earpiece }): Timers => {
  check('timersSource', options, { earpiece: { needed: 'any' } });
  innerOf(options.earpiece);
  return timers({ emitter: options.earpiece.events });
};

/** Loads subscribers from `.earpiece/subscribers/` below `root`, for `openEarpiece({subscribers})`. */
export const subscriberFolders = (options: {
  readonly root: string;
  /** Also loads the subscribers of this package. Default true. */
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

export { parseWhen } from '../sources/timers/index.ts';
export { receive, receiverFrom } from '../sources/webhooks/index.ts';
export { checkRunning as checkSubscriber, readSubscriber, templateEngine } from '../bus/index.ts';
export type { Subscriber, SubscriberProblem, SubscriberSource } from '../bus/index.ts';
export type { FilesSource } from '../sources/files/index.ts';
export type { GitSource } from '../sources/git/index.ts';
export type { RanAndTold } from '../sources/processes/index.ts';
export type { Reminder, Timers } from '../sources/timers/index.ts';
export type { Source } from '../sources/source.ts';
export type { WebhookReceiver } from '../sources/webhooks/index.ts';
