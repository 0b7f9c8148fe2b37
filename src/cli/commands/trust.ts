import type { Command } from 'commander';
import { readConfig, trustBook } from '../../config/index.ts';
import type { CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function trust(program: CommandLine): void {
  program
    .command('trust [file]')
    .summary("allow what a project's earpiece.toml runs")
    .description(
      "Allows a project's earpiece.toml (default: the one that counts here) to start commands, to open the network and to say where the database is. " +
        'It counts for those parts as they are now; a change of them is asked about again.',
    )
    .option('--off', 'take it back')
    .option('--list', 'the files that are trusted')
    .action((file: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { off?: boolean; list?: boolean }>();
      const book = trustBook({ env: process.env });
      if (options.list) {
        if (options.json) return book.list().forEach((each) => printJson({ file: each, trusted: true }));
        const trusted = book.list().map((each) => plain(each));
        return print(trusted.length === 0 ? paint('dim', 'nothing is trusted') : trusted.join('\n'));
      }
      const { config } = readConfig({ cwd: process.cwd(), env: process.env });
      const target = file ?? config.files.find((f) => f.scope === 'project')?.file;
      if (target === undefined) {
        if (options.json) return printJson({ file: null, trusted: false, what: [] });
        return print(paint('dim', 'no earpiece.toml of a project counts here; yours is always trusted'));
      }
      if (options.off) {
        const was = book.untrust(target);
        if (options.json) return printJson({ file: target, trusted: false });
        return print(was ? `${plain(target)} is not trusted any more` : `${plain(target)} was not trusted`);
      }
      const { file: real, what } = book.trust(target);
      if (options.json) return printJson({ file: real, trusted: true, what });
      if (what.length === 0) return print(`${plain(real)}: nothing in it needs trust`);
      print(`${plain(real)} is trusted as it stands now; a change of these parts is asked about again:`);
      print(what.map((line) => `  ${plain(line)}`).join('\n'));
    });
}
