/** `earpiece subscribers list`: lists the subscribers, and whether each is on. */
import { WHY_LOCKED, type Subscriber, type Toggled, type ToggleScope } from '../../../bus/index.ts';
import type { CommandLine } from '../../command-line.ts';
import type { GlobalOptions } from '../../context.ts';
import { table } from '../../table.ts';
import { paint, plain, print, printJson } from '../../terminal.ts';
import { here, offFor, others, problemLine, withSubscribers } from './here.ts';

export function list(group: CommandLine): void {
  group
    .command('list')
    .summary('list the subscribers, and whether each is on')
    .description(
      'Lists every subscriber of this project with its folder, its events, its moment, and whether it is on. Then lists the problems in the files of subscribers.',
    )
    .action(async (options: GlobalOptions) => {
      await withSubscribers(
        options,
        async (ear) => {
          const set = ear.bus.subscribers(ear.project);
          const off = await ear.toggles.lists(ear.project);
          if (options.json) {
            set.subscribers.forEach((subscriber) => printJson(listed(subscriber, off)));
            set.held?.forEach((subscriber) => printJson({ ...listed(subscriber, off), state: 'not trusted' }));
            return set.problems.forEach((problem) => printJson({ problem }));
          }
          const held = new Set(set.held);
          const rows = [...set.subscribers, ...held].map((subscriber) => {
            const { id, name, events, output, from } = subscriber;
            const place = from.folder === 'shipped' ? paint('dim', from.folder) : from.folder;
            return [
              id,
              held.has(subscriber) ? paint('yellow', 'not trusted') : stateShown(subscriber, off),
              place,
              output.priority,
              output.injectAt,
              plain(name),
              plain(events.types.join(', ')),
            ];
          });
          if (rows.length === 0) print(paint('dim', 'there are no subscribers'));
          else
            print(
              table(rows, [
                { head: 'id' },
                { head: 'state' },
                { head: 'from', spare: 1 },
                { head: 'priority', spare: 2 },
                { head: 'moment', spare: 3 },
                { head: 'name', spare: 4 },
                { head: 'events' },
              ]),
            );
          if (set.subscribers.some(({ output }) => output.core))
            print(paint('dim', `\nlocked: this subscriber cannot be disabled, because ${WHY_LOCKED}`));
          const { project, user } = here().paths;
          const more = others().filter(({ id }) => set.subscribers.every((known) => known.id !== id));
          if (more.length > 0)
            print(
              paint(
                'dim',
                `shipped subscribers that take effect only as a copy: ${more.map(({ id }) => id).join(', ')} (to copy: earpiece subscribers copy <id>)`,
              ),
            );
          print(
            paint(
              'dim',
              `folders for your own subscribers: ${plain(project)} (this project), ${plain(user)} (all your projects)`,
            ),
          );
          if (set.problems.length > 0) print(`\n${set.problems.map(problemLine).join('\n')}`);
        },
        { reads: true },
      );
    });
}

type State = { readonly state: 'on' | 'off'; readonly offBy: readonly ToggleScope['kind'][]; readonly locked?: string };

function stateOf({ id, output }: Subscriber, off: Toggled): State {
  // A subscriber may have been switched off before it became a core subscriber. Such a switch has no effect.
  if (output.core) return { state: 'on', offBy: [], locked: WHY_LOCKED };
  const offBy = offFor(id, off);
  return { state: offBy.length === 0 ? 'on' : 'off', offBy };
}

function stateShown(subscriber: Subscriber, off: Toggled): string {
  const { state, offBy, locked } = stateOf(subscriber, off);
  if (locked !== undefined) return 'locked';
  return state === 'on' ? 'on' : paint('yellow', `off (${offBy.join(', ')})`);
}

function listed(subscriber: Subscriber, off: Toggled): object {
  const { id, name, description, version, events, output, from } = subscriber;
  return {
    id,
    name,
    description,
    version,
    events,
    priority: output.priority,
    injectAt: output.injectAt,
    core: output.core,
    ...stateOf(subscriber, off),
    from,
    ...(output.template === undefined ? {} : { template: output.template.name }),
  };
}
