import { EarpieceError } from '../../core/errors.ts';
import { notAPerson } from '../../inbox/index.ts';
import type { CommandLine } from '../command-line.ts';
import { withNamedDatabase, type GlobalOptions } from '../context.ts';
import { plain, print, printJson } from '../terminal.ts';

export function unfollow(command: CommandLine): void {
  command
    .description(
      'Stops following one thing of this project. Name the thing by its id in the list of earpiece following. Unread notifications about the thing are withdrawn, except notifications about files and about the branch. A followed command continues to run, but its errors and its end are no longer reported.',
    )
    .example('earpiece unfollow f1')
    .action(async (id: string, options: GlobalOptions) => {
      const follow = await import('../../sources/follow/index.ts');
      await withNamedDatabase(options, async (ear) => {
        const { store, project, speaker } = ear;
        const known = (await follow.following(store, project)).find((each) => each.id === id);
        if (speaker !== undefined && known !== undefined && (speaker.log === '' || known.by !== speaker.log))
          throw notAPerson(`to end ${id}, a follower that the agent did not add`, speaker);
        const removed = await follow.unfollow({ store, project, emitter: ear.emitter }, id);
        if (removed === undefined) {
          const ids = (await follow.following(store, project)).map((each) => each.id).join(', ');
          throw new EarpieceError(
            'not_found',
            `${project} has no follower with the id ${JSON.stringify(id.slice(0, 80))}; ${ids === '' ? 'this project follows nothing' : `the ids are ${ids}`}`,
          );
        }
        if (options.json) return printJson({ id, followed: false });
        const goesOn = removed.what.kind === 'command' ? '; the command continues' : '';
        print(`${plain(follow.nameOf(removed))} is no longer followed${goesOn}`);
      });
    });
}
