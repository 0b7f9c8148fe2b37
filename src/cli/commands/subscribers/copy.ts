/** `earpiece subscribers copy` */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { subscriberTrust } from '../../../bus/index.ts';
import { EarpieceError } from '../../../core/errors.ts';
import type { CommandLine } from '../../command-line.ts';
import { onlyAPerson, type GlobalOptions } from '../../context.ts';
import { plain, print, printJson } from '../../terminal.ts';
import { counting, here, moreOf } from './here.ts';

/** Copies the file with its template to a folder where the copy counts instead of the original. */
export function copy(group: CommandLine): void {
  group
    .command('copy <id>')
    .summary('make one your own, to change it')
    .description(
      'Copies the files of a subscriber to where yours are. The copy counts instead of it, from the next event on: ' +
        'change its words, its threshold, its moment. Without the copy the other one counts again. ' +
        'Some come with Earpiece that count only once they are copied; list names them.',
    )
    .option('--project', 'into this project (default)')
    .option('--user', 'for all of your projects')
    .action((id: string, options: GlobalOptions & { project?: boolean; user?: boolean }) => {
      if (options.project && options.user) throw new EarpieceError('bad_argument', 'give either --project or --user');
      onlyAPerson('to copy a subscriber');
      const { paths } = here();
      const {
        from: { file },
        output: { template },
      } = moreOf(id) ?? counting(id);
      const folder = options.user ? paths.user : paths.project;
      if (dirname(file) === folder) throw new EarpieceError('conflict', `${id} is in ${folder} already: ${basename(file)}`);
      const names = [basename(file), ...(template === undefined ? [] : [template.name])];
      const copies = names.map((name) => ({ from: join(dirname(file), name), to: join(folder, name) }));
      for (const { from, to } of copies)
        if (existsSync(to) && !readFileSync(to).equals(readFileSync(from)))
          throw new EarpieceError('conflict', `${to} is there and says something else; rename it, or remove it`);
      const isNew = !existsSync(folder);
      const trust = subscriberTrust({ env: process.env });
      try {
        mkdirSync(folder, { recursive: true });
        for (const { from, to } of copies) writeFileSync(to, readFileSync(from));
        // The creator of a folder's first file trusts the folder.
        if (!options.user && isNew) trust.trust(folder);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new EarpieceError(
          'bad_argument',
          `${folder} cannot be written (${code}); make it a folder that is yours, or give ${options.user ? '--project' : '--user'}`,
          { cause },
        );
      }
      const made = copies.map(({ to }) => to);
      const trusted = options.user === true || trust.isTrusted(folder);
      if (options.json) return printJson({ id, files: made, trusted });
      const counts = trusted
        ? `${plain(id)} is yours now: your changes there count from the next event on`
        : `${plain(id)} does not count yet: ${plain(folder)} is not trusted. Look at its files, then: earpiece trust`;
      print(`${made.map((name) => plain(name)).join('\n')}\n${counts}`);
    });
}
