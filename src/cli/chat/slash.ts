/** Runs the commands of a chat that begin with a slash. */
import { didYouMean } from '../../core/errors.ts';
import { formatKind } from '../../core/notification.ts';
import { BAR, oneLine } from '../foreign.ts';
import { cut } from '../table.ts';
import { paint, plain } from '../terminal.ts';
import type { Details } from './details.ts';
import type { Driver } from './driver.ts';
import { pendingLine } from './lines.ts';
import { wrapAll } from './wrap.ts';

export const COMMANDS = {
  help: { args: '', says: 'list these commands' },
  show: { args: '<n>', says: 'show the whole text of a shortened part' },
  pending: { args: '', says: 'list the waiting notifications' },
  wake: { args: '', says: 'begin a turn with the waiting notifications' },
  dismiss: { args: '[n]', says: 'withdraw all waiting notifications, or only the n-th' },
  reply: { args: '<text>', says: 'add text to the running turn' },
  stop: { args: '', says: 'stop the running turn' },
  quit: { args: '', says: 'end the conversation; to continue later: earpiece chat --resume' },
} as const satisfies Record<string, { args: string; says: string }>;

export type Slash = { readonly driver: Driver; readonly details: Details; readonly width: number; readonly quit: () => void };

/**
 * Whether a line is a command. A message that begins with a slash is typed with two slashes: `//etc` sends "/etc". A path with a
 * second slash, such as `/etc/hosts`, is also a message.
 */
export const isCommand = (text: string): boolean => /^\/(?!\/)\S*/u.test(text) && !/^\/\S*\//u.test(text);

export const messageOf = (text: string): string => (text.startsWith('//') ? text.slice(1) : text);

/** Runs a slash command and returns the lines to show. Throws only for an error of the store, not for an invalid line. */
export async function slash(text: string, { driver, details, width, quit }: Slash): Promise<readonly string[]> {
  const [, name = '', argument = ''] = /^\/(\S*)\s*(.*)$/su.exec(text) ?? [];
  switch (name as keyof typeof COMMANDS) {
    case 'help':
      return [
        ...Object.entries(COMMANDS).map(
          ([command, { args, says }]) => `${paint('bold', `/${command} ${args}`.padEnd(14))} ${says}`,
        ),
        ...wrapAll(
          'Ctrl+C in a turn: stop, reply or continue. At an empty prompt, Ctrl+C or Ctrl+D ends the conversation. If a message begins with "/", type two slashes.',
          width,
        ),
      ];
    case 'show': {
      const n = argument === '' ? details.last : Number(argument);
      const detail = details.get(n);
      if (detail === undefined) return [`there is no ${plain(argument === '' ? 'shortened text' : argument, 40)} to show`];
      return [paint('dim', `${n} · ${plain(detail.title)}`), ...wrapAll(detail.text, width, `  ${BAR} `)];
    }
    case 'pending': {
      const open = await driver.open();
      if (open.length === 0) return ['nothing waits'];
      return open.map(({ notification, count }, i) =>
        pendingLine({ ...notification, count }, width, open.length > 1 ? `${i + 1}` : ''),
      );
    }
    case 'wake':
      if (driver.busy) return ['a turn is already running; that turn delivers the waiting notifications'];
      return (await driver.wake()) ? [] : ['nothing waits'];
    case 'dismiss': {
      const gone = await driver.dismiss(argument === '' ? undefined : Number(argument));
      return gone.length === 0
        ? [
            argument === ''
              ? 'nothing waits'
              : `no notification ${plain(argument, 40)} is waiting; /pending lists the waiting notifications`,
          ]
        : gone.map(({ notification, count }) =>
            cut(
              `withdrawn: ${oneLine({ ...notification, count }, notification.message, [formatKind(notification.kind)])}`,
              width,
            ),
          );
    }
    case 'reply':
      if (argument === '') return ['/reply needs a text'];
      driver.reply(argument);
      return [];
    case 'stop':
      if (!driver.busy) return ['no turn is running'];
      driver.stop();
      return [];
    case 'quit':
      quit();
      return [];
    default: {
      const near = didYouMean(name, Object.keys(COMMANDS));
      return [
        `there is no command /${plain(name, 40)}${near === undefined ? '' : `; did you mean /${near}?`} (/help lists the commands)`,
      ];
    }
  }
}
