/** `earpiece subscribers copy`: copies a subscriber, so that a person can change the copy. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { subscriberTrust } from '../../../bus/index.ts';
import { EarpieceError } from '../../../core/errors.ts';
import { makeFolders } from '../../../input/folders.ts';
import type { CommandLine } from '../../command-line.ts';
import { onlyAPerson, type GlobalOptions } from '../../context.ts';
import { plain, print, printJson } from '../../terminal.ts';
import { counting, here, moreOf } from './here.ts';

export function copy(group: CommandLine): void {
  group
    .command('copy <id>')
    .summary('copy a subscriber, to change it')
    .description(
      'Copies the files of a subscriber into this project, or with --user into your own folder. The copy replaces the original from the next event on. ' +
        'You can then change the text, the threshold or the moment of the copy. If you delete the copy, the original applies again. ' +
        'Some shipped subscribers take effect only as a copy: see earpiece subscribers list.',
    )
    .option('--project', 'copy into this project (default)')
    .option('--user', 'copy for all of your projects')
    .action((id: string, options: GlobalOptions & { project?: boolean; user?: boolean }) => {
      if (options.project && options.user) throw new EarpieceError('bad_argument', 'give either --project or --user, got both');
      onlyAPerson('to copy a subscriber');
      const { paths } = here();
      const {
        from: { file },
        output: { template },
      } = moreOf(id) ?? counting(id);
      const folder = options.user ? paths.user : paths.project;
      if (dirname(file) === folder)
        throw new EarpieceError('conflict', `${id} is already in ${folder}; edit ${basename(file)} there`);
      const names = [basename(file), ...(template === undefined ? [] : [template.name])];
      const copies = names.map((name) => ({ from: join(dirname(file), name), to: join(folder, name) }));
      for (const { from, to } of copies)
        if (existsSync(to) && !readFileSync(to).equals(readFileSync(from)))
          throw new EarpieceError('conflict', `${to} exists with other content; rename or remove this file`);
      const isNew = !existsSync(folder);
      const trust = subscriberTrust({ env: process.env });
      try {
        makeFolders(folder, 0o777);
        for (const { from, to } of copies) writeFileSync(to, readFileSync(from));
        // The user chose the first file of a folder that this command has just created, so no further consent is needed.
        if (!options.user && isNew) trust.trust(folder);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new EarpieceError(
          'bad_argument',
          `${folder} cannot be written (${code}); give yourself write access to the folder, or use ${options.user ? '--project' : '--user'}`,
          { cause },
        );
      }
      const made = copies.map(({ to }) => to);
      const trusted = options.user === true || trust.isTrusted(folder);
      if (options.json) return printJson({ id, files: made, trusted });
      const counts = trusted
        ? `${plain(id)} is copied; your changes to the copy take effect with the next event`
        : `${plain(id)} has no effect yet, because ${plain(folder)} is not trusted. Read the files of this folder, then run: earpiece trust`;
      print(`${made.map((name) => plain(name)).join('\n')}\n${counts}`);
    });
}
