import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { BridgeOptions } from '../bridge.ts';
import type { Answer, CommandLine } from '../command-line.ts';

export function bridge(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Serves the Earpiece plugin of a coding agent. The plugin starts this process, sends it the events of the agent on stdin, ' +
        'and reads the answers on stdout. The process ends with the agent. ' +
        'The command earpiece install puts the plugin into the agent. You never type earpiece bridge.',
    )
    .option(
      '--as <address>',
      'the address of the agent: agent or project/agent (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise the agent with the name of the host)',
    )
    .action(async (name: string, options: BridgeOptions) => {
      const { PLUGIN_HOSTS } = await import('../../hosts/index.ts');
      const host = PLUGIN_HOSTS.find((each) => each.name === name);
      if (host === undefined) {
        const names = PLUGIN_HOSTS.map((each) => each.name);
        const near = didYouMean(name, names);
        throw new EarpieceError(
          'bad_argument',
          `host ${JSON.stringify(name.slice(0, 80))} must be one of ${names.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
        );
      }
      const { bridge: run } = await import('../bridge.ts');
      answer(await run(host, options));
    });
}
