import type { Command } from 'commander';
import { readConfig, trustBook } from '../../config/index.ts';
import type { GlobalOptions } from '../context.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function trust(program: Command): void {
  program
    .command('trust [file]')
    .description("allow a project's earpiece.toml to start commands and open the network (default: the one that counts here)")
    .option('--off', 'take it back')
    .action((file: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { off?: boolean }>();
      const book = trustBook({ env: process.env });
      const { config } = readConfig({ cwd: process.cwd(), env: process.env });
      const target = file ?? config.files.find((f) => f.scope === 'project')?.file;
      if (target === undefined) return print(paint('dim', 'no earpiece.toml of a project counts here; yours is always trusted'));
      if (options.off) {
        const was = book.untrust(target);
        if (options.json) printJson({ file: target, trusted: false });
        else print(was ? `${plain(target)} is not trusted any more` : `${plain(target)} was not trusted`);
        return;
      }
      const { file: real, what } = book.trust(target);
      if (options.json) return printJson({ file: real, trusted: true, what });
      print(`${plain(real)} is trusted as it stands now; a change of these parts is asked about again:`);
      print(what.length === 0 ? paint('dim', '  nothing in it needs trust') : what.map((line) => `  ${plain(line)}`).join('\n'));
    });
}
