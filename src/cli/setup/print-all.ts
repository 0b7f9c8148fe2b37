/** `earpiece gateway --print <client> --all`: prints the line that puts one gateway in front of all servers of a client. */
import { EarpieceError } from '../../core/errors.ts';
import { readSettings, SETUPS, wrappingOf } from '../../hosts/setup/index.ts';
import { quote } from '../../hosts/setup/ours.ts';
import type { GlobalOptions } from '../context.ts';
import type { InstallText } from '../install.ts';
import type { InstallHost } from '../install-hosts.ts';
import { oursHere, placeHere, short } from './here.ts';

/**
 * Returns the line that puts one gateway in front of all servers of a client, and its explanation. Throws `bad_argument` if the
 * client has no place that keeps the values of the servers' environment, or has no server to wrap.
 */
export function textForAll(client: InstallHost, options: GlobalOptions): InstallText {
  const setup = SETUPS.find(({ name }) => name === client);
  const wraps = setup?.wraps;
  const able = SETUPS.flatMap((each) => (typeof each.wraps === 'function' ? [each.name] : [])).join(', ');
  if (setup === undefined || typeof wraps !== 'function')
    throw new EarpieceError(
      'bad_argument',
      `--all does not work for ${client}: ${typeof wraps === 'object' ? wraps.not : 'Earpiece does not write the settings of this client'}, so the environment values of its servers would be lost. ` +
        `--all works for ${able}. To wrap one server at a time: earpiece gateway --print ${client} -- <command of a server>`,
    );
  const place = placeHere('user');
  const ours = oursHere(options);
  const settings = wraps(place, ours);
  const { taken, left } = wrappingOf(readSettings(settings.file).text ?? '', settings);
  const names = Object.keys(taken);
  if (names.length === 0)
    throw new EarpieceError(
      'bad_argument',
      `${short(settings.file, place)} has no server that a gateway can wrap; to wrap one server: earpiece gateway --print ${client} -- <command of a server>`,
    );
  const earpiece = [
    ...(ours.fetched === undefined ? [ours.node, ours.entry] : ['npx', ...ours.fetched]),
    ...(ours.db === undefined ? [] : ['--db', ours.db]),
  ].map(quote);
  return {
    how: `Type this to put one gateway in front of ${names.join(', ')}. The environment values of these servers stay in ${short(settings.file, place)}:`,
    what: `${earpiece.join(' ')} install ${client} --wrap`,
    undo: `${earpiece.join(' ')} uninstall ${client}`,
    ...(Object.keys(left).length === 0
      ? {}
      : { warnings: Object.entries(left).map(([name, why]) => `${name} stays unchanged: ${why}`) }),
  };
}
