import type { Command } from 'commander';
import { readConfig, trustBook } from '../../config/index.ts';
import type { GlobalOptions } from '../context.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function trust(program: Command): void {
  program
    .command('trust [file]')
    .description('allow a project\'s earpiece.toml to start commands and open the network (default: the one that counts here)')
    .option('--off', 'take it back')
    .action((file: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { off?: boolean }>();
      const book = trustBook({ env: process.env });
      const { config } = readConfig({ cwd: process.cwd(), env: process.env });
      const target = file ?? config.files.find((f) => f.scope === 'project')?.file;
      if (target === undefined) return print(paint('dim', 'no earpiece.toml of a project counts here; yours is always trusted'));
      if (options.off) book.untrust(target);
      else book.trust(target);
      if (options.json) return printJson({ file: target, trusted: !options.off });
      print(`${plain(target)} is ${options.off ? 'not trusted any more' : 'trusted as it stands now; after a change of its commands it is asked about again'}`);
      if (!options.off) for (const { what } of config.untrusted) print(paint('dim', `  ${plain(String(what))}`));
    });
}
