/** `earpiece resume`: lifts the pauses of a conversation, an agent or a project, for a person. */
import { formatAddress, logOf, type Address, type LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import type { Item } from '../../core/items.ts';
import type { Lifted } from '../../inbox/index.ts';
import type { CommandLine } from '../command-line.ts';
import {
  addressFrom,
  addressIn,
  notInItsShell,
  onlyAPerson,
  personOption,
  SERVER_OPTION,
  withNamedDatabase,
  type GlobalOptions,
} from '../context.ts';
import { quote } from '../../hosts/setup/ours.ts';
import { addressName, BAR } from '../foreign.ts';
import { clock, nameOf, paint, plain, print, printJson } from '../terminal.ts';
import { whoAmI } from './change.ts';

export function resume(command: CommandLine): void {
  command
    .description(
      'Lifts the pauses of a conversation, an agent or a project (default: `address` in earpiece.toml, otherwise this project). ' +
        'Each conversation that has seen its pause is notified that it may continue. Until a pause is lifted, is withdrawn or expires, ' +
        'every tool call of the agent is refused. A conversation that never saw the pause gets only your --message, if you give one. An ' +
        'agent cannot lift its own pause: the command is refused if an agent runs it, and in a shell where ' +
        'EARPIECE_ADDRESS names an agent.',
    )
    .option('--message <text>', 'the text for the agent (default: "Go on.")')
    .option('--as <person>', 'the person who lifts the pause (default: your user name)')
    .option(...SERVER_OPTION)
    .example(`earpiece send --to coder --action pause "hold on"
earpiece resume coder
earpiece resume shop/coder#main --message "the migration has ended"`)
    .action(async (text: string | undefined, options: GlobalOptions & { message?: string; as?: string; server?: string }) => {
      onlyAPerson('to lift a pause');
      notInItsShell('to lift a pause');
      const how = {
        person: personOption(options.as, 'lifts the pause') ?? whoAmI(),
        ...(options.message === undefined ? {} : { message: options.message }),
      };
      const tell = (to: Address, lifted: readonly Lifted[], standing: boolean): void => {
        if (options.json) return lifted.forEach((each) => printJson(each));
        if (lifted.length === 0) print(paint('dim', `nothing is paused for ${nameOf(formatAddress(to))}`));
        for (const each of lifted) print(saying(each));
        const whole = nameOf(`${to.project}/*`);
        if (standing)
          print(
            `the pause of ${whole} still holds for conversations that begin later; to lift the pause for all: earpiece resume ${quote(whole)}`,
          );
      };
      if (options.server !== undefined) {
        const { remotely, open, resume: resumeThere } = await import('../remote.ts');
        return remotely(options.server, async (remote) => {
          const to = addressIn(remote.config, text);
          const lifted = await resumeThere(remote, to, how);
          const items: Item[] = [];
          if (to.kind !== 'project') for await (const { item } of open(remote, { log: projectLog(to) })) items.push(item);
          tell(to, lifted, isPaused(items, Date.now()));
        });
      }
      await withNamedDatabase(options, async (ear) => {
        const to = addressFrom(ear, text);
        const lifted = await ear.resume(to, how);
        const items = await ear.store.items(projectLog(to), { kind: 'open' });
        tell(to, lifted, isPaused(items, ear.store.now()));
      });
    });
}

/** Returns the log of the project. A pause of the whole project is also in this log, for conversations that begin later. */
const projectLog = ({ project }: Address): LogKey => logOf({ kind: 'project', project });

const isPaused = (items: readonly Item[], now: number): boolean =>
  items.some((item) => item.notification.action === 'pause' && !isExpired(item, now));

function saying({ log, conversation, message, person, since, notified }: Lifted): string {
  const by = person === null ? '' : ` by person ${nameOf(person, 60)}`;
  return `${addressName(log, conversation ?? undefined)}  continues; the pause${by} of ${clock(since)} was lifted${notified || log.endsWith('/*') ? '' : ' (no record says that the agent saw this pause)'} ${BAR} ${plain(message, 200)}`;
}
