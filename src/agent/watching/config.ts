/** Compares the model and the tools of a resumed conversation with its last turn. */
import { isDeepStrictEqual } from 'node:util';
import type { Draft } from '../../core/records.ts';
import { seen, type Seen } from './seen.ts';

/** The setup of a turn: `model` as `provider:model`, and the sorted names of the tools. */
export type Setup = { readonly model: string; readonly tools: readonly string[] };

const NAMES = 10;

/** Makes the record for a turn whose setup differs from the previous turn's setup. */
export const setupRecord = (setup: Setup): Draft => ({ type: 'config_delta', delta: { agent: setup } });

/** Returns the setup of the last turn; undefined if no setup is recorded. */
export function lastSetup(records: readonly Draft[]): Setup | undefined {
  for (const record of records.toReversed()) {
    const agent = record.type === 'config_delta' ? (record as { delta?: { agent?: Partial<Setup> } }).delta?.agent : undefined;
    if (typeof agent?.model === 'string' && Array.isArray(agent.tools)) return { model: agent.model, tools: agent.tools };
  }
  return undefined;
}

export const sameSetup = (a: Setup | undefined, b: Setup): boolean => isDeepStrictEqual(a, b);

/** Returns the keys of the events from `changes` for this conversation. These events are withdrawn when the old setup returns. */
export const setupKeys = (session: string): readonly string[] => [`config.tools:${session}`, `config.model:${session}`];

export function changes(before: Setup, now: Setup, session: string): readonly Seen[] {
  const [toolsKey = '', modelKey = ''] = setupKeys(session);
  const added = now.tools.filter((name) => !before.tools.includes(name));
  const removed = before.tools.filter((name) => !now.tools.includes(name));
  const told = [
    ...(added.length > 0 ? [`${names(added)} ${added.length === 1 ? 'is' : 'are'} new`] : []),
    ...(removed.length > 0 ? [`${names(removed)} ${removed.length === 1 ? 'was' : 'were'} removed`] : []),
  ].join('; ');
  return [
    ...(told === ''
      ? []
      : [
          seen(`The tools have changed since the last turn: ${told}`, {
            type: 'config.tools_changed',
            severity: 'info',
            key: toolsKey,
            supersede: true,
            data: { added, removed },
          }),
        ]),
    ...(before.model === now.model
      ? []
      : [
          seen(`The model has changed since the last turn: from ${before.model} to ${now.model}`, {
            type: 'config.model_changed',
            severity: 'info',
            key: modelKey,
            supersede: true,
            data: { from: before.model, to: now.model },
          }),
        ]),
  ];
}

const names = (all: readonly string[]): string =>
  `${all
    .slice(0, NAMES)
    .map((name) => `\`${name}\``)
    .join(', ')}${all.length > NAMES ? ` and ${all.length - NAMES} more` : ''}`;
