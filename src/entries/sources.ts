/** `earpiece/sources`. Sources emit events, and subscribers turn events into notifications. */
import '../node-version.ts';

import { subscriberFolders as folders, shippedFolder, type SubscriberSource } from '../bus/index.ts';
import type { Emitter } from '../core/event.ts';
import { fullName, type Earpiece } from '../library/index.ts';
import { filesSource as files, type FilesOptions as Files, type FilesSource } from '../sources/files/index.ts';
import { gitSource as git, type GitOptions as Git, type GitSource } from '../sources/git/index.ts';
import { runAndTell as run, type RanAndTold, type RunAndTellOptions as Run } from '../sources/processes/index.ts';
import { timersSource as timers, type Timers } from '../sources/timers/index.ts';

/** `subject` is the agent that hears of it: `coder`, `coder#c1`, `project/coder`. */
type Of<Options> = Omit<Options, 'emitter'> & { readonly earpiece: Earpiece };
export type FilesOptions = Of<Files>;
export type GitOptions = Of<Git>;
export type RunAndTellOptions = Of<Run>;

/** Emits events for files that somebody else changes. Begins with `start`. */
export const filesSource = (options: FilesOptions): FilesSource => files(emitting('filesSource', options));

/** Emits events for branches, commits and conflicts that somebody else makes. Begins with `start`. */
export const gitSource = (options: GitOptions): GitSource => git(emitting('gitSource', options));

/** Runs a command and emits an event when it ends. */
export const runAndTell = async (options: RunAndTellOptions): Promise<RanAndTold> => run(emitting('runAndTell', options));

/** Reminders: each is durable at once, and rides at the first message after its time. */
export const timersSource = ({ earpiece }: { readonly earpiece: Earpiece }): Timers => timers({ emitter: earpiece.events });

/** Loads subscribers from `.earpiece/subscribers/` below `root`, for `openEarpiece({subscribers})`. */
export const subscriberFolders = (options: {
  readonly root: string;
  /** Also loads the subscribers of this package. Default true. */
  readonly shipped?: boolean;
}): SubscriberSource => {
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
  { earpiece, ...rest }: O,
): Omit<O, 'earpiece'> & { readonly emitter: Emitter; readonly subject: string } {
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
