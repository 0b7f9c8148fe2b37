/** `earpiece subscribers disable` and `enable`: switch a subscriber off and on. */
import type { ToggleScope } from '../../../bus/index.ts';
import { EarpieceError } from '../../../core/errors.ts';
import type { CommandLine } from '../../command-line.ts';
import { onlyAPerson, type GlobalOptions } from '../../context.ts';
import { plain, print, printJson } from '../../terminal.ts';
import { whoAmI } from '../change.ts';
import { checkCopied, offFor, withSubscribers } from './here.ts';

export function toggle(group: CommandLine, what: 'enable' | 'disable'): void {
  const off = what === 'disable';
  group
    .command(`${what} <id>`)
    .summary(off ? 'switch a subscriber off' : 'switch a subscriber on again')
    .description(
      off
        ? 'Switches a subscriber off from the next event on, in every process. The subscriber then queues nothing. A core subscriber cannot be switched off.'
        : 'Switches a subscriber on again, from the next event on.',
    )
    .option('--project', 'only in this project (default)')
    .option('--user', 'in all projects of this database')
    .action(async (id: string, options: GlobalOptions & { project?: boolean; user?: boolean }) => {
      if (options.project && options.user) throw new EarpieceError('bad_argument', 'give either --project or --user, got both');
      onlyAPerson(`to ${what} a subscriber`);
      await withSubscribers(options, async (ear) => {
        const scope: ToggleScope = options.user ? { kind: 'user' } : { kind: 'project', project: ear.project };
        const set = ear.bus.subscribers(ear.project);
        // A user may switch on a subscriber whose file was deleted after the subscriber was switched off, so such a subscriber is
        // not checked.
        if (offFor(id, await ear.toggles.lists(ear.project)).length === 0) checkCopied(id, set.subscribers);
        const changed = await ear.toggles[what](scope, id, whoAmI(), set);
        const lists = await ear.toggles.lists(ear.project);
        const offBy = offFor(id, lists);
        if (options.json) return printJson({ id, changed, state: offBy.length === 0 ? 'on' : 'off', offBy });
        const where = options.user ? 'in all projects' : `in project ${plain(ear.project)}`;
        print(`${plain(id)} ${changed ? 'is' : 'was'} ${off ? 'off' : 'on'} ${changed ? '' : 'already '}${where}`);
        const other = off ? undefined : offBy[0];
        if (other !== undefined)
          print(
            `this subscriber stays off here, because it is off ${other === 'user' ? 'in all projects' : `in project ${plain(ear.project)}`}; to enable it there: earpiece subscribers enable ${plain(id)}${other === 'user' ? ' --user' : ''}`,
          );
      });
    });
}
