/** Edits hooks in the format that other agents share with Claude Code: `hooks.<Event>[].hooks[]`. */
import { isDeepStrictEqual } from 'node:util';
import { appendJson, jsonAt, jsonProblem, removeJson } from '../../config/edit-json.ts';
import type { Edited } from '../../config/edit.ts';
import type { FoundHook, Part } from './setup.ts';

/** One entry of the list `hooks.<Event>`. */
export type Group = { readonly matcher?: string; readonly hooks: readonly Readonly<Record<string, unknown>>[] };

export type HookSettings = {
  readonly file: string;
  /** The group of entries for each event. */
  readonly wanted: Readonly<Record<string, Group>>;
  readonly isOurs: (handler: Readonly<Record<string, unknown>>) => boolean;
};

export const hooksIn = (text: string, isOurs: HookSettings['isOurs']): readonly FoundHook[] =>
  eventsOf(text).flatMap((event) =>
    groupsOf(text, event)
      .flatMap(handlersOf)
      .flatMap((handler) => {
        if (!isTable(handler) || !isOurs(handler)) return [];
        const { command, name } = handler;
        const texts = { ...(typeof command === 'string' ? { command } : {}), ...(typeof name === 'string' ? { name } : {}) };
        return [{ event, ...texts }];
      }),
  );

/** Returns the handlers of all events in the parsed settings. */
export const handlersIn = (settings: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Object.values((isTable(settings) && isTable(settings['hooks']) ? settings['hooks'] : {}) as object)
    .flatMap((groups: unknown) => (Array.isArray(groups) ? groups : []))
    .flatMap((group: unknown) => handlersOf(group))
    .filter(isTable);

/** Returns the events that have Earpiece's hooks more than once. */
export const doubledIn = (text: string, isOurs: HookSettings['isOurs']): readonly string[] =>
  eventsOf(text).filter((event) => {
    const own = groupsOf(text, event)
      .map((group) => handlersOf(group).filter((handler) => isTable(handler) && isOurs(handler)))
      .filter((handlers) => handlers.length > 0);
    return (
      own.length > 1 || own.some((all) => all.some((one, i) => all.slice(0, i).some((other) => isDeepStrictEqual(one, other))))
    );
  });

export const hooksPart = (settings: HookSettings): Part => ({
  file: settings.file,
  what: `hooks at ${Object.keys(settings.wanted).join(', ')}`,
  add: (text) => add(text, settings),
  remove: (text, base) => remove(text, settings, base),
});

function add(text: string, settings: HookSettings): Edited {
  const { file, wanted } = settings;
  const problem = jsonProblem(text, file) ?? misshapen(text, settings);
  if (problem !== undefined) return problem;
  const fine = new Set(
    Object.entries(wanted).flatMap(([event, group]) => (isCurrent(text, event, group, settings) ? [event] : [])),
  );
  // An older version may have installed a hook for an event that this version does not use.
  const left = eventsOf(text).filter((event) => wanted[event] === undefined && hasOurs(text, event, settings));
  let edited = without(text, settings, (event) => !fine.has(event));
  for (const event of left) edited = withoutEmpty(edited, event, file);
  for (const [event, group] of Object.entries(wanted))
    if (edited.kind === 'text' && !fine.has(event)) edited = appendJson(edited.text, ['hooks', event], group, file);
  return edited;
}

function remove(text: string, settings: HookSettings, base = ''): Edited {
  const { file } = settings;
  if (jsonProblem(text, file) !== undefined || misshapen(text, settings) !== undefined) return { kind: 'text', text };
  const touched = eventsOf(text).filter((event) => hasOurs(text, event, settings));
  let edited = without(text, settings, () => true);
  for (const event of touched) if (jsonAt(base, ['hooks', event]) === undefined) edited = withoutEmpty(edited, event, file);
  if (edited.kind === 'problem' || touched.length === 0 || jsonAt(base, ['hooks']) !== undefined) return edited;
  return eventsOf(edited.text).length === 0 ? removeJson(edited.text, ['hooks'], file) : edited;
}

function withoutEmpty(edited: Edited, event: string, file: string): Edited {
  if (edited.kind === 'problem') return edited;
  const list = jsonAt(edited.text, ['hooks', event]);
  return Array.isArray(list) && list.length === 0 ? removeJson(edited.text, ['hooks', event], file) : edited;
}

const hasOurs = (text: string, event: string, settings: HookSettings): boolean =>
  groupsOf(text, event).some((group) => handlersOf(group).some(ours(settings)));

/** Removes Earpiece's handlers of these events from the text. A group without other handlers is removed too. */
function without(text: string, settings: HookSettings, of: (event: string) => boolean): Edited {
  let edited: Edited = { kind: 'text', text };
  for (const event of eventsOf(text).filter(of))
    for (let g = groupsOf(text, event).length - 1; g >= 0; g--) {
      const handlers = handlersOf(groupsOf(text, event)[g]);
      const own = handlers.flatMap((handler, h) => (ours(settings)(handler) ? [h] : []));
      if (own.length === 0) continue;
      const paths =
        own.length === handlers.length ? [['hooks', event, g]] : own.toReversed().map((h) => ['hooks', event, g, 'hooks', h]);
      for (const path of paths) if (edited.kind === 'text') edited = removeJson(edited.text, path, settings.file);
    }
  return edited;
}

/** Whether exactly one group of the event has handlers of Earpiece, and this group equals the wanted group. */
function isCurrent(text: string, event: string, group: Group, settings: HookSettings): boolean {
  const own = groupsOf(text, event).filter((each) => handlersOf(each).some(ours(settings)));
  return own.length === 1 && isDeepStrictEqual(own[0], group);
}

function misshapen(text: string, { file }: HookSettings): Extract<Edited, { kind: 'problem' }> | undefined {
  const hooks = jsonAt(text, ['hooks']);
  const mustBe = (key: string, wanted: string): Extract<Edited, { kind: 'problem' }> => ({
    kind: 'problem',
    problem: { file, key, message: `${key} must be ${wanted}; correct the file, then run the command again` },
  });
  if (hooks === undefined) return undefined;
  if (!isTable(hooks)) return mustBe('hooks', 'an object');
  const event = Object.keys(hooks).find((name) => !Array.isArray(hooks[name]));
  return event === undefined ? undefined : mustBe(`hooks.${event}`, 'a list');
}

const ours =
  ({ isOurs }: HookSettings) =>
  (handler: unknown): boolean =>
    isTable(handler) && isOurs(handler);

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const eventsOf = (text: string): readonly string[] => Object.keys((jsonAt(text, ['hooks']) as object | undefined) ?? {});

function groupsOf(text: string, event: string): readonly unknown[] {
  const groups = jsonAt(text, ['hooks', event]);
  return Array.isArray(groups) ? groups : [];
}

function handlersOf(group: unknown): readonly unknown[] {
  const handlers = isTable(group) ? group['hooks'] : undefined;
  return Array.isArray(handlers) ? handlers : [];
}
