import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { CommandLine } from '../command-line.ts';
import type { HookOptions } from '../hook.ts';
import { hookAnswers } from '../hook-answers.ts';

export function hook(command: CommandLine): void {
  command
    .description(
      'Answers one hook call of a coding agent: reads the event on stdin and prints the text for the agent. ' +
        'The command earpiece install writes this hook into the settings of the agent. You never type earpiece hook. ' +
        'If something fails, the hook reports the failure on stderr, and the agent continues.',
    )
    .option(
      '--as <address>',
      'the address of the agent: agent or project/agent (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise the agent with the name of the host)',
    )
    .option('--beside <session>', 'wait during a session and wake its idle agent; the hook of a prompt starts this process')
    .option(
      '--served',
      'also carry notifications while the MCP server of Earpiece does not run; for hosts that call this server at the end of a batch',
    )
    .option('--wait', 'wait in the background, and wake the idle agent for a notification; the host starts this process')
    .option('--look', 'print the notifications that may wake the idle agent now; the process of --wait starts this process')
    .action(async (name: string, options: HookOptions) => {
      const { HOOK_HOSTS, HOOK_HOST_NAMES } = await import('../../hosts/index.ts');
      const host = HOOK_HOSTS.find((each) => each.name === name);
      if (host === undefined) {
        const near = didYouMean(name, HOOK_HOST_NAMES);
        throw new EarpieceError(
          'bad_argument',
          `host ${JSON.stringify(name.slice(0, 80))} must be one of ${HOOK_HOST_NAMES.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
        );
      }
      if (options.beside !== undefined) {
        const { runWaiter } = await import('../waiter.ts');
        return runWaiter(host, options.beside, options);
      }
      if (options.look) {
        const { look } = await import('../hook-look.ts');
        hookAnswers(await look(host, options));
        return;
      }
      const { hook: run } = await import('../hook.ts');
      hookAnswers(await run(host, options));
    });
}
